"""Independent tasks on the workers of joblib's context."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")


def in_order(f: Callable[[_Task], _Answer], tasks: Iterable[_Task], n_jobs: Any) -> Iterator[_Answer]:
    """Yield the result of `f` for each task, in the order of the tasks, computed by `n_jobs` workers.

    None means the number of joblib's context, and one worker outside of a context.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], n_jobs=None))
    [1, 2, 3]
    """
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):  # without joblib there is no context
        return map(f, tasks)
    joblib = import_extra("joblib", extra="sklearn", needed_by="n_jobs")
    answers: Iterator[_Answer] = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(f)(task) for task in tasks
    )
    return answers
