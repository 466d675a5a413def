"""When workers die: what is missing is evaluated again, a bounded number of times, and who kills them is found.

Everything that came back is kept. What is missing after workers were lost goes to fresh ones. If they are lost again,
the batches that may be to blame are evaluated alone and in smaller and smaller parts, until it is a single coalition
that takes its worker with it every time.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.errors import TopshapError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from topshap.evaluation.call import Outcome
    from topshap.evaluation.executors import Work, Workers

    Batch = NDArray[np.intp]

logger = logging.getLogger("topshap")

PARTS = 64
"""A batch that lost its worker is cut into so many parts."""
MOST_CRASHES = 30
"""How often all workers may be lost in one batch before it is given up."""
MOST_CONDEMNED = 3
"""After as many coalitions that kill their workers the rest is not tried any more."""


class Condemned(NamedTuple):
    """A coalition that takes its worker with it every time."""

    row: int
    error: Exception


class NoWorkersLeftError(RuntimeError):
    """All workers are gone and no others come: there is nobody to try again."""


def gather(
    workers: Workers,
    work: Work,
    batches: Sequence[Batch],
    take: Callable[[Batch, Outcome], None],
) -> list[Condemned]:
    """Evaluate all batches, give what comes back to `take` at once, and return the coalitions that kill workers."""
    gathering = _Gathering(workers, work, take, list(batches))
    while gathering.pending and not gathering.hopeless:
        gathering.go()
    return gathering.condemned


@dataclass
class _Gathering:
    """The state of `gather`."""

    workers: Workers
    work: Work
    take: Callable[[Batch, Outcome], None]
    pending: list[Batch]
    condemned: list[Condemned] = field(default_factory=list)
    crashes: int = 0

    @property
    def hopeless(self) -> bool:
        """Whether to give up what is still pending."""
        gone = any(isinstance(error, NoWorkersLeftError) for _, error in self.condemned)
        return gone or len(self.condemned) >= MOST_CONDEMNED

    def go(self) -> None:
        """Evaluate all that is pending, and find out more about what was lost."""
        lost, missing, error = _run(self.workers, self.work, self.pending, self.take)
        self.pending = [part for batch in lost if len(batch) > 1 for part in split(batch)]
        suspects = [batch for batch in lost if len(batch) == 1]
        if isinstance(error, NoWorkersLeftError):
            self._condemn([*suspects, *missing][0], error)
        elif error is not None:
            self.crashes += 1
            # One crash may have come from outside. At the second, the first batches are those that were at work.
            at_work = 0 if self.crashes == 1 else 2 * self.workers.count + 2
            suspects += missing[:at_work]
            self.pending += missing[at_work:]
        elif self.workers.lives == 1 and len(suspects) == len(lost) == 1:
            # Had another been to blame it would have been lost as well.
            self._condemn(suspects.pop(), RuntimeError("the worker process was killed"))
        self._examine(suspects)
        if self.crashes > MOST_CRASHES and self.pending:
            self._condemn(self.pending.pop(), error or RuntimeError("workers were lost too often"))
            self.pending = []

    def _examine(self, suspects: list[Batch]) -> None:
        """Evaluate one suspect after the other alone, and those that kill their worker in parts."""
        while suspects and not self.hopeless:
            batch = suspects.pop(0)
            killed_by = _alone(self.workers, self.work, batch, self.take)
            if killed_by is None:
                continue
            self.crashes += 1
            if len(batch) > 1 and not isinstance(killed_by, NoWorkersLeftError):
                suspects = [*split(batch), *suspects]
            else:
                self._condemn(batch, killed_by)

    def _condemn(self, batch: Batch, error: Exception) -> None:
        self.condemned.append(Condemned(int(batch[0]), error))


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
