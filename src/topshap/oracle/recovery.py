"""When workers die: what is missing is evaluated again, a bounded number of times, and who kills them is found.

Everything that came back is kept. What is missing after workers were lost goes to fresh ones. If they are lost again,
the batches that may be to blame are evaluated alone and in smaller and smaller parts, until it is a single coalition
that takes its worker with it every time.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.errors import TopshapError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from topshap.oracle.calls import Outcome
    from topshap.oracle.workers import Work, Workers

    Batch = NDArray[np.intp]

logger = logging.getLogger("topshap")

PARTS = 16
"""A batch that lost its worker is cut into so many parts."""
MOST_CRASHES = 30
"""How often all workers may be lost in one batch before it is given up."""
MOST_CONDEMNED = 3
"""After as many coalitions that kill their workers the rest is not tried any more."""


class Condemned(NamedTuple):
    """A coalition that takes its worker with it every time."""

    row: int
    error: Exception


def gather(
    workers: Workers,
    work: Work,
    batches: Sequence[Batch],
    take: Callable[[Batch, Outcome], None],
) -> list[Condemned]:
    """Evaluate all batches, give what comes back to `take` at once, and return the coalitions that kill workers."""
    crashes = 0
    condemned: list[Condemned] = []
    pending = list(batches)
    while pending and len(condemned) < MOST_CONDEMNED:
        lost, missing, error = _run(workers, work, pending, take)
        pending = []
        for batch in lost:
            if len(batch) > 1:
                pending += split(batch)
        suspects = [batch for batch in lost if len(batch) == 1]
        if error is not None:
            crashes += 1
            # One crash may have come from outside. At the second, the first batches are those that were at work.
            at_work = 0 if crashes == 1 else 2 * workers.count + 2
            suspects += missing[:at_work]
            pending += missing[at_work:]
        while suspects and len(condemned) < MOST_CONDEMNED:
            batch = suspects.pop(0)
            killed_by = _alone(workers, work, batch, take)
            if killed_by is None:
                continue
            crashes += 1
            if len(batch) > 1:
                suspects = [*split(batch), *suspects]
            else:
                condemned.append(Condemned(int(batch[0]), killed_by))
        pending += suspects
        if crashes > MOST_CRASHES and pending:
            condemned.append(Condemned(int(pending[0][0]), error or RuntimeError("workers were lost too often")))
            break
    return condemned


def split(batch: Batch) -> list[Batch]:
    """Return the parts of a batch of several coalitions.

    Examples
    --------
    >>> split(np.arange(3))
    [array([0]), array([1]), array([2])]
    """
    return np.array_split(batch, min(len(batch), PARTS))


def _alone(workers: Workers, work: Work, batch: Batch, take: Callable[[Batch, Outcome], None]) -> Exception | None:
    """Evaluate a batch with nothing else going on; return an exception if its worker was lost every time."""
    error: Exception | None = None
    for _ in range(workers.lives):
        lost, missing, error = _run(workers, work, [batch], take)
        if not lost and not missing:
            return None
    return error or RuntimeError("the worker process was killed")


def _run(
    workers: Workers, work: Work, batches: Sequence[Batch], take: Callable[[Batch, Outcome], None]
) -> tuple[list[Batch], list[Batch], Exception | None]:
    """Evaluate batches once; return those known to have lost their worker, those missing after a crash, and why."""
    lost: list[Batch] = []
    back: set[int] = set()
    stream = workers.run(work, batches)
    try:
        while True:
            try:
                batch, outcome = next(stream)
            except StopIteration:
                return lost, [], None
            except TopshapError:
                raise
            except Exception as error:  # noqa: BLE001 - faults of the game come back as outcomes, so this is one of the workers
                missing = [batch for batch in batches if int(batch[0]) not in back]
                logger.warning("workers were lost (%r); %d batches are evaluated again", error, len(missing))
                return lost, missing, error
            back.add(int(batch[0]))
            if outcome is None:
                logger.warning("a worker was lost with %d coalitions; they are evaluated again", len(batch))
                lost.append(batch)
            else:
                take(batch, outcome)
    finally:
        stream.close()  # type: ignore[attr-defined]  # all of them are generators
