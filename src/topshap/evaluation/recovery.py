"""Recovery from lost workers: missing batches are evaluated again, and coalitions that kill workers are found.

Every result that arrived is kept. After workers were lost, the missing batches go to new workers. If these are lost
too, the batches that may be to blame are evaluated alone and in smaller and smaller parts, until a single coalition is
found that kills its worker every time. No coalition is blamed for a cluster that is closed or has no workers. The
number of attempts is bounded.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.errors import EvaluationError, TopshapError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from topshap.evaluation.executors import Executor, Job
    from topshap.evaluation.results import BatchResult

    Batch = NDArray[np.intp]

logger = logging.getLogger("topshap")

PARTS = 64
"""A batch that lost its worker is split into at most this many parts."""
MAX_CRASHES = 30
"""After all workers were lost this many times, the rest is given up."""
MAX_KILLERS = 3
"""After this many coalitions that kill their workers, the rest is given up."""


class KillsWorker(NamedTuple):
    """A coalition that kills its worker every time, also when nothing else is evaluated."""

    row: int
    error: Exception


class ClusterError(EvaluationError):
    """The workers or the scheduler are gone, and no coalition is to blame."""


def gather(
    executor: Executor,
    job: Job,
    batches: Sequence[Batch],
    take: Callable[[Batch, BatchResult], None],
) -> list[KillsWorker]:
    """Evaluate all batches, pass each result to `take` as it arrives, and return the coalitions that kill workers.

    A coalition is returned only if its worker was lost while nothing else was evaluated. If workers are lost
    without such a coalition, a `ClusterError` says why.
    """
    recovery = _Recovery(executor, job, take, list(batches))
    try:
        while recovery.pending and len(recovery.killers) < MAX_KILLERS:
            recovery.run_pending()
    except ClusterError as error:
        if recovery.killers:
            return recovery.killers
        if not recovery.losses:
            raise
        reason = "A coalition may have killed them, but none was found that does so when it is evaluated alone."
        raise ClusterError(f"{error} Workers were lost before. {reason}") from error
    return recovery.killers


@dataclass
class _Recovery:
    """The state of `gather`."""

    executor: Executor
    job: Job
    take: Callable[[Batch, BatchResult], None]
    pending: list[Batch]
    killers: list[KillsWorker] = field(default_factory=list)
    crashes: int = 0
    losses: int = 0

    def run_pending(self) -> None:
        """Evaluate the pending batches once, and examine those that were lost."""
        one_by_one = self.executor.attempts_alone == 1
        lost, missing, error = _run(self.executor, self.job, self.pending, self.take, until_lost=one_by_one)
        self.losses += len(lost)
        if one_by_one and lost:
            # A batch that is lost here has cost several workers. Find the reason before others cost more of them.
            self.pending = missing
            self._examine([part for batch in lost for part in split_suspect(batch)])
            return
        self.pending = [part for batch in lost if len(batch) > 1 for part in split_suspect(batch)]
        suspects = [batch for batch in lost if len(batch) == 1]
        if error is not None:
            self.crashes += 1
            # The first crash may have an outside cause. After the second, suspect the batches that were running.
            running = 0 if self.crashes == 1 else 2 * self.executor.n_workers + 2
            suspects += missing[:running]
            self.pending += missing[running:]
        self._examine(suspects)
        if self.crashes > MAX_CRASHES and self.pending and not self.killers:
            raise ClusterError(
                f"Workers were lost {self.crashes} times, and no coalition was found whose evaluation alone loses its "
                f"worker. The last error: {error or 'the worker process was killed'}."
            )
        if self.crashes > MAX_CRASHES:
            self.pending = []

    def _examine(self, suspects: list[Batch]) -> None:
        """Evaluate each suspect alone, and those that kill their worker in parts."""
        while suspects and len(self.killers) < MAX_KILLERS:
            batch = suspects.pop(0)
            error = _run_alone(self.executor, self.job, batch, self.take)
            if error is None:
                continue
            self.crashes += 1
            if len(batch) > 1:
                suspects = [*split_suspect(batch), *suspects]
            else:
                self.killers.append(KillsWorker(int(batch[0]), error))


def split_suspect(batch: Batch) -> list[Batch]:
    """Return the parts of a batch of several coalitions.

    Examples
    --------
    >>> split_suspect(np.arange(3))
    [array([0]), array([1]), array([2])]
    """
    return np.array_split(batch, min(len(batch), PARTS))


def _run_alone(
    executor: Executor, job: Job, batch: Batch, take: Callable[[Batch, BatchResult], None]
) -> Exception | None:
    """Evaluate a batch while nothing else runs; return an exception if its worker was lost every time."""
    error: Exception | None = None
    for _ in range(executor.attempts_alone):
        lost, missing, error = _run(executor, job, [batch], take)
        if not lost and not missing:
            return None
    return error or RuntimeError("the worker process was killed")


def _run(
    executor: Executor,
    job: Job,
    batches: Sequence[Batch],
    take: Callable[[Batch, BatchResult], None],
    *,
    until_lost: bool = False,
) -> tuple[list[Batch], list[Batch], Exception | None]:
    """Evaluate batches once, or until one is lost if so requested.

    Return the batches that lost their worker, those missing at the end or after a crash, and the error of the crash.
    """
    lost: list[Batch] = []
    arrived: list[Batch] = []
    stream = executor.run(job, batches)
    try:
        while True:
            try:
                batch, result = next(stream)
            except StopIteration:
                return lost, [], None
            except TopshapError:
                raise
            except Exception as error:  # errors of the game are part of a result, so this is one of the workers
                if not executor.has_workers:
                    raise
                missing = _without(batches, arrived)
                logger.warning("workers were lost (%r); %d batches are evaluated again", error, len(missing))
                return lost, missing, error
            arrived.append(batch)
            if result is None:
                logger.warning("a worker was lost with %d coalitions; they are evaluated again", len(batch))
                lost.append(batch)
                if until_lost:
                    return lost, _without(batches, arrived), None
            else:
                take(batch, result)
    finally:
        stream.close()  # type: ignore[attr-defined]  # every executor's `run` is a generator


def _without(batches: Sequence[Batch], arrived: Sequence[Batch]) -> list[Batch]:
    """Return the batches of which no row has arrived; the other rows of a batch were not claimed."""
    rows = {row for batch in arrived for row in batch.tolist()}
    return [batch for batch in batches if rows.isdisjoint(batch.tolist())]
