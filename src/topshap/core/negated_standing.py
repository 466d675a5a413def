"""The standing of a race on the negated game, for algorithms and rules that support only the highest values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.core.standing import Standing, read_only
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


class NegatedStanding(Standing):
    """The standing of -v, converted to v: the same players in the same order, with estimates of the opposite sign."""

    def __init__(self, of_negated: Standing) -> None:
        super().__init__(of_negated.tie_order, rank_by=order_of_negated(of_negated.rank_by))
        self._of_negated = of_negated

    @property
    def counts(self) -> Values | None:  # type: ignore[override]  # read only here
        """The number of samples of each player, None where the estimates are not means of samples."""
        return self._of_negated.counts

    @property
    def rare_contributions(self) -> bool:  # type: ignore[override]  # read only here
        """Whether contributions may be rare and large, so that standard errors may be too small."""
        return self._of_negated.rare_contributions

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return read_only(-self._of_negated.live_estimates)

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known."""
        return self._of_negated.std_errors

    def covariance(self) -> Matrix | None:
        """Return the covariance of the estimates, None where only the standard errors are known."""
        return self._of_negated.covariance()

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first."""
        return self._of_negated.ranking(resolution)
