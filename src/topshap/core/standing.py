"""The standing of a race: the current estimates, their uncertainty and the ranking."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from topshap.statistics.partial_covariance import deviations
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.pairs import PairEstimates
    from topshap.core.typing import Players, Values
    from topshap.statistics.partial_covariance import Covariance
    from topshap.statistics.ranking import RankBy

_Number = TypeVar("_Number", bound=np.generic)


def read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """Return a read-only view of an array."""
    view = array.view()
    view.setflags(write=False)
    return view


class Standing(ABC):
    """Estimates, their uncertainty and the ranking they give.

    In a race of order 2 all of these are for pairs of players, see `topshap.core.pairs`.

    The arrays of `counts`, `estimates`, `std_errors` and `covariance` are read-only and do not change later.
    `live_estimates` and `live_std_errors` save the copy, for code that reads them in every round: they may be the
    arrays that the standing updates.

    Parameters
    ----------
    tie_order
        A permutation of the players: of two with equal estimates, the one that comes first in it is ranked higher. A
        race draws it at random, so that ties favour no player.
    rank_by
        The order in which players are ranked.
    """

    counts: Values | None = None
    """The number of samples of each player, None where the estimates are not means of samples."""
    rare_contributions: bool = False
    """Whether contributions may be rare and large, so that standard errors may be too small."""
    interactions: Callable[[], PairEstimates] | None = None
    """In a race of order 1, a function that estimates the interactions of all pairs from what has been evaluated so
    far, None if the algorithm cannot. It is called later, if at all: what it refers to must not change."""
    shapley_values: Values | None = None
    """In a race of order 2, the estimated Shapley values of the players from the same evaluations, None if unknown."""
    left_out: Players | None = None
    """In a race of order 2, the players whose pairs are not estimated, None if all are."""

    def __init__(self, tie_order: Players, *, rank_by: RankBy = "value") -> None:
        self.n_players = len(tie_order)
        self.tie_order = read_only(tie_order)
        self.rank_by = rank_by

    @property
    @abstractmethod
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""

    @property
    @abstractmethod
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known."""

    def covariance(self) -> Covariance | None:
        """Return the covariance of the estimates, that of some of them, or None: only standard errors are known."""
        return None

    @property
    def live_estimates(self) -> Values:
        """The current estimates, possibly not copied: do not modify or keep the array."""
        return self.estimates

    @property
    def live_std_errors(self) -> Values:
        """The current standard errors, possibly not copied: do not modify or keep the array."""
        return self.std_errors

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that restores the current state."""
        state = deepcopy(vars(self))

        def restore() -> None:
            vars(self).update(deepcopy(state))

        return restore

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first.

        With a `resolution`, estimates that differ by less than about this fraction of the largest are treated as equal,
        so that rounding errors do not decide.
        """
        order, keys = self.tie_order, rank_key(self.live_estimates, self.rank_by)
        if resolution > 0.0 and (largest := np.abs(keys).max()) > 0.0:
            keys = np.round(keys / (resolution * largest))
        return order[(-keys[order]).argsort(kind="stable")]

    def partition(self, k: int) -> tuple[Players, Players]:
        """Return the current top k and the rest, each from the best to the worst."""
        ranking = self.ranking()
        return ranking[:k], ranking[k:]


class FittedStanding(Standing):
    """Estimates that are computed as a whole: by enumeration or by a regression."""

    def __init__(self, tie_order: Players, estimates: Values, *, rank_by: RankBy = "value") -> None:
        super().__init__(tie_order, rank_by=rank_by)
        self._estimates = estimates
        self._covariance: Covariance | None = None
        self._std_errors: Values = np.full(self.n_players, np.nan)

    def set(
        self,
        estimates: Values,
        covariance: Covariance | None = None,
        *,
        std_errors: Values | None = None,
        rare_contributions: bool = False,
    ) -> None:
        """Replace the estimates and their uncertainty; the arrays must not be modified afterwards.

        Parameters
        ----------
        estimates
            One estimate per candidate.
        covariance
            The covariance of the estimates, that of some of them, or None.
        std_errors
            The standard errors, nan where unknown; by default those of the covariance. With a covariance of some
            estimates, they are those of the others.
        rare_contributions
            Whether contributions may be rare and large.

        Examples
        --------
        >>> from topshap.statistics.partial_covariance import PartialCovariance
        >>> standing = FittedStanding(np.arange(3), np.zeros(3))
        >>> some = PartialCovariance(np.array([0, 2]), np.array([[4.0, 1.0], [1.0, 9.0]]))
        >>> standing.set(np.array([1.0, 0.5, 2.0]), some, std_errors=np.ones(3))
        >>> standing.std_errors
        array([2., 1., 3.])
        """
        unknown = np.full(self.n_players, np.nan)
        self._estimates = estimates
        self._std_errors = deviations(covariance, unknown if std_errors is None else std_errors)
        self._covariance = covariance
        self.rare_contributions = rare_contributions

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return read_only(self._estimates)

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known."""
        return read_only(self._std_errors)

    def covariance(self) -> Covariance | None:
        """Return the covariance of the estimates, that of some of them, or None where it is not known."""
        covariance = self._covariance
        if not isinstance(covariance, np.ndarray):
            return covariance
        return None if np.isnan(covariance).any() else read_only(covariance)
