"""Ties: values whose difference is a rounding error, or small compared with its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.partial_covariance import covariance_with
from topshap.statistics.ranking import rank_key, rank_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Values
    from topshap.statistics.partial_covariance import Covariance
    from topshap.statistics.ranking import RankBy

ROUNDING = 1e-9
"""Numbers below this fraction of the largest estimate are rounding errors."""
SMALL, OF_ERROR = 1e-6, 0.1
"""Numbers below the fraction `SMALL` of the largest estimate are also negligible if they are below the fraction
`OF_ERROR` of their standard error."""
EXACT_ROUNDING = 1e-12
"""The same as `ROUNDING` for exact values, whose rounding errors are smaller."""


def differ(estimates: Values, std_errors: Values) -> bool:
    """Return whether anything distinguishes the players: different estimates, or a known standard error.

    Examples
    --------
    >>> unknown = np.full(2, np.nan)
    >>> differ(np.array([1.0, 1.0]), unknown), differ(np.array([1.0, 2.0]), unknown)
    (False, True)
    """
    spread = float(np.ptp(estimates)) > EXACT_ROUNDING * float(np.abs(estimates).max())
    return spread or bool(np.isfinite(std_errors).any())


def tied_with(
    player: int, estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy
) -> NDArray[np.bool_]:
    """Return for each player whether its estimate ties with that of `player`, in the order `rank_by`.

    A player whose standard error is unknown is tied with no other.

    Examples
    --------
    >>> tied_with(1, np.array([3.0, 1e-12, 0.0]), np.array([0.1, 0.1, 0.1]), None, "value")
    array([False,  True,  True])
    """
    keys = rank_key(estimates, rank_by)
    errors = errors_of_difference(player, estimates, std_errors, covariance, rank_by)
    scale, gaps = float(np.abs(estimates).max()), np.abs(keys - keys[player])
    small = (gaps <= SMALL * scale) & (gaps <= OF_ERROR * errors)
    known = ~np.isnan(std_errors) & ~np.isnan(std_errors[player])
    exact = not std_errors.any()
    tied: NDArray[np.bool_] = known & ((gaps <= (EXACT_ROUNDING if exact else ROUNDING) * scale) | small)
    return tied


def errors_of_difference(
    player: int, estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy
) -> Values:
    """Return the standard error of each player's difference to `player`, in the order `rank_by`.

    Examples
    --------
    >>> errors_of_difference(0, np.array([1.0, 1.0]), np.array([0.3, 0.4]), None, "value")
    array([0.42426407, 0.5       ])
    """
    signs, variances = rank_signs(estimates, rank_by), std_errors**2
    shared = np.zeros(len(estimates))
    if covariance is not None:
        shared = signs[player] * signs * covariance_with(player, covariance, len(estimates))
    errors: Values = np.sqrt(np.maximum(variances + variances[player] - 2.0 * shared, 0.0))
    return errors
