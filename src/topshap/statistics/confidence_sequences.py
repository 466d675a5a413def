"""Confidence sequences: bounds that hold at all times together, and may be checked after every batch.

A confidence interval holds at one time that is fixed in advance. If it is checked repeatedly, and sampling stops when
it is narrow enough, it is wrong far more often than its level. A confidence sequence holds at all times simultaneously.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from topshap.core.typing import Values

TIGHTEST_AT = 100.0
"""The number of samples at which the asymptotic confidence sequence is tightest."""


def asymptotic_multiplier(samples: Values, level: float) -> Values:
    """Return the half-width of a lower confidence sequence for a mean, in standard errors, after each sample count.

    It is the one-sided asymptotic confidence sequence of Robbins' normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy
    and Ramdas 2024): with a = 2 level and rho2 = (-2 ln a + ln(1 - 2 ln a)) / 100,

        z(t)^2 = (1 + 1 / (t rho2)) ln((t rho2 + 1) / a^2).

    Examples
    --------
    >>> asymptotic_multiplier(np.array([10.0, 100.0, 1000.0]), 0.005).round(2)
    array([4.32, 3.57, 3.75])
    """
    both_sides = min(2.0 * level, 0.999)
    bits = -2.0 * math.log(both_sides)
    mixture = np.maximum(samples, 1.0) * (bits + math.log(1.0 + bits)) / TIGHTEST_AT
    return np.sqrt((1.0 + 1.0 / mixture) * (np.log1p(mixture) + bits))


def student_multiplier(normal: Values, freedom: Values) -> Values:
    """Return the quantile of Student's t with the same tail probability as a normal quantile.

    Examples
    --------
    >>> student_multiplier(np.array([4.0, 4.0]), np.array([6.0, 1000.0])).round(2)
    array([9.84, 4.02])
    """
    quantile: Values = -scipy.special.stdtrit(freedom, scipy.special.ndtr(-normal))
    return quantile


def empirical_bernstein_bound(samples: Values, lows: Values, widths: Values, level: float) -> float:
    """Return a non-asymptotic lower bound of a mean, wrong at any time with probability at most `level`.

    Given the earlier samples, sample r has the expectation mu that all samples share and lies in
    [low_r, low_r + width_r], which may depend on the earlier samples. For weights l_r and predictions p_r in that
    interval, which depend only on the earlier samples,

        exp(sum of l_r (x_r - mu) - psi(l_r width_r) (x_r - p_r)^2 / width_r^2),  psi(l) = -ln(1 - l) - l,

    is a supermartingale (Fan, Grama and Liu 2015; Howard, Ramdas, McAuliffe and Sekhon 2021; Waudby-Smith and Ramdas
    2024). With probability 1 - level it is therefore below 1 / level at all times. After any number of samples, mu is
    then bounded from below by

        (sum of l_r x_r - psi(l_r width_r) (x_r - p_r)^2 / width_r^2 - ln(1 / level)) / (sum of l_r).

    The largest of these bounds is returned, minus infinity without samples.

    Examples
    --------
    >>> coin = np.random.default_rng(0).integers(2, size=1000).astype(float)
    >>> round(empirical_bernstein_bound(coin, np.zeros(1000), np.ones(1000), 0.01), 2)
    0.46
    """
    r = np.arange(1.0, len(samples) + 1.0)
    if len(samples) == 0:
        return -math.inf
    means = np.concatenate([[lows[0] + widths[0] / 2.0], np.cumsum(samples)[:-1] / r[:-1]])
    predictions = np.clip(means, lows, lows + widths)
    surprises = ((samples - predictions) / widths) ** 2
    variances = np.concatenate([[0.25], (0.25 + np.cumsum(surprises)[:-1]) / r[1:]])
    certainty = math.log(1.0 / level)
    relative = np.minimum(np.sqrt(2.0 * certainty / (variances * r * np.log1p(r))), 0.75)
    weights = relative / widths
    psi = -np.log1p(-relative) - relative
    bounds = (np.cumsum(weights * samples - psi * surprises) - certainty) / np.cumsum(weights)
    return float(bounds.max())
