"""Confidence intervals by the central limit theorem."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from topshap.core.standing import Standing
    from topshap.core.typing import Values


@lru_cache
def two_sided_quantile(level: float) -> float:
    """Return z such that a standard normal lies outside [-z, z] with probability `level`.

    Examples
    --------
    >>> round(two_sided_quantile(0.05), 2)
    1.96
    """
    return -float(scipy.special.ndtri(level / 2.0))  # not of 1 - level / 2, which is 1 for small levels


def clt_interval(standing: Standing, level: float) -> tuple[Values, Values]:
    """Return lower and upper bounds of every player's value, each wrong with probability `level` asymptotically.

    A player whose standard error is not known has an unbounded interval.
    """
    half_width = two_sided_quantile(level) * standing.std_errors
    half_width[np.isnan(half_width)] = np.inf
    estimates = standing.estimates
    return estimates - half_width, estimates + half_width
