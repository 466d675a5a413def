"""Methods for global importance: topshap, sage-importance, and shap's PermutationExplainer.

Each is a function of a problem, a number of predictions and a seed. It returns the importance of all features and,
where the method has them, their standard errors.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from topshap.core.importance_result import ImportanceKind
    from topshap_bench.importance.problems import Problem

BATCH = 128
"""The largest number of rows that sage-importance evaluates together."""


class Found(NamedTuple):
    """The estimates of a method."""

    values: NDArray[np.float64]
    std_errors: NDArray[np.float64] | None = None
    top: Any = None


Method = "Callable[[Problem, float, int], Found | None]"


def topshap_importance(problem: Problem, evaluations: float, seed: int, **options: Any) -> Found:
    """Run `Explainer.importance` with a number of evaluations."""
    setup = problem.setup
    explainer = topshap.Explainer(problem.predict, setup.background, max_background=None, output=_output(problem))
    settings: dict[str, Any] = {"k": min(5, problem.n_players - 1), "random_state": seed, "by": problem.by, **options}
    if problem.by == "loss":
        settings |= {"y": setup.y, "loss": problem.loss}
    top = explainer.importance(setup.X, budget=None if not np.isfinite(evaluations) else int(evaluations), **settings)
    return Found(top.estimates, top.std_errors, top)


def _output(problem: Problem) -> int | None:
    return 1 if problem.by == "loss" and problem.classifies else None


def sage_permutation(problem: Problem, predictions: float, seed: int) -> Found | None:
    """Run sage's PermutationEstimator."""
    count = int(predictions / (problem.n_players * len(problem.setup.background)))
    if count < 4:
        return None
    batch = int(np.ceil(count / np.ceil(count / BATCH)))
    loops = max(1, count // batch)
    estimator = _sage().PermutationEstimator(_imputer(problem), _sage_loss(problem), random_state=seed)
    found = _quietly(estimator, problem, batch_size=batch, n_permutations=batch * loops)
    return Found(found.values, found.std)


def sage_kernel(problem: Problem, predictions: float, seed: int) -> Found | None:
    """Run sage's KernelEstimator, which spends two evaluations of every row on the empty and the grand coalition."""
    setup = problem.setup
    count = int(predictions / (2 * len(setup.background))) - len(setup.X)
    if count < 2 * problem.n_players:
        return None
    batch = int(np.ceil(count / np.ceil(count / BATCH)))
    loops = max(1, count // batch)
    estimator = _sage().KernelEstimator(_imputer(problem), _sage_loss(problem), random_state=seed)
    found = _quietly(estimator, problem, batch_size=batch, n_samples=batch * loops)
    return Found(found.values, found.std)


def _sage() -> Any:
    return import_extra("sage", package="topshap-bench", extra="importance", needed_by="sage-importance")


def _imputer(problem: Problem) -> Any:
    return _sage().MarginalImputer(problem.predict, problem.setup.background)


def _sage_loss(problem: Problem) -> str:
    return "cross entropy" if problem.classifies else "mse"


def _quietly(estimator: Any, problem: Problem, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(problem.setup.X, problem.setup.y, detect_convergence=False, bar=False, **options)


def shap_permutation(problem: Problem, predictions: float, seed: int, permutations: int | None = None) -> Found | None:
    """Average the magnitudes of shap's PermutationExplainer over random rows, as many as the predictions are for."""
    shap = import_extra("shap", package="topshap-bench", extra="rivals", needed_by="PermutationExplainer")
    setup = problem.setup
    masker = shap.maskers.Independent(setup.background, max_samples=len(setup.background))
    explainer = shap.PermutationExplainer(problem.predict, masker, seed=seed)
    options = {} if permutations is None else {"max_evals": permutations * (2 * problem.n_players + 1)}
    start, values = problem.predictions, []
    for row in np.random.default_rng(seed).permutation(len(setup.X)):
        values.append(np.abs(explainer(setup.X[[row]], silent=True, **options).values[0]))
        each = (problem.predictions - start) / len(values)
        if problem.predictions - start + each > predictions:
            break
    found = np.array(values)
    if len(found) < 2:
        return None
    return Found(found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found)))


def shap_fewest(problem: Problem, predictions: float, seed: int) -> Found | None:
    """Run PermutationExplainer with as many permutations as there are predictions for all rows, at least one."""
    start = problem.predictions
    shap_permutation(problem, 0.0, seed, permutations=1)
    of_row = problem.predictions - start
    problem.predictions = start
    permutations = int(predictions / (of_row * len(problem.setup.X)))
    return shap_permutation(problem, predictions, seed, permutations=max(1, permutations))


RIVALS: Mapping[ImportanceKind, Mapping[str, Callable[[Problem, float, int], Found | None]]] = {
    "loss": {"sage permutation": sage_permutation, "sage kernel": sage_kernel},
    "mean_abs": {"shap permutation": shap_permutation, "shap, fewest": shap_fewest},
}
"""The other methods."""


def installed(by: ImportanceKind) -> bool:
    """Return whether the package of the other methods is installed."""
    return find_spec("sage" if by == "loss" else "shap") is not None
