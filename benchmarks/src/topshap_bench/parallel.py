"""Independent tasks in several processes, with one thread each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from joblib import Parallel, delayed
from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

_Task = TypeVar("_Task")
_Key = TypeVar("_Key", bound="Hashable")
_Answer = TypeVar("_Answer")


def one_thread() -> None:
    """Limit the linear algebra of all worker processes started later to one thread.

    Workers read these variables when they import numpy. Several threads that compete for the same cores are slower than
    one.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def in_order(f: Callable[[_Task], _Answer], tasks: Iterable[_Task], n_jobs: int | None) -> Iterator[_Answer]:
    """Yield the results of `f` in the order of the tasks, computed by `n_jobs` workers.

    With None, joblib's context determines the number of workers, which is 1 by default.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], n_jobs=None))
    [1, 2, 3]
    """
    if n_jobs == 1:
        return map(f, tasks)
    answers: Iterator[_Answer] = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(f)(task) for task in tasks)
    return answers


def run_all(f: Callable[[_Key], _Answer], tasks: Sequence[_Key], n_jobs: int | None) -> dict[_Key, _Answer]:
    """Return the result of every task, computed by `n_jobs` workers, and show a progress bar.

    Examples
    --------
    >>> run_all(abs, [-1, 2], n_jobs=1)
    {-1: 1, 2: 2}
    """
    one_thread()
    answers = tqdm(in_order(f, tasks, n_jobs), total=len(tasks), unit="task", disable=None)
    return dict(zip(tasks, answers, strict=True))
