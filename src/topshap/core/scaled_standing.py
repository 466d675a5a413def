"""The standing of a race whose algorithm gets the values negated or times a power of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.powers_of_two import times_power
from topshap.core.standing import Standing, read_only
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from topshap.core.scale import Scale
    from topshap.core.typing import Matrix, Players, Values

_SMALLEST = float(np.finfo(np.float64).smallest_normal)


class ScaledStanding(Standing):
    """The standing of an algorithm in the units of the game: the same players in the same order.

    The ranking is that of the algorithm, since estimates in the units of the game may be rounded to the same number.
    """

    def __init__(self, of_algorithm: Standing, scale: Scale) -> None:
        rank_by = of_algorithm.rank_by
        super().__init__(of_algorithm.tie_order, rank_by=order_of_negated(rank_by) if scale.negates else rank_by)
        self._of_algorithm = of_algorithm
        self._scale = scale

    @property
    def counts(self) -> Values | None:  # type: ignore[override]  # read only here
        """The number of samples of each player, None where the estimates are not means of samples."""
        return self._of_algorithm.counts

    @property
    def rare_contributions(self) -> bool:  # type: ignore[override]  # read only here
        """Whether contributions may be rare and large, so that standard errors may be too small."""
        return self._of_algorithm.rare_contributions

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return read_only(self._scale.undo(self._of_algorithm.live_estimates))

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known."""
        return read_only(times_power(self._of_algorithm.std_errors, -self._scale.exponent))

    def covariance(self) -> Matrix | None:
        """Return the covariance of the estimates, None if only the standard errors are known.

        It is None as well if it is too small or too large for floating-point numbers.
        """
        scaled = self._of_algorithm.covariance()
        if scaled is None or self._scale.exponent == 0:
            return scaled
        with np.errstate(over="ignore"):
            covariance = times_power(scaled, -2 * self._scale.exponent)
        exact = np.isfinite(covariance) & ((np.abs(covariance) >= _SMALLEST) | (scaled == 0.0))
        return read_only(covariance) if exact.all() else None

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first."""
        return self._of_algorithm.ranking(resolution)
