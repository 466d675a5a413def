"""The folded normal distribution: the magnitude of a normal random number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def folded_normal_moments(
    means: NDArray[np.float64], deviations: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the variance of the magnitude of x ~ N(mean, deviation²), element by element.

    Where the deviation is 0 or nan, x is taken as known: the mean is the magnitude and the variance is 0.

    Examples
    --------
    >>> mean, variance = folded_normal_moments(np.array([0.0, -3.0]), np.array([1.0, 0.0]))
    >>> mean.round(3), variance.round(3)
    (array([0.798, 3.   ]), array([0.363, 0.   ]))
    """
    known = ~(deviations > 0.0)
    spread = np.where(known, 1.0, deviations)
    with np.errstate(over="ignore", under="ignore"):
        ratio = means / spread
        of_zero = np.sqrt(2.0 / np.pi) * spread * np.exp(-0.5 * np.minimum(ratio**2, 1500.0))
    mean = np.where(known, np.abs(means), of_zero + means * scipy.special.erf(ratio / np.sqrt(2.0)))
    variance = spread**2 + (means - mean) * (means + mean)
    return mean, np.where(known, 0.0, np.maximum(variance, 0.0))
