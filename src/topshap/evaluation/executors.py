"""Where batches are evaluated: in this process, or in the workers of joblib's context."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topshap.core.extras import import_extra
from topshap.evaluation import clusters
from topshap.evaluation.bisection import evaluate
from topshap.evaluation.pickling import PickledGame, evaluate_in_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions
    from topshap.evaluation.call import CallPolicy
    from topshap.evaluation.results import BatchResult

GRACE_SECONDS = 30.0
"""Workers get this many seconds on top of the time limits of their calls before they count as stuck."""


class Job(NamedTuple):
    """Coalitions to evaluate, and how to call the game."""

    game: PickledGame
    coalitions: Coalitions
    policy: Callable[[], CallPolicy]
    """Returns the policy of the next batch."""
    claim: Callable[[NDArray[np.intp]], NDArray[np.intp]] = lambda rows: rows
    """Returns the rows of a batch that are still to be evaluated, when its turn comes."""
    ahead: bool = True
    """Whether a batch may be sent to a worker that has not returned the one before."""

    def claimed(self, batches: Sequence[NDArray[np.intp]]) -> Iterator[NDArray[np.intp]]:
        """Yield what is still to be evaluated of each batch."""
        return (rows for rows in map(self.claim, batches) if len(rows))

    def stall_limit(self, batches: Sequence[NDArray[np.intp]]) -> float | None:
        """Return the number of seconds without a result after which workers count as stuck, None for no limit."""
        seconds = self.policy().max_seconds(max(map(len, batches), default=0))
        return None if seconds is None else seconds + GRACE_SECONDS


class Executor(Protocol):
    """A place where batches are evaluated."""

    n_workers: int
    """The number of batches that are evaluated at the same time."""
    attempts_alone: int
    """The number of times that a batch may lose its worker, evaluated alone, before it is blamed."""

    @property
    def separate_processes(self) -> bool:
        """Whether the game has to be sent to other processes."""

    def run(
        self, job: Job, batches: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], BatchResult | None]]:
        """Yield each batch with its result as soon as it arrives; None for a batch whose worker was lost.

        Any exception means that workers were lost, together with all batches without a result.
        """


@dataclass
class InProcess:
    """The calling process, one batch after the other."""

    n_workers: int = field(default=1, init=False)
    attempts_alone: int = field(default=1, init=False)
    separate_processes: bool = field(default=False, init=False)

    def run(
        self, job: Job, batches: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], BatchResult | None]]:
        """Yield each batch with its result."""
        for batch in job.claimed(batches):
            yield batch, evaluate(job.game.game, job.coalitions[batch], job.policy())


@dataclass
class Joblib:
    """Processes or threads of joblib's active backend."""

    n_jobs: int | None
    backend: Any
    n_workers: int
    attempts_alone: int = field(default=2, init=False)

    @property
    def separate_processes(self) -> bool:
        """Whether the workers are processes."""
        return not getattr(self.backend, "supports_sharedmem", False)

    def run(
        self, job: Job, batches: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], BatchResult | None]]:
        """Yield each batch with its result as soon as it arrives."""
        joblib = import_extra("joblib", extra="workers", needed_by="n_jobs")
        streams = getattr(self.backend, "supports_return_generator", False)
        for some in [list(batches)] if streams else _waves(batches, self.n_workers):
            parallel = joblib.Parallel(
                n_jobs=self.n_jobs,
                return_as="generator_unordered" if streams else "list",
                batch_size=1,
                timeout=job.stall_limit(some),
                pre_dispatch="2 * n_jobs" if job.ahead else "n_jobs",
            )
            sent: dict[int, NDArray[np.intp]] = {}
            returned = parallel(
                joblib.delayed(_numbered)(i, job.game, job.coalitions[sent.setdefault(i, batch)], job.policy())
                for i, batch in enumerate(job.claimed(some))
            )
            if not streams:
                yield from ((sent[i], result) for i, result in returned)
                continue
            try:
                yield from ((sent[i], result) for i, result in returned)
            finally:
                with warnings.catch_warnings():  # joblib warns if a run is cancelled, for example by Ctrl-C
                    warnings.simplefilter("ignore")
                    returned.close()


def choose_executor(n_jobs: int | None) -> Executor:
    """Return the executor for `n_jobs` in joblib's current context."""
    if n_jobs in (None, 1) and "joblib" not in sys.modules:  # without joblib there is no context
        return InProcess()
    joblib = import_extra("joblib", extra="workers", needed_by="n_jobs")
    backend, _ = joblib.parallel.get_active_backend()
    n_workers = max(1, int(joblib.effective_n_jobs(n_jobs)))
    if (cluster := _cluster_of(backend)) is not None:
        return cluster(backend, n_workers)
    return InProcess() if n_workers == 1 else Joblib(n_jobs, backend, n_workers)


def _cluster_of(backend: Any) -> Callable[[Any, int], Executor] | None:
    """Return the executor for the backend of a cluster, None for other backends.

    Backends are recognised by the name of their class, since importing the classes would import dask or ray.
    """
    by_name: dict[str, Callable[[Any, int], Executor]] = {
        "DaskDistributedBackend": clusters.Dask,
        "RayBackend": clusters.Ray,
    }
    return by_name.get(type(backend).__name__)


def _numbered(i: int, game: PickledGame, coalitions: Coalitions, policy: CallPolicy) -> tuple[int, BatchResult]:
    return i, evaluate_in_worker(game, coalitions, policy)


def _waves(batches: Sequence[NDArray[np.intp]], size: int) -> Iterator[Sequence[NDArray[np.intp]]]:
    """Yield `size` batches at a time, for backends that return nothing before all batches are done."""
    for start in range(0, len(batches), size):
        yield batches[start : start + size]
