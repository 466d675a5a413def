"""Evaluating async games: several calls at the same time, values in the order of the coalitions."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import AnswerShapeError
from topshap.core.validation import refuse
from topshap.core.values import put_values
from topshap.evaluation.batches import split_batch
from topshap.evaluation.call import wait_before_retry
from topshap.evaluation.pending_batch import PendingBatch, waits
from topshap.evaluation.repeats import rows_to_repeat, warn_if_different
from topshap.evaluation.results import BatchResult, Failure, split_valid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topshap.core.typing import Coalitions, Game, Players, Values
    from topshap.evaluation.call import CallPolicy
    from topshap.evaluation.session import Session

    AsyncCall = Callable[[Coalitions], Awaitable[Any]]
    Take = Callable[[Players, BatchResult], None]


async def evaluate(session: Session, game: Game, coalitions: Coalitions, concurrency: int) -> Values:
    """Return the value of each coalition, with at most `concurrency` calls at the same time.

    The error of a coalition without a value is raised after all others have been evaluated and stored. A cancellation
    cancels the calls and starts no others; the values that have arrived by then are stored. Values that
    `Session.take_arrived` has returned in the meantime are not returned again.
    """
    session.batch = batch = PendingBatch(session, coalitions)
    if len(batch.missing):
        try:
            await _complete(batch, game, session, concurrency)
        finally:
            batch.close()
    values = batch.values_or_raise()
    session.batch = None
    return values


async def check_repeats(session: Session, game: Game, coalitions: Coalitions, values: Values) -> None:
    """Evaluate a few of these coalitions a second time, and issue a warning if a value differs."""
    rows = rows_to_repeat(len(values))
    start = len(coalitions) - len(values)  # the values before were told in the meantime
    repeated, again = coalitions[start:][rows], np.full(len(rows), np.nan)

    def take(places: Players, result: BatchResult) -> None:
        nonlocal again
        again = put_values(again, places, result.values)

    await _evaluate(coroutine_of(game), repeated, np.arange(len(rows)), session.policy, take)
    session.repeats = False
    warn_if_different(repeated, values[rows], again, session.policy.player_names)


def coroutine_of(game: Any) -> AsyncCall:
    """Return a coroutine function of several coalitions for a game of several, or of one at a time.

    A game of one coalition at a time has a `batch_size` of 1 and a `function` of one coalition.
    """
    one_by_one = _is_one_by_one(game)

    async def call(coalitions: Coalitions) -> Any:
        if one_by_one:
            return [await _awaited(game.function(row.copy()), game) for row in coalitions]
        return await _awaited(game(coalitions.copy()), game)

    return call


def _is_one_by_one(game: Any) -> bool:
    return getattr(game, "batch_size", None) == 1 and hasattr(game, "function")


async def _awaited(answer: Any, game: Any) -> Any:
    if not inspect.isawaitable(answer):
        refuse("game", game, must_be="an async function; use identify for other games")
    return await answer


async def _complete(batch: PendingBatch, game: Game, session: Session, concurrency: int) -> None:
    """Make calls until every missing coalition has a result, or has got its value from another process."""
    rows = np.arange(len(batch.missing))
    while len(rows):
        await _gather(batch, rows, game, session, concurrency)
        rows = batch.deferred()
        for seconds in waits():
            if len(rows) == 0 or batch.is_one_free(rows):
                break
            await asyncio.sleep(seconds)
            rows = batch.unknown(rows)
            batch.look()


async def _gather(batch: PendingBatch, rows: Players, game: Game, session: Session, concurrency: int) -> None:
    """Make calls until these missing coalitions have a result, except for those that other processes evaluate.

    If `Session.admit` refuses a call, its exception is raised once the calls in flight have finished.
    """
    call, options = coroutine_of(game), session.options
    parts = iter(
        split_batch(
            len(rows),
            batch.missing.shape[1],
            workers=1,
            batch_size=1 if _is_one_by_one(game) else options.batch_size or 1,
            max_batch_bytes=options.max_batch_bytes,
        )
    )

    in_flight, refused = 0, None

    async def work() -> None:
        nonlocal in_flight, refused
        while not _is_cancelled():  # a call may finish in spite of a cancellation
            refused = None if session.admit is None else session.admit(in_flight)
            part = None if refused is not None else next(parts, None)  # each part goes to the next free task
            if part is None:
                break
            claimed = batch.claim(rows[part])
            if len(claimed):
                in_flight += 1
                await _evaluate(call, batch.missing, claimed, batch.policy(), batch.take)
                in_flight -= 1

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(rows))):
                group.create_task(work())
    except BaseExceptionGroup as several:  # not an error of the game: those are part of a result
        raise several.exceptions[0] from None
    if refused is not None and next(parts, None) is not None:
        raise refused


async def _evaluate(call: AsyncCall, coalitions: Coalitions, rows: Players, policy: CallPolicy, take: Take) -> None:
    """Evaluate some of the coalitions in one call with retries; if several fail together, evaluate each on its own.

    `take` is called with every result as soon as it is known, so that a cancellation loses none.
    """
    chosen = coalitions[rows]
    try:
        answer = await _with_retries(call, chosen, policy)
    except Exception as error:  # noqa: BLE001 - reported with the coalition to blame
        failed = error
    else:
        take(rows, split_valid(answer, chosen, policy.player_names, policy.n_outputs))
        return
    if len(rows) == 1 or isinstance(failed, AnswerShapeError):
        take(rows, BatchResult(np.full(len(rows), np.nan), [Failure(0, failed)]))
        return
    for i in range(len(rows)):
        await _evaluate(call, coalitions, rows[i : i + 1], policy, take)


async def _with_retries(call: AsyncCall, rows: Coalitions, policy: CallPolicy) -> Any:
    attempt = 1
    while True:
        try:
            return await _with_timeout(call, rows, policy.timeout)
        except Exception as error:
            if _is_cancelled():  # the game has raised its own error instead
                raise asyncio.CancelledError from error
            failed = error
        await asyncio.sleep(wait_before_retry(failed, attempt, policy.retries + 1, policy))
        attempt += 1


def _is_cancelled() -> bool:
    """Return whether the current task is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _with_timeout(call: AsyncCall, rows: Coalitions, seconds: float | None) -> Any:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call(rows)
    except TimeoutError as error:
        if limit.expired():
            raise TimeoutError(f"no answer within {seconds:g} s") from error
        raise
