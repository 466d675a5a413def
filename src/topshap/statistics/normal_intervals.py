"""Confidence intervals by the central limit theorem."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from topshap.core.typing import Values


@lru_cache
def two_sided_quantile(level: float) -> float:
    """Return z such that a standard normal variable lies outside [-z, z] with probability `level`.

    Examples
    --------
    >>> round(two_sided_quantile(0.05), 2)
    1.96
    """
    return -float(scipy.special.ndtri(level / 2.0))  # 1 - level / 2 would round to 1 for small levels


def clt_interval(estimates: Values, std_errors: Values, level: float) -> tuple[Values, Values]:
    """Return lower and upper bounds of intervals that each miss the true value with probability `level` asymptotically.

    Where the standard error is nan the interval is unbounded.

    Examples
    --------
    >>> lower, upper = clt_interval(np.array([1.0, 2.0]), np.array([0.1, np.nan]), 0.05)
    >>> lower.round(2), upper.round(2)
    (array([ 0.8, -inf]), array([1.2, inf]))
    """
    half_width = two_sided_quantile(level) * std_errors
    half_width[np.isnan(half_width)] = np.inf
    return estimates - half_width, estimates + half_width
