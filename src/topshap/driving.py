"""The loop of a run: evaluate the coalitions that a race asks for, and tell it their values."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from topshap.core.errors import CostLimitError, RaceError, StoreWarning, warn_caller
from topshap.core.looks import Looks, RunEndedError
from topshap.evaluation.interrupts import deferred_interrupts
from topshap.evaluation.pace import FIRST_ROWS
from topshap.evaluation.store.store import UnwrittenError
from topshap.show.progress import view

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from topshap.core.looks import EarlyEnd
    from topshap.core.race import Race
    from topshap.evaluation import Oracle
    from topshap.evaluation.session import Session
    from topshap.show.progress import Progress
    from topshap.show.progress_view import ProgressView


def drive(race: Race, oracle: Oracle, *, progress: Progress, callback: Callable[[Race], object] | None) -> None:
    """Evaluate the coalitions that a race asks for, until it is over, or a time limit, the callback or Ctrl-C ends it.

    Large batches are evaluated in parts. If the run ends within a batch, the values that have arrived are used.
    """
    with (
        view(race, progress) as bar,
        oracle.run(race.n_players, race.player_names) as evaluate,
        deferred_interrupts() as undivided,
    ):
        looks = Looks(race, callback)
        watch(evaluate, race, looks, bar, undivided)
        if evaluate.divides:  # a look after every part is enough, and interrupts no running call
            evaluate.on_result = None
        ends = True
        try:
            while not race.done:
                pending = race.pending
                divided = len(pending) > evaluate.rows_per_look
                part = pending[: evaluate.rows_per_look] if divided else pending
                if ends or len(part) >= FIRST_ROWS:  # other small batches are not worth measuring
                    start = monotonic()
                    values = evaluate(part)
                    evaluate.took(len(part), monotonic() - start)
                else:
                    values = evaluate(part)
                # `on_result` may have told some values while the others were evaluated.
                told = 0 if evaluate.on_result is None else len(pending) - len(race.pending)
                with undivided:
                    race.tell_part(values, len(part) - told)
                if bar is not None:
                    bar.told()
                if evaluate.repeats and not ends:
                    evaluate.check_repeats(part[told:], values)
                ends = False
                if divided:
                    looks.within_batch()
                else:
                    looks.after_batch()
        except KeyboardInterrupt:
            with undivided:
                end(race, evaluate, "interrupted")
            raise
        except RunEndedError as ended:
            with undivided:
                end(race, evaluate, ended.reason)
        except UnwrittenError as error:
            with undivided:
                end_unwritten(race, evaluate, error)


async def adrive(
    race: Race,
    oracle: Oracle,
    *,
    concurrency: int,
    progress: Progress,
    callback: Callable[[Race], object] | None,
    admit: Callable[[int], Exception | None] | None = None,
    ends_if_cancelled: bool = False,
) -> None:
    """Evaluate the coalitions of an async game until its race is over; see `drive`.

    `admit` is `Session.admit`: it may refuse further calls, which ends the run once the calls in flight have finished.
    With `ends_if_cancelled`, a cancellation ends the race with the values that have arrived.
    """
    import asyncio  # noqa: PLC0415 - so that importing topshap stays fast

    from topshap.evaluation import async_evaluation  # noqa: PLC0415 - it needs asyncio

    with (
        view(race, progress) as bar,
        oracle.run(race.n_players, race.player_names) as session,
    ):
        looks = Looks(race, callback)
        watch(session, race, looks, bar, nullcontext())
        session.admit = admit
        try:
            while not race.done:
                values = await async_evaluation.evaluate(session, oracle.game, race.pending, concurrency)
                # In a thread, since an algorithm may compute for longer than an event loop should be blocked.
                coalitions, ends = race.pending, race.evaluations == 0
                await asyncio.to_thread(race.tell, values)
                if bar is not None:
                    bar.told()
                if session.repeats and not ends:
                    await async_evaluation.check_repeats(session, oracle.game, coalitions, values)
                looks.after_batch()
        except RunEndedError as ended:
            await asyncio.to_thread(end, race, session, ended.reason)
        except CostLimitError:
            await asyncio.to_thread(end, race, session, "cost")
        except UnwrittenError as error:
            await asyncio.to_thread(end_unwritten, race, session, error)
        except asyncio.CancelledError:
            if ends_if_cancelled:
                end(race, session, "interrupted")
            raise


def watch(
    session: Session,
    race: Race,
    looks: Looks,
    bar: ProgressView | None,
    undivided: AbstractContextManager[Any],
) -> None:
    """Make a session report values while it evaluates a batch: to the display, and to the race when a look is due."""

    def on_result() -> None:
        if looks.due:
            with undivided:
                race.tell_part(session.take_arrived())
            if bar is not None:
                bar.told()
            looks.within_batch()

    session.on_result = on_result
    if bar is not None:
        session.on_arrival = bar.arrived


def end(race: Race, session: Session, reason: EarlyEnd) -> None:
    """End a race with all values that have arrived; do nothing if it has not started."""
    arrived = session.take_arrived(whole=True)
    if len(arrived) > 0:
        race.tell_part(arrived)
    with suppress(RaceError):  # not started: v(empty) or v(N) is unknown
        race.end(reason)


def end_unwritten(race: Race, session: Session, error: UnwrittenError) -> None:
    """End a race whose store cannot be written, with all values that have arrived, and warn.

    The error is raised if the race has not started, since it has no result then.
    """
    unstored = session.unstored
    end(race, session, "interrupted")
    if not race.done:
        raise error
    warn_caller(
        f"{error} The run has ended early. Values of its result that are not in the store: {unstored}. "
        "Run it again when the store can be written.",
        StoreWarning,
    )
