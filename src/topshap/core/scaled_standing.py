"""The standing of a race whose algorithm gets the values negated or times a power of two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.powers_of_two import times_power
from topshap.core.standing import Standing, read_only
from topshap.statistics.partial_covariance import PartialCovariance
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.pairs import PairEstimates
    from topshap.core.scale import Scale
    from topshap.core.typing import Players, Values
    from topshap.statistics.partial_covariance import Covariance

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

    @property
    def interactions(self) -> Callable[[], PairEstimates] | None:  # type: ignore[override]  # read only here
        """A function that estimates the interactions of all pairs, None if the algorithm cannot."""
        of_algorithm, scale = self._of_algorithm.interactions, self._scale
        return None if of_algorithm is None else partial(_in_units, of_algorithm, scale.negates, scale.exponent)

    @property
    def shapley_values(self) -> Values | None:  # type: ignore[override]  # read only here
        """In a race of order 2, the estimated Shapley values of the players, None if unknown."""
        values = self._of_algorithm.shapley_values
        return None if values is None else read_only(self._scale.undo(values))

    @property
    def left_out(self) -> Players | None:  # type: ignore[override]  # read only here
        """In a race of order 2, the players whose pairs are not estimated, None if all are."""
        return self._of_algorithm.left_out

    def covariance(self) -> Covariance | None:
        """Return the covariance of the estimates, that of some of them, or None if only standard errors are known.

        It is None as well if it is too small or too large for floating-point numbers.
        """
        return _unscaled(self._of_algorithm.covariance(), self._scale.exponent)

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first."""
        return self._of_algorithm.ranking(resolution)


def _in_units(of_algorithm: Callable[[], PairEstimates], negates: bool, exponent: int) -> PairEstimates:
    """Return the interactions of an algorithm in the units of the game."""
    found = of_algorithm()
    estimates = times_power(found.estimates, -exponent)
    return found._replace(
        estimates=-estimates if negates else estimates,
        std_errors=times_power(found.std_errors, -exponent),
        covariance=_unscaled(found.covariance, exponent),
    )


def _unscaled(scaled: Covariance | None, exponent: int) -> Covariance | None:
    """Return a covariance of the algorithm in the units of the game; None if it has no floating-point numbers there."""
    if scaled is None or exponent == 0:
        return scaled
    if isinstance(scaled, PartialCovariance):
        matrix = _unscaled(scaled.matrix, exponent)
        return PartialCovariance(scaled.candidates, matrix) if isinstance(matrix, np.ndarray) else None
    with np.errstate(over="ignore"):
        covariance = times_power(scaled, -2 * exponent)
    exact = np.isfinite(covariance) & ((np.abs(covariance) >= _SMALLEST) | (scaled == 0.0))
    return read_only(covariance) if exact.all() else None
