"""Where batches are evaluated: in this process, or in the workers of joblib's context."""

from __future__ import annotations

import logging
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topshap.core.extras import import_extra
from topshap.evaluation import clusters
from topshap.evaluation.call import evaluate
from topshap.evaluation.pickling import Shipped, evaluate_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions
    from topshap.evaluation.call import Care, Outcome

logger = logging.getLogger("topshap")

GRACE = 30.0
"""Workers get this many seconds more than calls may take before they are given up as stuck."""


class Work(NamedTuple):
    """Coalitions to evaluate, and how."""

    shipped: Shipped
    coalitions: Coalitions
    care: Callable[[], Care]
    """How a game is to be called from now on."""

    def patience(self, batches: Sequence[NDArray[np.intp]]) -> float | None:
        """Return how many seconds may pass without any batch coming back, None for any number."""
        longest = self.care().longest(max(map(len, batches), default=0))
        return None if longest is None else longest + GRACE


class Workers(Protocol):
    """Where batches are evaluated."""

    count: int
    """How many batches are evaluated at a time."""
    lives: int
    """How often a batch may take its worker with it, all alone, before it is to blame."""

    @property
    def elsewhere(self) -> bool:
        """Whether the game has to be sent to other processes."""

    def run(self, work: Work, batches: Sequence[NDArray[np.intp]]) -> Iterator[tuple[NDArray[np.intp], Outcome | None]]:
        """Yield batches with what came of them, as they come back; None with one whose worker was lost.

        Any exception means that workers were lost, and with them the batches that have not come back.
        """


@dataclass
class InProcess:
    """The calling process, one batch after the other."""

    count: int = field(default=1, init=False)
    lives: int = field(default=1, init=False)
    elsewhere: bool = field(default=False, init=False)

    def run(self, work: Work, batches: Sequence[NDArray[np.intp]]) -> Iterator[tuple[NDArray[np.intp], Outcome | None]]:
        """Yield batches with what came of them."""
        for batch in batches:
            yield batch, evaluate(work.shipped.game, work.coalitions[batch], work.care())


@dataclass
class Joblib:
    """Processes or threads of joblib's active backend."""

    n_jobs: int | None
    backend: Any
    count: int
    lives: int = field(default=2, init=False)

    @property
    def elsewhere(self) -> bool:
        """Whether the workers are processes."""
        return not getattr(self.backend, "supports_sharedmem", False)

    def run(self, work: Work, batches: Sequence[NDArray[np.intp]]) -> Iterator[tuple[NDArray[np.intp], Outcome | None]]:
        """Yield batches with what came of them, as they come back."""
        joblib = import_extra("joblib", extra="workers", needed_by="n_jobs")
        streams = getattr(self.backend, "supports_return_generator", False)
        for some in [list(batches)] if streams else _waves(batches, self.count):
            parallel = joblib.Parallel(
                n_jobs=self.n_jobs,
                return_as="generator_unordered" if streams else "list",
                batch_size=1,
                timeout=work.patience(some),
            )
            returned = parallel(
                joblib.delayed(_numbered)(i, work.shipped, work.coalitions[batch], work.care())
                for i, batch in enumerate(some)
            )
            if not streams:
                yield from ((some[i], outcome) for i, outcome in returned)
                continue
            try:
                yield from ((some[i], outcome) for i, outcome in returned)
            finally:
                with warnings.catch_warnings():  # joblib warns when a run is broken off, as by Ctrl-C
                    warnings.simplefilter("ignore")
                    returned.close()


def choose(n_jobs: int | None) -> Workers:
    """Return where to evaluate: as `n_jobs` and joblib's context say."""
    if n_jobs in (None, 1) and "joblib" not in sys.modules:  # so there can be no context
        return InProcess()
    joblib = import_extra("joblib", extra="workers", needed_by="n_jobs")
    backend, _ = joblib.parallel.get_active_backend()
    kind = type(backend).__name__
    count = max(1, int(joblib.effective_n_jobs(n_jobs)))
    if kind == "DaskDistributedBackend":
        return clusters.Dask(backend, count)
    if kind == "RayBackend":
        return clusters.Ray(backend, count)
    if count == 1:
        return InProcess()
    return Joblib(n_jobs, backend, count)


def _numbered(i: int, shipped: Shipped, coalitions: Coalitions, care: Care) -> tuple[int, Outcome]:
    return i, evaluate_there(shipped, coalitions, care)


def _waves(batches: Sequence[NDArray[np.intp]], size: int) -> Iterator[Sequence[NDArray[np.intp]]]:
    """Yield so many batches at a time, where a backend gives nothing back before all are done."""
    for start in range(0, len(batches), size):
        yield batches[start : start + size]
