"""Other packages as algorithms: shap and shapiq, with their accesses to v counted by topshap's own ledger.

A package is told a budget in its own way: some count every access, some do not count the empty coalition, some ask for
coalitions again that they have paid for. What is compared is what a user pays: distinct coalitions (or calls, where
those are counted). So the budget that a package is told is raised or lowered until it spends as much of the real one as
it can without exceeding it; the same seed is used each time, and only the last attempt counts.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.ledger import Ledger
from topshap.core.validation import refuse, resolve_n_players

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from topshap.core.ledger import Counting
    from topshap.core.typing import Coalitions, Game, Values

    Approximation = Callable[["CountedGame", int, int], Values]

_ATTEMPTS = 8
_CLOSE = 0.99
"""An attempt that spends this part of the budget is not tried to be bettered."""


class CountedGame:
    """A game that counts what it is asked for, calls and distinct coalitions, and pays for nothing twice.

    Examples
    --------
    >>> import topshap
    >>> game = CountedGame(topshap.games.AdditiveGame([1.0, 2.0]))
    >>> game(np.array([[True, False], [True, False], [True, True]]))
    array([1., 1., 3.])
    >>> game.ledger.calls, game.ledger.evaluations
    (3, 2)
    """

    def __init__(self, game: Game, counting: Counting = "distinct") -> None:
        self.game = game
        self.n_players = resolve_n_players(game, None)
        self.ledger = Ledger(self.n_players, counting=counting)

    def __call__(self, coalitions: Any, /) -> Values:
        """Return the values of the rows, which may be numbers instead of bools: 0 is out."""
        rows: Coalitions = np.atleast_2d(np.asarray(coalitions)).astype(np.bool_)
        bill = self.ledger.price(rows)
        return self.ledger.enter(bill, np.asarray(self.game(rows[bill.unpaid]), dtype=np.float64))


class Answer(NamedTuple):
    """What an external algorithm estimated, and what that took; no estimates if it cannot run with the budget."""

    estimates: Values | None
    evaluations: int
    calls: int


def available() -> list[str]:
    """Return the names of the external algorithms that the installed packages have.

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


def estimate(name: str, game: Game, *, budget: int, seed: int, counting: Counting = "distinct") -> Answer:
    """Run an external algorithm, with as much of the budget as it can spend.

    Parameters
    ----------
    name
        One of `EXTERNAL`.
    game
        A game with an attribute ``n_players``.
    budget
        What may be spent at most.
    seed
        The same seed gives the same estimates.
    counting
        Whether distinct coalitions are counted or calls.

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
    if name not in EXTERNAL:
        refuse("name", name, must_be=f"one of {', '.join(map(repr, EXTERNAL))}")
    best = Answer(None, 0, 0)
    told, too_much, spent_best = budget, None, 0
    for _ in range(_ATTEMPTS):
        counted = CountedGame(game, counting)
        estimates = one_run(name, counted, told, seed)
        spent = counted.ledger.spent
        if spent > budget:
            too_much = told
        elif estimates is not None and spent > spent_best:
            best, spent_best = Answer(estimates, counted.ledger.evaluations, counted.ledger.calls), spent
        else:
            break  # more was told, and no more was spent
        if spent_best >= _CLOSE * budget:
            break
        next_told = max(1, int(told * budget / spent)) if spent else told
        if too_much is not None:
            next_told = min(next_told, too_much - 1)
        if next_told == told:
            break
        told = next_told
    return best


def one_run(name: str, game: CountedGame, budget: int, seed: int) -> Values | None:
    """Run an external algorithm once, told this budget, and leave numpy's global random numbers as they were."""
    with _random_state_of_numpy(seed):
        return EXTERNAL[name](game, budget, seed)


def _kernel_of_shap(game: CountedGame, budget: int, _seed: int) -> Values | None:
    """Run shap's KernelExplainer: absent players are a background row of zeros; all players are kept."""
    shap = import_extra("shap", extra="shap", needed_by="shap:kernel")
    if budget < 3:
        return None
    explainer = shap.KernelExplainer(game, np.zeros((1, game.n_players)))
    values = explainer.shap_values(np.ones((1, game.n_players)), nsamples=budget - 2, l1_reg=False, silent=True)
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _permutations_of_shap(game: CountedGame, budget: int, seed: int) -> Values | None:
    """Run shap's PermutationExplainer: whole permutations there and back."""
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

    def run(game: CountedGame, budget: int, seed: int) -> Any:
        shapiq = import_extra("shapiq", extra="shapiq", needed_by=name)
        approximator = _class_of_shapiq(shapiq, name)
        if approximator is None:
            raise ImportError(f"{name} needs a version of shapiq that has it. Got {version_of(name)}.")
        if budget < 2:
            return None
        try:
            found = approximator(game.n_players, random_state=seed, **options).approximate(budget, game)
        except (ValueError, np.linalg.LinAlgError):  # what it says to a budget that is too small
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


def _class_of_shapiq(shapiq: Any, name: str) -> Any:
    """Return the class of an approximator, None if the installed version does not have it."""
    return getattr(shapiq.approximator, _CLASSES_OF_SHAPIQ[name], None)


EXTERNAL: Mapping[str, Callable[[CountedGame, int, int], Values | None]] = {
    "shap:kernel": _kernel_of_shap,
    "shap:permutation": _permutations_of_shap,
    **{name: _of_shapiq(name) for name in _CLASSES_OF_SHAPIQ},
}
"""Every external algorithm by name, the package before the colon: estimates from a game, a budget and a seed."""


@contextmanager
def _random_state_of_numpy(seed: int) -> Iterator[None]:
    """Seed numpy's global random numbers, which shap draws from, and put them back as they were afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - what other packages draw from
    np.random.seed(seed % 2**32)  # noqa: NPY002 - what other packages draw from
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say to their users is not said to ours
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002 - what other packages draw from
