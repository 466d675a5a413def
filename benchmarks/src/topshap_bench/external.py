"""Algorithms of shap and shapiq, with their accesses to the game counted by topshap's ledger.

Packages define a budget differently: some count every access, some do not count the empty coalition, and some evaluate
coalitions repeatedly. The comparison uses the cost to the user: distinct coalitions, or calls with
``counting="calls"``. The budget passed to a package is therefore adjusted until the package spends as much of the real
budget as possible without exceeding it. All attempts use the same seed, and only the best one counts.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_choice, front_door
from topshap_bench.instrumented import CountedGame, TimedGame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from topshap.core.ledger import Counting
    from topshap.core.typing import Game, Values

    SizedGame = CountedGame | TimedGame
    Approximation = Callable[[SizedGame, int, int], Values | None]

_ATTEMPTS = 8
_CLOSE = 0.99
"""An attempt that spends this fraction of the budget is accepted."""


class Answer(NamedTuple):
    """The estimates of an external algorithm and their cost; `estimates` is None if the budget is too small."""

    estimates: Values | None
    evaluations: int
    calls: int


def available() -> list[str]:
    """Return the names of the external algorithms in the installed packages.

    Examples
    --------
    >>> "shap:kernel" in available(), "shapiq:svarm" in available()
    (True, True)
    """
    names = []
    for name, package in ((name, name.partition(":")[0]) for name in EXTERNAL):
        try:
            module = import_extra(package, extra=package, needed_by=name)
        except ImportError:
            continue
        if package != "shapiq" or _class_of_shapiq(module, name) is not None:
            names.append(name)
    return names


def version_of(name: str) -> str:
    """Return the package of an external algorithm with its version, for example ``"shapiq 1.4.1"``."""
    package = name.partition(":")[0]
    return f"{package} {version(package)}"


@front_door
def estimate(name: str, game: Game, *, budget: int, seed: int, counting: Counting = "distinct") -> Answer:
    """Run an external algorithm so that it spends as much of the budget as possible.

    Parameters
    ----------
    name
        One of `EXTERNAL`.
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
    check_choice("name", name, EXTERNAL)
    return spend(lambda counted, passed: one_run(name, counted, passed, seed), game, budget=budget, counting=counting)


def spend(
    run: Callable[[CountedGame, int], Values | None], game: Game, *, budget: int, counting: Counting = "distinct"
) -> Answer:
    """Return the answer of a function of a game and a budget that spends as much of the budget as possible.

    Parameters
    ----------
    run
        Returns the estimates for the budget that is passed to it, None if that is too small.
    game, budget, counting
        See `estimate`.
    """
    best = Answer(None, 0, 0)
    passed, too_much, spent_best = budget, None, 0
    for _ in range(_ATTEMPTS):
        counted = CountedGame(game, counting)
        estimates = run(counted, passed)
        spent = counted.ledger.spent
        if spent > budget:
            too_much = passed
        elif estimates is not None and spent > spent_best:
            best, spent_best = Answer(estimates, counted.ledger.evaluations, counted.ledger.calls), spent
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
        return EXTERNAL[name](game, budget, seed)


def _kernel_of_shap(game: SizedGame, budget: int, _seed: int) -> Values | None:
    """Run shap's KernelExplainer with a background row of zeros for absent players, without dropping features."""
    shap = import_extra("shap", extra="shap", needed_by="shap:kernel")
    if budget < 3:
        return None
    explainer = shap.KernelExplainer(game, np.zeros((1, game.n_players)))
    values = explainer.shap_values(np.ones((1, game.n_players)), nsamples=budget - 2, l1_reg=False, silent=True)
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _permutations_of_shap(game: SizedGame, budget: int, seed: int) -> Values | None:
    """Run shap's PermutationExplainer with complete permutations, forwards and backwards."""
    shap = import_extra("shap", extra="shap", needed_by="shap:permutation")
    n = game.n_players
    if budget < 2 * n + 1:
        return None
    masker = shap.maskers.Independent(np.zeros((1, n)))
    explainer = shap.PermutationExplainer(game, masker, seed=seed)
    found = explainer(np.ones((1, n)), max_evals=budget, silent=True)
    return np.asarray(found.values, dtype=np.float64).reshape(-1)


def _of_shapiq(name: str, **options: Any) -> Approximation:
    """Return a function that runs one of shapiq's approximators."""

    def run(game: SizedGame, budget: int, seed: int) -> Values | None:
        shapiq = import_extra("shapiq", extra="shapiq", needed_by=name)
        approximator = _class_of_shapiq(shapiq, name)
        if approximator is None:
            raise ImportError(f"{name} is not in {version_of(name)}. Install a newer version of shapiq.")
        if budget < 2:
            return None
        try:
            found = approximator(game.n_players, random_state=seed, **options).approximate(budget, game)
        except (ValueError, np.linalg.LinAlgError):  # raised for a budget that is too small
            return None
        values = np.array([found[(player,)] for player in range(game.n_players)], dtype=np.float64)
        return values if np.isfinite(values).all() else None

    return run


_CLASSES_OF_SHAPIQ = {
    "shapiq:kernelshap": "KernelSHAP",
    "shapiq:svarm": "SVARM",
    "shapiq:kadd-shap": "kADDSHAP",
    "shapiq:permutation": "PermutationSamplingSV",
    "shapiq:regression-msr": "RegressionMSR",
    "shapiq:proxyshap": "ProxySHAP",
    "shapiq:oddshap": "OddSHAP",
}


_OPTIONS_OF_SHAPIQ: dict[str, dict[str, Any]] = {
    "shapiq:regression-msr": {"index": "SV"},
    "shapiq:proxyshap": {"index": "SV", "max_order": 1},
}
"""Options of approximators that do not estimate Shapley values by default."""


def _class_of_shapiq(shapiq: Any, name: str) -> Any:
    """Return the class of an approximator, or None if the installed version does not have it."""
    return getattr(shapiq.approximator, _CLASSES_OF_SHAPIQ[name], None)


EXTERNAL: Mapping[str, Approximation] = {
    "shap:kernel": _kernel_of_shap,
    "shap:permutation": _permutations_of_shap,
    **{name: _of_shapiq(name, **_OPTIONS_OF_SHAPIQ.get(name, {})) for name in _CLASSES_OF_SHAPIQ},
}
"""External algorithms by name, with the package before the colon: functions of a game, a budget and a seed."""


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
