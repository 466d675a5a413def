"""Problems of global importance: a model, a table and the true importance of its features.

The truth of mean magnitudes is exact, see `topshap_bench.tables.setups`. That of the loss is found by enumeration up to
11 features, otherwise by a long run of odd-gp on all rows, whose standard errors are part of the report.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from topshap.games import LossGame
from topshap.reference.exact import shapley_values
from topshap_bench.tables.setups import ENUMERATED, RECIPES, make

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from topshap.core.importance_result import ImportanceKind
    from topshap_bench.tables.setups import Rows, SetUp

TUNED = ("adult-xgb", "bike-mlp")
"""The set-ups that constants of `Explainer.importance` were chosen with."""
JUDGED = ("bank-lgb", "german-rf", "titanic-lgb", "diabetes-mlp")
"""The set-ups that it is judged by."""
BACKGROUND = 10
"""The largest number of background rows."""
LONG_RUN = 500
"""The number of coalitions of the long run."""


@dataclass(eq=False)
class Problem:
    """A question about a model, which counts its predictions."""

    setup: SetUp
    by: ImportanceKind
    predictions: int = field(default=0)
    """The number of rows predicted so far."""

    @property
    def classifies(self) -> bool:
        """Whether the target is a class, 0 or 1."""
        return RECIPES[self.setup.name].table not in ("diabetes", "bike")

    @property
    def n_players(self) -> int:
        """The number of features."""
        return self.setup.n_players

    def predict(self, rows: Rows) -> NDArray[np.float64]:
        """Return the output whose magnitudes are averaged, or the prediction that the loss is of."""
        self.predictions += len(rows)
        output = np.asarray(self.setup.predict(np.asarray(rows)), dtype=np.float64)
        if self.by == "mean_abs" or not self.classifies:
            return output
        margin = RECIPES[self.setup.name].model in ("xgb", "lgb")
        chance = 1.0 / (1.0 + np.exp(-output)) if margin else output
        return np.stack([1.0 - chance, chance], axis=1)

    @property
    def loss(self) -> Any:
        """The loss of the problem."""
        return "log-loss" if self.classifies else "mse"

    @cached_property
    def truth(self) -> NDArray[np.float64]:
        """The true importance of each feature."""
        return self._truth[0]

    @property
    def error_of_truth(self) -> float:
        """The largest standard error of the truth, 0 if it is exact."""
        return float(self._truth[1].max())

    @cached_property
    def _truth(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        n, setup = self.n_players, self.setup
        if self.by == "mean_abs":
            return np.abs(setup.truth(len(setup.X))).mean(axis=0), np.zeros(n)
        game = LossGame(self.predict, setup.X, setup.y, setup.background, loss=self.loss)
        if n <= ENUMERATED:
            return shapley_values(game), np.zeros(n)
        top = topshap.identify(game, k=5, budget=LONG_RUN, algorithm="odd-gp", random_state=0)
        return np.array(top.estimates), np.array(top.std_errors)

    @property
    def range(self) -> float:
        """The distance between the largest and the smallest true importance."""
        return float(np.ptp(self.truth))


def problem(name: str, by: ImportanceKind, folder: Path | None, rows: int) -> Problem:
    """Return the problem of a set-up with at most some number of rows."""
    setup = make(name, folder, rows=rows)
    return Problem(replace(setup, background=setup.background[:BACKGROUND]), by)
