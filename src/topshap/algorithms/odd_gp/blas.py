"""Small matrices in one thread.

numpy and scipy each bring a BLAS with threads of its own, which wait for work by spinning. A computation that goes
back and forth between the two, as fits of small Gaussian processes do, makes them take the cores from each other: where
there are two, it takes several times as long as in one thread. So, where threadpoolctl is installed, BLAS has one
thread while an algorithm thinks about few coalitions. It has all of them again while these are evaluated, and where
there is so much to think about that threads help.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache, partial, wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.algorithm import Algorithm, Problem, Rounds
    from topshap.core.standing import Standing

    A = TypeVar("A", bound=Algorithm[Any])
    S = TypeVar("S", bound=Standing)

FEW_EVALUATIONS, FEW_PLAYERS = 3000, 200
"""Up to so many, one thread is quicker."""


_somebody_is_inside = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Give BLAS one thread; without threadpoolctl, nothing happens.

    The number of threads belongs to the whole process. If several threads of Python enter, it is the first of them that
    sets it and, when it leaves, restores it: the others may have more threads than they like for a while, but nobody is
    left with one.
    """
    controller = _controller()
    if controller is None or not _somebody_is_inside.acquire(blocking=False):
        yield
        return
    try:
        with controller.limit(limits=1, user_api="blas"):
            yield
    finally:
        _somebody_is_inside.release()


@cache
def _controller() -> Any:
    """Return what knows the BLAS libraries that are loaded: all that we use, once an algorithm runs."""
    try:
        from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return ThreadpoolController()


def thinking_in_one_thread(rounds: Callable[[A, Problem, S], Rounds]) -> Callable[[A, Problem, S], Rounds]:
    """Let the `rounds` of an algorithm think in one thread as long as there is little to think about."""

    @wraps(rounds)
    def thinking(self: A, problem: Problem, standing: S) -> Rounds:
        inner = rounds(self, problem, standing)
        go_on = partial(next, inner)
        while True:
            few = problem.spent <= FEW_EVALUATIONS and problem.n <= FEW_PLAYERS
            with one_thread() if few else nullcontext():
                try:
                    batch = go_on()
                except StopIteration:
                    return
            go_on = partial(inner.send, (yield batch))

    return thinking
