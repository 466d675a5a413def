"""The standing of a race on a game with several outputs: arrays with one row per output."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.covariances import covariance_of
from topshap.core.standing import FittedStanding, Standing, read_only
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.covariances import Covariances
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy


class OutputsStanding(Standing):
    """Estimates, their uncertainty and the ranking, of every output.

    `estimates` and `std_errors` have the shape (R, n), and `ranking` has one row per output. `of_output` is the
    standing of a single output.

    Parameters
    ----------
    n_outputs
        The number of outputs R.
    tie_order, rank_by
        See `topshap.core.standing.Standing`.
    """

    def __init__(self, n_outputs: int, tie_order: Players, *, rank_by: RankBy = "value") -> None:
        super().__init__(tie_order, rank_by=rank_by)
        self.n_outputs = n_outputs

    @abstractmethod
    def of_output(self, output: int) -> Standing:
        """Return the standing of one output."""

    @abstractmethod
    def covariances(self) -> Covariances | None:
        """Return the covariances of all outputs, None where only the standard errors are known."""

    @property
    def rare_outputs(self) -> NDArray[np.bool_]:
        """Whether contributions may be rare and large, for each output."""
        return np.array([standing.rare_contributions for standing in self.each()])

    def each(self) -> Iterator[Standing]:
        """Yield the standing of every output."""
        return map(self.of_output, range(self.n_outputs))

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first, one row per output."""
        return np.array([standing.ranking(resolution) for standing in self.each()])

    def partition(self, k: int) -> tuple[Players, Players]:
        """Return the current top k and the rest of every output, each from the best to the worst."""
        ranking = self.ranking()
        return ranking[:, :k], ranking[:, k:]


class FittedOutputsStanding(OutputsStanding):
    """Estimates of all outputs that are computed together.

    Parameters
    ----------
    tie_order, rank_by
        See `topshap.core.standing.Standing`.
    estimates
        The estimates at the start, shape (R, n).

    Examples
    --------
    >>> standing = FittedOutputsStanding(np.arange(2), np.zeros((3, 2)))
    >>> from topshap.core.covariances import SharedCovariance
    >>> standing.set(np.array([[1.0, 2.0], [4.0, 3.0], [0.0, 1.0]]), SharedCovariance(np.eye(2), np.ones(3)))
    >>> standing.ranking().tolist(), standing.std_errors.shape
    ([[1, 0], [0, 1], [1, 0]], (3, 2))
    """

    def __init__(self, tie_order: Players, estimates: Matrix, *, rank_by: RankBy = "value") -> None:
        super().__init__(len(estimates), tie_order, rank_by=rank_by)
        self._estimates = estimates
        self._std_errors: Matrix = np.full(estimates.shape, np.nan)
        self._covariances: Covariances | None = None
        self._rare: NDArray[np.bool_] = np.zeros(len(estimates), dtype=np.bool_)

    def set(
        self,
        estimates: Matrix,
        covariances: Covariances | None = None,
        *,
        std_errors: Matrix | None = None,
        rare_contributions: NDArray[np.bool_] | None = None,
    ) -> None:
        """Replace the estimates and their uncertainty; the arrays must not be modified afterwards.

        Parameters
        ----------
        estimates
            One row per output, shape (R, n).
        covariances
            Matrices that outputs share times factors, an array of shape (R, n, n), or None where only the standard
            errors are known.
        std_errors
            The standard errors, shape (R, n); by default those of the covariances, or unknown without them.
        rare_contributions
            For each output, whether contributions may be rare and large; by default not.
        """
        self._estimates, self._covariances = estimates, covariances
        if std_errors is None:
            std_errors = np.full(estimates.shape, np.nan) if covariances is None else _std_errors(covariances)
        self._std_errors = std_errors
        if rare_contributions is not None:
            self._rare = rare_contributions
            self.rare_contributions = bool(rare_contributions.any())

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per output and player, shape (R, n)."""
        return read_only(self._estimates)

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known, shape (R, n)."""
        return read_only(self._std_errors)

    @property
    def rare_outputs(self) -> NDArray[np.bool_]:
        """Whether contributions may be rare and large, for each output."""
        return self._rare

    def covariances(self) -> Covariances | None:
        """Return the covariances of all outputs, None where only the standard errors are known."""
        return self._covariances

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players, the best first, one row per output."""
        order, keys = self.tie_order, rank_key(self._estimates, self.rank_by)
        if resolution > 0.0:
            largest = np.abs(keys).max(axis=1, keepdims=True, initial=0.0)
            keys = np.round(keys / np.where(largest > 0.0, resolution * largest, 1.0))
        return np.asarray(order[(-keys[:, order]).argsort(axis=1, kind="stable")])

    def of_output(self, output: int) -> Standing:
        """Return the standing of one output."""
        covariance = covariance_of(self._covariances, output)
        standing = _OneOutput(self.tie_order, self._estimates[output], rank_by=self.rank_by)
        standing.set_output(covariance, self._std_errors[output], rare=bool(self._rare[output]))
        return standing


class _OneOutput(FittedStanding):
    """One output of a `FittedOutputsStanding`."""

    def set_output(self, covariance: Matrix | None, std_errors: Values, *, rare: bool) -> None:
        self._known, self._errors, self.rare_contributions = covariance, std_errors, rare

    @property
    def std_errors(self) -> Values:
        return read_only(self._errors)

    def covariance(self) -> Matrix | None:
        return self._known


def _std_errors(covariances: Covariances) -> Matrix:
    if isinstance(covariances, np.ndarray):
        return np.asarray(np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)))
    return covariances.std_errors()
