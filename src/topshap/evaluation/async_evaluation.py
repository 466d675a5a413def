"""Evaluating games that are coroutines: many calls at a time, the order of the values restored."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import refuse
from topshap.evaluation.batches import cut
from topshap.evaluation.call import Fault, Outcome, retry_rules, sift
from topshap.games.per_coalition import PerCoalition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topshap.core.typing import Coalitions, Game, Values
    from topshap.evaluation.call import Care
    from topshap.evaluation.session import Asked, Session


async def evaluate(session: Session, game: Game, coalitions: Coalitions, concurrency: int) -> Values:
    """Return the values in the asked order; what has none is raised after everything else has been kept.

    At most `concurrency` calls are under way at a time. If it is cancelled, so are they, and what has arrived by then
    has been kept.
    """
    asked = session.begin(coalitions)
    if len(asked.missing):
        try:
            await _gather(asked, coroutine_of(game), session, concurrency)
        finally:
            asked.keep_all()
    return asked.values_or_raise()


def coroutine_of(game: Any) -> Callable[[Coalitions], Awaitable[Any]]:
    """Return a coroutine function of several coalitions, from a game of several or of one at a time."""
    one_by_one = isinstance(game, PerCoalition)

    async def call(coalitions: Coalitions) -> Any:
        if one_by_one:
            return [await _awaited(game.function(row.copy()), game) for row in coalitions]
        return await _awaited(game(coalitions.copy()), game)

    return call


async def _awaited(answer: Any, game: Any) -> Any:
    if not inspect.isawaitable(answer):
        refuse("game", game, must_be="an async function; for others there is identify")
    return await answer


async def _gather(
    asked: Asked, call: Callable[[Coalitions], Awaitable[Any]], session: Session, concurrency: int
) -> None:
    """Keep the calls going until all missing coalitions have been tried."""
    coalitions, options = asked.missing, session.options
    batches = iter(
        cut(
            *coalitions.shape,
            workers=1,
            batch_size=options.batch_size or 1,
            max_batch_bytes=options.max_batch_bytes,
        )
    )

    async def work() -> None:
        for batch in batches:  # shared: each batch goes to whoever is free
            asked.take(batch, await _outcome(call, coalitions[batch], asked.care()))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(coalitions))):
                group.create_task(work())
    except BaseExceptionGroup as several:  # no fault of the game: those are outcomes
        raise several.exceptions[0] from None


async def _outcome(call: Callable[[Coalitions], Awaitable[Any]], rows: Coalitions, care: Care) -> Outcome:
    """Evaluate coalitions in one call, with further attempts; of several that fail together, each on its own."""
    try:
        answer = await _attempts(call, rows, care)
    except Exception as error:  # noqa: BLE001 - reported with the coalition that is to blame
        if len(rows) == 1:
            return Outcome(np.array([np.nan]), [Fault(0, error)])
        singles = [await _outcome(call, rows[i : i + 1], care) for i in range(len(rows))]
        faults = [Fault(i, error) for i, single in enumerate(singles) for _, error in single.faults]
        return Outcome(np.concatenate([single.values for single in singles]), faults)
    return sift(answer, rows, care.player_names)


async def _attempts(call: Callable[[Coalitions], Awaitable[Any]], rows: Coalitions, care: Care) -> Any:
    async def once() -> Any:
        try:
            async with asyncio.timeout(care.timeout) as limit:
                return await call(rows)
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"no answer within {care.timeout:g} s") from error
            raise

    if care.retries == 0:
        return await once()
    tenacity = import_extra("tenacity", extra="workers", needed_by="A game with retries in aidentify")
    retrying = tenacity.AsyncRetrying(**retry_rules(care, care.retries + 1))
    return await retrying(once)
