"""The posterior of the even part of a game and of the interactions of its players."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.even.kernel import InteractionKernel
from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.gp import BLOCK, FunctionalGP
from topshap.algorithms.odd_gp.posterior import MAX_LEFT_OUT, LeaveOneOut
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

MAX_WATCHED = 600
"""The largest number of pairs of players whose joint covariance is computed: a limit on time and memory."""
MAX_FOR_OTHERS = 300
"""The largest number of observations that the variances of all other pairs are based on: a limit on time."""


class EvenPosterior(FunctionalGP[InteractionKernel]):
    """A Gaussian process on e(x) = (v(x) + v(-x)) / 2, conditioned on observed complement pairs.

    With K the covariance of the observations and A = Cov(SII, observations), the interactions have the posterior mean
    A K^-1 e and covariance prior - A K^-1 A'. The residual of the smooth part in an observed complement pair is part of
    the game and enters with its exact weight, so the interactions are exact once all complement pairs are observed.

    The mean is computed for all pairs of players, the covariance only for the *watched* ones: all of them, or the ones
    that are ranked first if there are many.

    Parameters
    ----------
    kernel
        The prior covariance.
    x
        The observed complement pairs as signs, one row each.
    e
        Their even parts, centred.
    rank_by
        The order in which pairs of players are ranked.
    noise
        Whether the residual is noise of the value function and not part of the game.
    """

    def __init__(
        self,
        kernel: InteractionKernel,
        x: Matrix,
        e: Values,
        *,
        rank_by: RankBy = "magnitude",
        noise: bool = False,
        max_watched: int = MAX_WATCHED,
    ) -> None:
        super().__init__(kernel, x, e)
        self.pairs = PlayerPairs.of(x.shape[1])
        self._rank_by, self._noise, self._max_watched = rank_by, noise, max_watched

    def with_kernel(self, kernel: InteractionKernel) -> EvenPosterior:
        """Return the posterior of the same observations with another prior."""
        options: dict[str, Any] = {"rank_by": self._rank_by, "noise": self._noise, "max_watched": self._max_watched}
        return EvenPosterior(kernel, self.x, self.observed, **options)

    @cached_property
    def interactions(self) -> Values:
        """The posterior mean of the interactions of all pairs of players."""
        return self.pairs.of_matrix(self.kernel.interactions(self.x, self.weights, residual=not self._noise))

    @cached_property
    def watched(self) -> Players:
        """The indices of the watched pairs, in ascending order."""
        if len(self.pairs.i) <= self._max_watched:
            return np.arange(len(self.pairs.i))
        ranking = np.argsort(-rank_key(self.interactions, self._rank_by), kind="stable")
        return np.sort(ranking[: self._max_watched])

    @cached_property
    def watched_pairs(self) -> PlayerPairs:
        """The watched pairs of players."""
        return self.pairs.chosen(self.watched)

    def functional_of(self, x: Matrix) -> Matrix:
        """Return the prior Cov(e(x), SII) of any complement pairs and the watched pairs of players."""
        return self.kernel.functional(x, self.watched_pairs, residual=not self._noise)

    @cached_property
    def covariance(self) -> Matrix:
        """The posterior covariance of the interactions of the watched pairs."""
        prior = self.kernel.prior(self.watched_pairs, residual=not self._noise)
        covariance = prior - self.functional.T @ self.solved_functional
        return (covariance + covariance.T) / 2.0

    @cached_property
    def variances(self) -> Values:
        """The posterior variances of the interactions of all pairs of players.

        Those that are not watched are given a part of the observations only, which makes them larger, if anything.
        """
        variances = np.empty(len(self.pairs.i))
        variances[self.watched] = np.diag(self.covariance)
        others = np.setdiff1d(np.arange(len(variances)), self.watched, assume_unique=True)
        if len(others) > 0:
            variances[others] = self._variances_of(others)
        return np.maximum(variances, 0.0)

    def _variances_of(self, which: Players) -> Values:
        """Return the variances of some pairs of players given the first observations."""
        count = min(len(self.x), MAX_FOR_OTHERS)
        factor = self.factor[:count, :count]  # that of the first observations
        pairs = self.pairs.chosen(which)
        functional = self.kernel.functional(self.x[:count], pairs, residual=not self._noise)
        variances = self.kernel.prior_variances(pairs, residual=not self._noise)
        for start in range(0, len(which), BLOCK):
            block = slice(start, start + BLOCK)
            reduced = linalg.solve_triangular(factor, functional[:, block], lower=True, check_finite=False)
            variances[block] -= np.einsum("mp,mp->p", reduced, reduced)
        return variances

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of e."""
        parts = np.array_split(x, len(x) // BLOCK + 1)  # bounds memory
        return np.concatenate([self.kernel.covariance(part, self.x) @ self.weights for part in parts])

    @cached_property
    def left_out(self) -> LeaveOneOut:
        """The leave-one-out residuals of all observations but the grand coalition's, or of the last ones of many."""
        m = len(self.x)
        rows = np.arange(max(1, m - MAX_LEFT_OUT), m)
        return LeaveOneOut(rows, *self.leave_one_out(rows))
