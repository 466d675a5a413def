"""Algorithms of other packages, with their accesses to the game counted by topshap's ledger.

Packages define a budget differently: some count every access, some do not count the empty coalition, and some evaluate
coalitions repeatedly. The comparison uses the cost to the user: distinct coalitions, or calls with
``counting="calls"``. The budget passed to a package is therefore adjusted until the package spends as much of the real
budget as possible without exceeding it. All attempts use the same seed, and only the best one counts, also for the CPU
time.

A run that ends with an error or with estimates that are not finite has failed. Its message is part of the answer.
"""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.validation import check_choice, front_door
from topshap_bench.instrumented import CountedGame
from topshap_bench.rivals import RIVALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.ledger import Counting
    from topshap.core.typing import Game, Values
    from topshap_bench.rivals import SizedGame

_ATTEMPTS = 8
_CLOSE = 0.99
"""An attempt that spends this fraction of the budget is accepted."""


class Answer(NamedTuple):
    """The estimates of an external algorithm and their cost; `estimates` is None if the budget is too small."""

    estimates: Values | None
    evaluations: int
    calls: int
    failure: str = ""
    """The message of the error that ended the run, which then has no estimates."""
    seconds: float = 0.0
    """The CPU time of the attempt that counts, with its evaluations of the game."""


class RivalError(Exception):
    """An algorithm of another package has failed."""


def available(*, slow: bool = True) -> list[str]:
    """Return the names of the external algorithms in the installed packages.

    Parameters
    ----------
    slow
        Whether to include those that take seconds for a run.

    Examples
    --------
    >>> "shap:kernel" in available(), "shapiq:svarm" in available()
    (True, True)
    """
    return [name for name, rival in RIVALS.items() if (slow or not rival.is_slow) and _is_installed(name)]


def _is_installed(name: str) -> bool:
    """Return whether all packages of an external algorithm are installed, in versions that have it."""
    rival, package = RIVALS[name], name.partition(":")[0]
    if any(find_spec(module) is None for module in (package, *rival.needs)):
        return False
    if rival.of_shapiq is None:
        return True
    from shapiq import approximator  # noqa: PLC0415 - its import takes seconds

    return hasattr(approximator, rival.of_shapiq)


def version_of(name: str) -> str:
    """Return the package of an external algorithm with its version, for example ``"shapiq 1.4.1"``."""
    package = name.partition(":")[0]
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        raise ImportError(f"{name} needs the package {package}. Install topshap-bench[tables].") from None


@front_door
def estimate(name: str, game: Game, *, budget: int, seed: int, counting: Counting = "distinct") -> Answer:
    """Run an external algorithm so that it spends as much of the budget as possible.

    Parameters
    ----------
    name
        One of `topshap_bench.rivals.RIVALS`.
    game
        A game with an attribute ``n_players``.
    budget
        The maximum number of evaluations.
    seed
        The same seed gives the same estimates.
    counting
        Whether distinct coalitions or calls are counted.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> answer = estimate("shapiq:kernelshap", game, budget=12, seed=0)
    >>> answer.estimates.round(6) + 0.0
    array([3., 1., 2., 0.])
    >>> answer.evaluations <= 12
    True
    """
    check_choice("name", name, RIVALS)
    return spend(lambda counted, passed: one_run(name, counted, passed, seed), game, budget=budget, counting=counting)


def spend(
    run: Callable[[CountedGame, int], Values | None], game: Game, *, budget: int, counting: Counting = "distinct"
) -> Answer:
    """Return the answer of a function of a game and a budget that spends as much of the budget as possible.

    Parameters
    ----------
    run
        Returns the estimates for the budget that is passed to it, None if that is too small, or raises a `RivalError`.
    game, budget, counting
        See `estimate`.
    """
    best = Answer(None, 0, 0)
    passed, too_much, spent_best = budget, None, 0
    for _ in range(_ATTEMPTS):
        counted, start = CountedGame(game, counting), time.process_time()
        try:
            estimates = run(counted, passed)
        except RivalError as error:
            return best if best.estimates is not None else best._replace(failure=str(error))
        spent, seconds = counted.ledger.spent, time.process_time() - start
        if spent > budget:
            too_much = passed
        elif estimates is not None and spent > spent_best:
            ledger = counted.ledger
            best, spent_best = Answer(estimates, ledger.evaluations, ledger.calls, seconds=seconds), spent
        else:
            break  # a larger budget did not increase the spending
        if spent_best >= _CLOSE * budget:
            break
        next_passed = max(1, int(passed * budget / spent)) if spent else passed
        if too_much is not None:
            next_passed = min(next_passed, too_much - 1)
        if next_passed == passed:
            break
        passed = next_passed
    return best


def one_run(name: str, game: SizedGame, budget: int, seed: int) -> Values | None:
    """Run an external algorithm once with this budget, and restore numpy's global random state."""
    with random_state_of_numpy(seed):
        try:
            estimates = RIVALS[name].run(game, budget, seed)
        except (ImportError, TypeError, MemoryError):  # of the installation or of the call
            raise
        except Exception as error:
            raise RivalError(f"{type(error).__name__}: {error}") from error
    if estimates is not None and not np.isfinite(estimates).all():
        raise RivalError("The estimates are not finite.")
    return estimates


@contextmanager
def random_state_of_numpy(seed: int) -> Iterator[None]:
    """Seed numpy's global random state, which shap uses, and restore it afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - other packages use the global state
    np.random.seed(seed % 2**32)  # noqa: NPY002 - other packages use the global state
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of other packages
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002 - other packages use the global state
