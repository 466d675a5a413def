"""Explainers of tables: topshap, shap, lightshap and shapiq, each a function from a set-up and rows to Shapley values.

Other packages run with the settings that their users have: the defaults, and 500 samples without feature selection for
KernelExplainer. The background, the predict function and the rows are the same for all. Packages without groups of
columns do not take part in set-ups that have them.
"""

from __future__ import annotations

import time
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap_bench.tables.setups import Predict, Rows, SetUp

    Explain = Callable[[SetUp, Predict, Rows], Rows]

K = 3
"""The number of features that topshap is asked for."""


class Measured(NamedTuple):
    """Shapley values of some rows and their cost."""

    values: Rows
    cpu: float
    """CPU seconds of the model and the package together."""
    wall: float
    model_cpu: float
    """CPU seconds of the model alone."""
    predictions: int
    """The number of rows that were predicted."""


def measure(explain: Explain, setup: SetUp, rows: int) -> Measured:
    """Explain the first rows of a set-up, and measure the cost."""
    spent = {"cpu": 0.0, "predictions": 0.0}

    def predict(data: Any) -> Any:
        start = time.process_time()
        answer = setup.predict(np.asarray(data))
        spent["cpu"] += time.process_time() - start
        spent["predictions"] += len(data)
        return answer

    start_cpu, start_wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of uncertain results, and of other packages
        values = explain(setup, predict, setup.X[:rows])
    cpu, wall = time.process_time() - start_cpu, time.perf_counter() - start_wall
    return Measured(values, cpu, wall, spent["cpu"], int(spent["predictions"]))


def topshap_with(budget: int, **options: Any) -> Explain:
    """Return topshap's explainer with this budget per row."""

    def explain(setup: SetUp, predict: Predict, X: Rows) -> Rows:
        explainer = topshap.Explainer(
            predict, setup.background, imputer="marginal", groups=setup.groups, random_state=0
        )
        return np.asarray(explainer.explain_many(X, k=K, budget=budget, **options).estimates)

    return explain


def _kernel(nsamples: Any, **options: Any) -> Explain:
    def explain(setup: SetUp, predict: Predict, X: Rows) -> Rows:
        shap = import_extra("shap", extra="shap", needed_by="KernelExplainer")
        background: Any = setup.background
        if setup.groups is not None:
            names, columns = list(setup.groups), list(setup.groups.values())
            background = shap.utils._legacy.DenseData(setup.background, names, columns)  # noqa: SLF001 - its only way to group columns
        explainer = shap.KernelExplainer(predict, background)
        return np.asarray(explainer.shap_values(X, nsamples=nsamples, silent=True, **options)).reshape(len(X), -1)

    return explain


def _permutation(setup: SetUp, predict: Predict, X: Rows) -> Rows:
    shap = import_extra("shap", extra="shap", needed_by="PermutationExplainer")
    masker = shap.maskers.Independent(setup.background, max_samples=len(setup.background))
    explainer = shap.PermutationExplainer(predict, masker, seed=0)
    most = max(500, 2 * X.shape[1] + 1)  # the default, where it covers one permutation
    return np.asarray(explainer(X, max_evals=most, silent=True).values).reshape(len(X), -1)


def _lightshap(setup: SetUp, predict: Predict, X: Rows) -> Rows:
    lightshap = import_extra("lightshap", package="topshap-bench", extra="tables", needed_by="this comparison")
    found = lightshap.explain_any(predict, X, bg_X=setup.background, random_state=0, verbose=False)
    return np.asarray(found.shap_values).reshape(len(X), -1)


def _shapiq(setup: SetUp, predict: Predict, X: Rows) -> Rows:
    shapiq = import_extra("shapiq", extra="shapiq", needed_by="TabularExplainer")
    explainer = shapiq.TabularExplainer(
        predict, setup.background, imputer="marginal", sample_size=len(setup.background), index="SV", max_order=1,
        random_state=0,
    )  # fmt: skip
    found = explainer.explain_X(X, budget=500, random_state=0)
    return np.array([[each[(player,)] for player in range(X.shape[1])] for each in found])


RIVALS: Mapping[str, Explain] = {
    "Kernel, default": _kernel("auto"),
    "Kernel, 500": _kernel(500, l1_reg=0),
    "Permutation": _permutation,
    "lightshap": _lightshap,
    "shapiq, 500": _shapiq,
}
"""Other packages by name."""
PACKAGES = {"Kernel": "shap", "Permutation": "shap", "lightshap": "lightshap", "shapiq": "shapiq"}


def installed(names: Sequence[str]) -> list[str]:
    """Return the rivals whose packages are installed.

    Examples
    --------
    >>> "Permutation" in installed(["Permutation", "lightshap"])
    True
    """
    return [name for name in names if find_spec(PACKAGES[name.partition(",")[0]]) is not None]


WITH_GROUPS = ("Kernel, default", "Kernel, 500")
"""The ones that support groups of columns."""
