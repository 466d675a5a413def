"""Least squares on complement pairs of coalitions, the baseline of several measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.designs import draw_pairs
from topshap.statistics.least_squares import efficient_least_squares

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Values

__all__ = ["draw_pairs", "kernel_least_squares"]


def kernel_least_squares(coalitions: Coalitions, worths: Values, gain: float) -> Values:
    """Fit an additive game with the sum `gain`; coalitions of the same size share the Shapley kernel weight equally."""
    n = coalitions.shape[1]
    sizes = coalitions.sum(axis=1)
    weights = 1.0 / (sizes * (n - sizes) * np.bincount(sizes)[sizes])
    draws = np.arange(len(coalitions)) // 2
    return efficient_least_squares(coalitions, worths, weights, gain, draws)[0]
