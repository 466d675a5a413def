"""TopKSelector, SelectKBest and RFE with equal k on real data: the score of a model trained on the selected features.

Every selector gets only the training half of a split. The model is trained on the selected columns of that half and
scored on the other (accuracy or R^2). The report shows means over the splits, the gain over the best rival with its
standard error over the splits, and the number of combinations of data, model and k in which TopKSelector is ahead.
Columns that are not numeric are converted to ordinal codes, and missing values are replaced by the median of the
training half.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pandas.api.types import is_numeric_dtype
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from topshap import TopKSelector
from topshap_bench.datasets import load_dataset
from topshap_bench.parallel import run_all
from topshap_bench.summary import as_text, mean_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

DATA = ("breast-cancer", "wine", "diabetes", "german-credit", "titanic")
MODELS = {
    "classification": {"linear": RidgeClassifier(), "tree": DecisionTreeClassifier(max_depth=5)},
    "regression": {"linear": Ridge(), "tree": DecisionTreeRegressor(max_depth=5)},
}
PER_FEATURE = 20
"""The budget of TopKSelector per feature."""
OURS = "TopKSelector"
SELECTORS = (OURS, "SelectKBest (F)", "SelectKBest (MI)", "RFE")


class Run(NamedTuple):
    """One split of one dataset, for one model and one k."""

    data: str
    model: str
    k: int
    seed: int


class Table(NamedTuple):
    """A dataset as numbers, its target and the task."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    task: str


def selection(
    *,
    data: Sequence[str] = DATA,
    folder: Path | None = None,
    splits: int = 10,
    ks: Sequence[int] = (3, 5),
    n_jobs: int | None = -1,
) -> str:
    """Compare the selectors on several datasets, and return the report.

    Parameters
    ----------
    data
        ``"breast-cancer"`` or names in `topshap_bench.datasets.NAMES`.
    folder
        The folder with the datasets, instead of OpenML.
    splits
        The number of splits of each dataset.
    ks
        The numbers of features to select.
    n_jobs
        The number of workers.
    """
    tables = {name: load(name, folder) for name in data}
    runs = [Run(*each) for each in product(data, ("linear", "tree"), ks, range(splits))]
    return report(run_all(partial(scores_of, tables=tables), runs, n_jobs), splits)


def load(name: str, folder: Path | None) -> Table:
    """Load a dataset as numbers."""
    if name == "breast-cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return Table(X, y, "classification")
    frame, target, task = load_dataset(name, folder=folder)
    y = np.asarray(target, dtype=np.float64) if task == "regression" else np.unique(target, return_inverse=True)[1]
    return Table(np.column_stack([_as_numbers(frame[column]) for column in frame.columns]), y, task)


def _as_numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Convert a column to floats; values that are not numbers become their positions in sorted order."""
    if not is_numeric_dtype(column):
        column = column.astype(object).astype("category").cat.codes.where(column.notna())
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def selector(name: str, run: Run, task: str, model: Any, n_features: int) -> Any:
    """Return a selector of k columns."""
    k, seed = run.k, run.seed
    if name == OURS:
        return TopKSelector(model, k=k, cv=3, budget=PER_FEATURE * n_features, random_state=seed)
    if name == "RFE":
        return RFE(model, n_features_to_select=k)
    if name == "SelectKBest (F)":
        return SelectKBest(f_classif if task == "classification" else f_regression, k=k)
    by_information = mutual_info_classif if task == "classification" else mutual_info_regression
    return SelectKBest(lambda X, y: by_information(X, y, random_state=seed), k=k)


def scores_of(run: Run, tables: Mapping[str, Table]) -> dict[str, float]:
    """Return the test score of a model on the columns of each selector, and the seconds of each selection."""
    X, y, task = tables[run.data]
    stratify = y if task == "classification" else None
    split = train_test_split(X, y, test_size=0.5, random_state=run.seed, stratify=stratify)
    X_train, X_test, y_train, y_test = split
    prepare = make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit(X_train)
    X_train, X_test = prepare.transform(X_train), prepare.transform(X_test)
    model = MODELS[task][run.model]
    if "random_state" in model.get_params():
        model.set_params(random_state=run.seed)
    found = {}
    for name in SELECTORS:
        start = time.perf_counter()
        columns = selector(name, run, task, model, X.shape[1]).fit(X_train, y_train).get_support()
        found[f"{name}, seconds"] = time.perf_counter() - start
        found[name] = model.fit(X_train[:, columns], y_train).score(X_test[:, columns], y_test)
    return found


def report(found: Mapping[Run, Mapping[str, float]], splits: int) -> str:
    """Return a table with a line for each combination of data, model and k, and how often TopKSelector is ahead."""
    rivals = SELECTORS[1:]
    ahead = dict.fromkeys(rivals, 0)
    lines = []
    combinations = list(dict.fromkeys((run.data, run.model, run.k) for run in found))
    for data, model, k in combinations:
        scores = {name: np.array([found[Run(data, model, k, s)][name] for s in range(splits)]) for name in SELECTORS}
        for rival in rivals:
            ahead[rival] += int(scores[OURS].mean() > scores[rival].mean())
        best = max(rivals, key=lambda name: scores[name].mean())
        gain = mean_of(scores[OURS] - scores[best])
        means = [f"{scores[name].mean():.3f}" for name in SELECTORS]
        lines.append([data, model, k, *means, f"{gain.mean:+.3f} ± {gain.error:.3f} ({best})"])
    counts = [
        f"TopKSelector is ahead of {rival} in {ahead[rival]} of {len(combinations)} combinations." for rival in rivals
    ]
    seconds = np.mean([each[f"{OURS}, seconds"] for each in found.values()])
    table = as_text(["data", "model", "k", *SELECTORS, "gain over the best rival"], lines, left=2)
    return "\n".join([table, "", *counts, f"TopKSelector took {seconds:.1f} s per selection on average."])
