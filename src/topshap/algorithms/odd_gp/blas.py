"""One BLAS thread for the linear algebra of small problems.

numpy and scipy each come with a BLAS library that has its own threads, and idle threads wait by spinning. A computation
that alternates between the two libraries, such as the fit of a small Gaussian process, makes them compete for the
cores: on two cores, a race of 1000 evaluations took eight times as long as with one thread. So BLAS uses one thread
while an algorithm computes and the problem is small. All threads are available while the game is evaluated, and for
problems that are large enough to benefit from them.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache, partial, wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from topshap.core.algorithm import Algorithm, Problem, Rounds
    from topshap.core.standing import Standing
    from topshap.core.typing import Values

    A = TypeVar("A", bound=Algorithm[Any])
    S = TypeVar("S", bound=Standing)

MAX_EVALUATIONS, MAX_PLAYERS = 3000, 200
"""Problems up to this size are computed with one thread."""

_limit_in_use = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread.

    The number of threads is a property of the process. If several Python threads enter, the first one sets the limit
    and restores the previous number when it leaves. The others may run with more threads for a while, but the limit
    never outlives the thread that set it.
    """
    if not _limit_in_use.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limit_in_use.release()


@cache
def _controller() -> Any:
    """Return the controller of the BLAS libraries loaded so far.

    numpy's and scipy's are loaded by the time an algorithm runs.
    """
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - imported late to keep `import topshap` quick

    return ThreadpoolController()


def single_threaded_blas(rounds: Callable[[A, Problem, S], Rounds]) -> Callable[[A, Problem, S], Rounds]:
    """Decorate `Algorithm.rounds`: use one BLAS thread to choose rounds and to add their values, on small problems."""

    @wraps(rounds)
    def limited(self: A, problem: Problem, standing: S) -> Rounds:
        inner = rounds(self, problem, standing)
        while True:
            with _limit_for(problem):
                following = next(inner, None)
            if following is None:
                return
            yield following._replace(add=partial(_add, problem, following.add))

    return limited


def _add(problem: Problem, add: Callable[[Values], object], values: Values) -> None:
    with _limit_for(problem):
        add(values)


def _limit_for(problem: Problem) -> AbstractContextManager[None]:
    small = problem.spent <= MAX_EVALUATIONS and problem.n <= MAX_PLAYERS
    return one_thread() if small else nullcontext()
