"""TopKSelector, SelectKBest and RFE at equal k on real data: the score of a model trained on what each selects.

Every selector sees the training half of a split only; the model is then trained on the selected columns of that half
and scored on the other (accuracy or R^2). Printed are means over the splits, the gain over the best rival with its
standard error over the splits, and in how many combinations of data, model and k TopKSelector is ahead. Columns that
are no numbers become ordinal codes, and missing values the median of the training half.

    python benchmarks/selection.py [--folder datasets] [--splits 10] [--k 3 5] [--n-jobs -1]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
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
from tqdm.auto import tqdm

from topshap import TopKSelector
from topshap.datasets import load_dataset
from topshap.games.retraining import ordinal
from topshap.games.tables import as_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODELS = {
    "classification": {"linear": RidgeClassifier(), "tree": DecisionTreeClassifier(max_depth=5)},
    "regression": {"linear": Ridge(), "tree": DecisionTreeRegressor(max_depth=5)},
}
PER_FEATURE = 20  # sets of features that TopKSelector may try, for each feature
SELECTORS = ("TopKSelector", "SelectKBest (F)", "SelectKBest (MI)", "RFE")


class Run(NamedTuple):
    """One split of one table, for one model and one k."""

    data: str
    model: str
    k: int
    seed: int


def load(name: str, folder: Path | None) -> tuple[NDArray[np.float64], NDArray[Any], str]:
    """Return a table as numbers, its target, and the task."""
    if name == "breast-cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y, "classification"
    frame, target, task = load_dataset(name, folder=folder)
    y = np.asarray(target, dtype=np.float64) if task == "regression" else np.unique(target, return_inverse=True)[1]
    return ordinal(as_table("X", frame)), y, task


def selector(name: str, run: Run, task: str, model: Any, n_features: int) -> Any:
    """Return a selector of k columns."""
    k, seed = run.k, run.seed
    if name == "TopKSelector":
        return TopKSelector(model, k=k, cv=3, budget=PER_FEATURE * n_features, random_state=seed)
    if name == "RFE":
        return RFE(model, n_features_to_select=k)
    if name == "SelectKBest (F)":
        return SelectKBest(f_classif if task == "classification" else f_regression, k=k)
    by_information = mutual_info_classif if task == "classification" else mutual_info_regression
    return SelectKBest(lambda X, y: by_information(X, y, random_state=seed), k=k)


def scores_of(run: Run, X: NDArray[np.float64], y: NDArray[Any], task: str) -> dict[str, float]:
    """Return the test score of a model on what each selector selects, and how long TopKSelector took."""
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


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["breast-cancer", "wine", "diabetes", "german-credit", "titanic"])
    parser.add_argument("--folder", type=Path, help="where the datasets are, in place of OpenML")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    tables = {name: load(name, options.folder) for name in options.data}
    runs = [
        Run(data, model, k, seed)
        for data in options.data
        for model in ("linear", "tree")
        for k in options.k
        for seed in range(options.splits)
    ]
    tasks = (delayed(scores_of)(run, *tables[run.data]) for run in runs)
    answers = Parallel(n_jobs=options.n_jobs, return_as="generator")(tasks)
    found = dict(zip(runs, tqdm(answers, total=len(runs), unit="run"), strict=True))
    print_table(found, options.splits)


def print_table(found: dict[Run, dict[str, float]], splits: int) -> None:
    """Print a row for each combination of data, model and k, and how often TopKSelector is ahead."""
    rivals = SELECTORS[1:]
    print(
        f"\n{'data':14s} {'model':7s} {'k':>2s}"
        + "".join(f"{name:>18s}" for name in SELECTORS)
        + "   ahead of the best rival"
    )
    ahead = dict.fromkeys(rivals, 0)
    cells = list(dict.fromkeys((run.data, run.model, run.k) for run in found))
    for data, model, k in cells:
        scores = {
            name: np.array([found[Run(data, model, k, seed)][name] for seed in range(splits)]) for name in SELECTORS
        }
        for rival in rivals:
            ahead[rival] += scores[SELECTORS[0]].mean() > scores[rival].mean()
        best = max(rivals, key=lambda name: scores[name].mean())
        gain = scores[SELECTORS[0]] - scores[best]
        error = gain.std(ddof=1) / np.sqrt(splits) if splits > 1 else np.nan
        means = "".join(f"{scores[name].mean():18.3f}" for name in SELECTORS)
        print(f"{data:14s} {model:7s} {k:2d}{means}   {gain.mean():+.3f} ± {error:.3f} ({best})")
    for rival in rivals:
        print(f"TopKSelector is ahead of {rival} in {ahead[rival]} of {len(cells)} combinations")
    seconds = np.mean([each[f"{SELECTORS[0]}, seconds"] for each in found.values()])
    print(f"TopKSelector took {seconds:.1f} s a selection on average")


if __name__ == "__main__":
    main()
