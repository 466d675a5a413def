"""Powers of two that keep numbers away from the limits of floating-point arithmetic.

The square of a number below about 1e-154 is zero or inaccurate, and that of a number above about 1e154 is infinite.
Multiplication by a power of two is exact, so numbers of any size can be computed with after it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Values
    from topshap.statistics.partial_covariance import Covariance

SAFE_EXPONENTS = range(-200, 251)
"""Numbers whose largest one has such an exponent, from about 1e-60 to 1e75, are not scaled. Fourth powers of these, by
which variances are judged, are still normal numbers."""


def largest_of(numbers: NDArray[Any]) -> float:
    """Return the largest magnitude, ignoring nan; 0 if no number is left.

    Examples
    --------
    >>> largest_of(np.array([3.0, -4.0, np.nan]))
    4.0
    """
    return float(np.nanmax(np.abs(numbers), initial=0.0)) if len(numbers) else 0.0


def safe_exponent(largest: float) -> int:
    """Return the exponent of the power of two that brings the largest number to about 1; 0 if it is safe as it is.

    Examples
    --------
    >>> safe_exponent(0.001), safe_exponent(2.0**-1074), safe_exponent(2.0**900), safe_exponent(0.0)
    (0, 1073, -901, 0)
    """
    exponent = math.frexp(largest)[1]
    return 0 if largest == 0.0 or exponent in SAFE_EXPONENTS else -exponent


def times_power(numbers: NDArray[Any], exponent: int) -> NDArray[Any]:
    """Return the numbers times a power of two; themselves if the exponent is 0.

    Examples
    --------
    >>> times_power(np.array([1.0, 3.0]), 2)
    array([ 4., 12.])
    """
    return np.ldexp(numbers, exponent) if exponent else numbers


def safely_scaled(
    estimates: Values, std_errors: Values, covariance: Covariance | None
) -> tuple[Values, Values, Covariance | None]:
    """Return estimates, standard errors and covariance times a power of two, if their squares would be 0 or infinite.

    Examples
    --------
    >>> safely_scaled(np.array([4.0, 2.0]) * 2.0**-900, np.array([0.0, 2.0**-900]), None)
    (array([0.5 , 0.25]), array([0.   , 0.125]), None)
    """
    known = covariance if covariance is None or isinstance(covariance, np.ndarray) else covariance.matrix
    std_error = 0.0 if known is None else math.sqrt(largest_of(known))
    exponent = safe_exponent(max(largest_of(estimates), largest_of(std_errors), std_error))
    return times_power(estimates, exponent), times_power(std_errors, exponent), _times(covariance, 2 * exponent)


def _times(covariance: Covariance | None, exponent: int) -> Covariance | None:
    if covariance is None or isinstance(covariance, np.ndarray):
        return None if covariance is None else times_power(covariance, exponent)
    return covariance.times_power(exponent)
