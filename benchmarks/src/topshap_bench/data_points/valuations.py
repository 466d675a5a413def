"""Values of training points by topshap and by others, with the same number of retrainings.

pyDVL 0.10 requires numpy 1, although it runs with numpy 2. ``pip install --no-deps pydvl`` and the extra
``topshap-bench[points]``, its other requirements, install it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Values
    from topshap.games import DataGame
    from topshap_bench.data_points.tasks import Task


class Counted:
    """A game that counts its retrainings, and knows coalitions as the positions of their points."""

    def __init__(self, game: DataGame, budget: int) -> None:
        self.game, self.budget, self.retrainings = game, budget, 0
        self.empty = float(game(np.zeros((1, game.n_players), dtype=np.bool_))[0])

    @property
    def spent(self) -> bool:
        """Whether the budget is spent."""
        return self.retrainings >= self.budget

    def of_points(self, points: Any) -> float:
        """Return the value of a set of points."""
        if len(points) == 0:
            return self.empty
        self.retrainings += 1
        coalition = np.zeros((1, self.game.n_players), dtype=np.bool_)
        coalition[0, points] = True
        return float(self.game(coalition)[0])


def topshap_values(task: Task, budget: int, seed: int, *, algorithm: str = "auto") -> Values:
    """Return the estimates of topshap, with a nearest-neighbour prior and features if the algorithm uses them."""
    options: dict[str, Any] = {"algorithm": algorithm, "rank_by": "lowest", "random_state": seed}
    return topshap.identify(task.game, k=len(task.wrong), budget=budget, **options).estimates


def uninformed(task: Task, budget: int, seed: int) -> Values:
    """Return the estimates of player-gp without side information."""
    game = topshap.Oracle(lambda coalitions: task.game(coalitions))  # noqa: PLW0108 - a function has no attributes
    options: dict[str, Any] = {"algorithm": "player-gp", "rank_by": "lowest", "random_state": seed}
    return topshap.identify(game, task.game.n_players, k=len(task.wrong), budget=budget, **options).estimates


def reference(task: Task, budget: int) -> Values:
    """Return independent estimates of the Shapley values, without side information."""
    return uninformed(task, budget, seed=2**31)


def nearest_neighbours(task: Task, budget: int, seed: int) -> Values:  # noqa: ARG001 - it trains no model
    """Return exact KNN-Shapley values."""
    values: Values = task.game.prior
    return values


def at_random(task: Task, budget: int, seed: int) -> Values:  # noqa: ARG001 - it trains no model
    """Return random numbers."""
    return np.random.default_rng(seed).random(task.game.n_players)


def tmc(task: Task, budget: int, seed: int) -> Values:
    """Return pyDVL's truncated Monte Carlo Shapley values, with its default truncation; cut off at the budget."""
    dvl = _pydvl()
    counted = Counted(task.game, budget)

    class CutOff(dvl.RelativeTruncation):  # type: ignore[name-defined,misc]  # imported where used
        """The default truncation, which also ends a permutation when the budget is spent."""

        def _check(self, idx: Any, score: float, batch_size: int) -> bool:
            return counted.spent or bool(super()._check(idx, score, batch_size))

    truncation = CutOff(rtol=0.01, burn_in_fraction=0.4)
    return _fit(
        task, counted, lambda utility, done: dvl.TMCShapleyValuation(utility, truncation, is_done=done, seed=seed)
    )


def banzhaf(task: Task, budget: int, seed: int) -> Values:
    """Return Banzhaf values with maximum sample reuse, from the samples of pyDVL's `MSRSampler`.

    These are the values of pyDVL's `MSRBanzhafValuation`, see `banzhaf_by_pydvl`, which takes 0.2 ms per point and
    sample to update them.
    """
    sampler = _pydvl().MSRSampler(seed=seed)
    batches = sampler.generate_batches(np.arange(task.game.n_players))
    drawn = [sample.subset for _, batch in zip(range(budget), batches, strict=False) for sample in batch]
    inside = np.zeros((len(drawn), task.game.n_players), dtype=np.bool_)
    for row, points in zip(inside, drawn, strict=True):
        row[points] = True
    values, counts = task.game(inside), inside.sum(axis=0)
    with_point, total = values @ inside, values.sum()
    means = with_point / np.maximum(counts, 1), (total - with_point) / np.maximum(len(drawn) - counts, 1)
    return np.asarray(means[0] - means[1])


def banzhaf_by_pydvl(task: Task, budget: int, seed: int) -> Values:
    """Return the same values by pyDVL alone."""
    dvl = _pydvl()
    counted = Counted(task.game, budget)
    return _fit(task, counted, lambda utility, done: dvl.MSRBanzhafValuation(utility, is_done=done, seed=seed))


VALUATIONS: dict[str, Callable[[Task, int, int], Values]] = {
    "topshap auto": topshap_values,
    "player-gp, no prior": uninformed,
    "pyDVL TMC": tmc,
    "pyDVL Banzhaf": banzhaf,
    "KNN-Shapley": nearest_neighbours,
    "random": at_random,
}
"""All valuations: functions of a task, a budget and a seed."""


def _fit(task: Task, counted: Counted, make: Callable[[Any, Any], Any]) -> Values:
    """Return the values of a valuation of pyDVL on topshap's game."""
    dvl, base = _pydvl(), import_extra("pydvl.valuation.utility.base", extra="points", needed_by="data-points")

    class Utility(base.UtilityBase):  # type: ignore[name-defined,misc]  # imported where used
        """The game as a utility."""

        def __call__(self, sample: Any) -> float:
            return counted.of_points([] if sample is None else sample.subset)

    class BudgetSpent(dvl.StoppingCriterion):  # type: ignore[name-defined,misc]  # imported where used
        """Stops when the budget is spent."""

        def _check(self, result: Any) -> Any:  # noqa: ARG002 - the interface of pyDVL
            return dvl.Status.Converged if counted.spent else dvl.Status.Pending

        def completion(self) -> float:
            return min(1.0, counted.retrainings / counted.budget)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make(Utility(), BudgetSpent()).fit(dvl.Dataset(task.X, task.y))
    result = fitted.result
    values = np.empty(task.game.n_players)
    values[result.indices] = np.nan_to_num(result.values)
    return values


def _pydvl() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_extra("pydvl.valuation", extra="points", needed_by="data-points")
