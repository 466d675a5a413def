"""The CPU time of `PredictionsGame` besides the model: assembling masked rows, finding equal ones and averaging."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.games import PredictionsGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MODELS = ("xgboost", "lightgbm", "none")
"""The models: trees that predict the sign of a noisy function, or a function that returns the first column."""
_TRAINING_ROWS = 4000


@dataclass(frozen=True)
class Cost:
    """The CPU seconds of one evaluation of all coalitions for all rows."""

    model: str
    rows: int
    values: str
    own: float
    of_model: float
    predicted: int
    asked: int
    """The number of predictions if equal masked rows were not merged."""


@dataclass
class _Timed:
    """A model that measures its CPU time."""

    predict: Any
    seconds: float = 0.0
    predicted: int = 0

    def __call__(self, rows: NDArray[Any]) -> Any:
        start = time.process_time()
        answer = self.predict(rows)
        self.seconds += time.process_time() - start
        self.predicted += len(rows)
        return answer


def masked_rows(
    rows: Sequence[int] = (1, 10, 200, 2000),
    *,
    models: Sequence[str] = MODELS,
    features: int = 30,
    coalitions: int = 100,
    background: int = 100,
    dtype: str = "float64",
    random_state: int = 0,
) -> list[Cost]:
    """Measure tables of continuous and of rounded values with marginal imputation.

    Parameters
    ----------
    rows
        The numbers of rows that are explained at once.
    models
        Names of `MODELS`.
    features, coalitions, background
        The numbers of features, of random coalitions and of background rows.
    dtype
        The dtype of the table.
    random_state
        The seed of the table and the coalitions.
    """
    costs = []
    for name in models:
        for values in ("continuous", "rounded"):
            rng = np.random.default_rng(random_state)
            table = rng.normal(size=(max([*rows, _TRAINING_ROWS]) + background, features))
            table = (np.round(table) if values == "rounded" else table).astype(dtype)
            predict = _trained(name, table[:_TRAINING_ROWS], rng)
            drawn = rng.random((coalitions, features)) < 0.5
            costs += [_cost((name, values), predict, (table[:n], table[-background:]), drawn) for n in rows]
    return costs


def _cost(
    setting: tuple[str, str],
    predict: Any,
    tables: tuple[NDArray[Any], NDArray[Any]],
    coalitions: NDArray[np.bool_],
) -> Cost:
    (name, values), (X, background) = setting, tables
    timed = _Timed(predict)
    start = time.process_time()
    game = PredictionsGame(timed, X, background, imputer="marginal")
    game(coalitions)
    total = time.process_time() - start
    asked = len(X) * len(background) * len(coalitions)
    return Cost(name, len(X), values, total - timed.seconds, timed.seconds, timed.predicted, asked)


def _trained(name: str, X: NDArray[Any], rng: np.random.Generator) -> Any:
    if name == "none":
        return lambda rows: rows[:, 0]
    y = X[:, 0] * X[:, 1] + X[:, 2:6].sum(axis=1) + rng.normal(size=len(X)) > 0.0
    package = import_extra(name, extra=name, needed_by="this measurement")
    if name == "xgboost":
        model: Any = package.XGBClassifier(n_estimators=100, max_depth=4, n_jobs=1)
    else:
        model = package.LGBMClassifier(n_estimators=100, max_depth=4, n_jobs=1, verbose=-1)
    fitted = model.fit(X, y)
    return lambda rows: fitted.predict_proba(rows)[:, 1]


def report(costs: Sequence[Cost]) -> str:
    """Return a table of CPU times per explained row, and the largest memory of the process."""
    head = "model      values        rows  own ms/row  model ms/row  own share  own ns/prediction  predicted"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return "\n".join([head, *map(_line, costs), f"Largest memory of the process: {peak:.2f} GB."])


def _line(cost: Cost) -> str:
    return (
        f"{cost.model:10} {cost.values:11} {cost.rows:6d} {1e3 * cost.own / cost.rows:11.3f} "
        f"{1e3 * cost.of_model / cost.rows:13.3f} {cost.own / (cost.own + cost.of_model):10.1%} "
        f"{1e9 * cost.own / cost.predicted:18.0f} {cost.predicted / cost.asked:10.1%}"
    )
