"""A long table and a cheap model: topshap's own CPU time per row, and the peak memory of the process."""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING

import numpy as np

from topshap_bench.summary import circumstances
from topshap_bench.tables.explainers import measure, topshap_with
from topshap_bench.tables.setups import MODELS, SetUp

if TYPE_CHECKING:
    from topshap_bench.tables.setups import Rows


def large_table(
    *, rows: int = 10_000, features: int = 30, budget: int = 100, background: int = 100, model: str = "xgb"
) -> str:
    """Explain a synthetic table with a model of `MODELS`, and return a line with the cost."""
    rng = np.random.default_rng(0)
    X: Rows = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features)) / np.sqrt(features)
    y = X[:, 0] * X[:, 1] + np.tanh(X[:, 2]) + X[:, 3:].sum(axis=1) / 10.0
    predict, _ = MODELS[model](X[:4000], y[:4000], 0, regression=True)
    setup = SetUp("large", predict, X, X[:background], "marginal", None, None, tuned=False)
    measure(topshap_with(budget), setup, 10)  # not counted: it imports packages
    before = peak_memory()
    found = measure(topshap_with(budget), setup, rows)
    own = 1000.0 * (found.cpu - found.model_cpu) / rows
    of_model = 1000.0 * found.model_cpu / rows
    return (
        f"{circumstances()}\n\n{rows} rows x {features} features, {background} background rows, {budget} evaluations"
        f" per row: own CPU {own:.3f} ms per row, model {of_model:.3f} ms per row,"
        f" {found.predictions / rows:.0f} predictions per row, peak memory {peak_memory():.2f} GB"
        f" ({before:.2f} GB before)"
    )


def peak_memory() -> float:
    """Return the largest memory of this process so far in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
