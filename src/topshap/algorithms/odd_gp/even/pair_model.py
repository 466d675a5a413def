"""Pairs of players as the candidates of odd-gp@k: their surrogate, its correction, and where pairs are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.block_weights import urgencies
from topshap.algorithms.odd_gp.contrast_moments import DrawnPairs
from topshap.algorithms.odd_gp.control_variate import (
    CorrectedEstimate,
    largest_jump,
    leave_one_out,
    residual_mean_squares,
    shared_residuals,
)
from topshap.algorithms.odd_gp.even.pair_contrasts import (
    mean_squares_by_size,
    overall_weights_of_pairs,
    totals_of_pairs,
    weights_by_count,
)
from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.even.posterior import MAX_WATCHED
from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate
from topshap.algorithms.odd_gp.even.weights import interaction_weights
from topshap.algorithms.odd_gp.interim import MAX_LEARNED
from topshap.algorithms.odd_gp.rare_jumps import has_heavy_tails
from topshap.core.pairs import players_of_pairs

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.bounds import BorderDifferences
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.algorithms.odd_gp.strata import PairStrata
    from topshap.core.algorithm import Problem
    from topshap.core.standing import FittedStanding
    from topshap.core.typing import Matrix, Values
    from topshap.statistics.contrasts import Contrasts

MAX_PLAYERS = players_of_pairs(MAX_WATCHED)
"""The largest number of players whose pairs have a joint covariance: 35."""
URGENT = 64
"""The number of contrasts that the next block is drawn for, as in the prototype."""


class PairModel:
    """Interactions of all pairs of players, by a surrogate of the even part.

    Parameters
    ----------
    problem
        The problem.
    """

    first_block = 6.0
    """As in the prototype."""

    def __init__(self, problem: Problem) -> None:
        self._epsilon, self._pairs = problem.epsilon or 0.0, PlayerPairs.of(problem.n)
        self._surrogate = EvenSurrogate(problem.rng, rank_by=problem.rank_by, max_pairs=MAX_LEARNED)
        self.overall: Values = overall_weights_of_pairs(problem.n, centred=problem.rank_by != "magnitude")

    def learn(self, pairs: ComplementPairs, *, iterations: int) -> None:
        """Fit the hyper-parameters, if there are iterations, and condition the surrogate on the pairs."""
        if iterations > 0:
            self._surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=iterations)
        self._surrogate.condition(pairs.x, pairs.odd, pairs.even)

    def correct(self, pairs: ComplementPairs, probabilities: Values) -> CorrectedEstimate:
        """Return the surrogate's estimate, corrected by its errors, as in `control_variate.correct`.

        The weights B of complement pairs in interactions take the place of those in Shapley values.
        """
        posterior, scale = self._surrogate.posterior, self._surrogate.scale
        x, (m, n) = pairs.x, pairs.x.shape
        observed = (pairs.even - pairs.even[0]) / scale
        prediction, residual, inverse = leave_one_out(posterior, x, observed)
        smooth = posterior.kernel.interactions(posterior.x, posterior.weights, residual=False)
        weights = interaction_weights(x, self._pairs)
        odds = (1.0 - probabilities) / probabilities
        estimates = self._pairs.of_matrix(smooth) + weights.T @ (observed - prediction + residual * odds)
        sizes = (x > 0).sum(axis=1)
        unseen = float(np.max(estimates**2)) / 4.0
        mean_squares = scale**2 * residual_mean_squares(residual[1:], sizes[1:], n, unseen=unseen)
        return CorrectedEstimate(
            estimates=scale * estimates,
            mean_squares=mean_squares,
            jump=scale * max(largest_jump(residual[1:], estimates, self._epsilon / scale), rare_jump(observed[1:])),
            drawn=DrawnPairs(
                weights=weights,
                probabilities=probabilities,
                residual=scale * residual,
                mean_squares=mean_squares[sizes],
                shared=scale**2 * shared_residuals(posterior.weights, inverse),
                widening=1.0 + 2.0 * n / m,
                totals=partial(totals_of_pairs, n=n),
            ),
        )

    def posterior(self) -> tuple[Values, Matrix, float]:
        """Return the posterior mean and covariance, before it is widened, and the unit in which they are."""
        posterior = self._surrogate.posterior
        return posterior.interactions, posterior.covariance, self._surrogate.scale

    def show_posterior(self, standing: FittedStanding) -> None:
        """Give a standing the widened posterior."""
        found = self._surrogate.interactions()
        standing.set(found.estimates, found.covariance, rare_contributions=self.rare_contributions)

    @property
    def rare_contributions(self) -> bool:
        """Whether contributions may be rare and large, so that intervals may be too narrow."""
        return self._surrogate.rare_contributions

    def complete(self, standing: FittedStanding) -> None:
        """Add the Shapley values of the players to the standing of a race that may stop."""
        standing.shapley_values = self._surrogate.shapley_values()

    def interactions(self, _pairs: ComplementPairs) -> None:
        """Return nothing: the interactions are what is ranked."""

    def aims(self, contrasts: Contrasts, border: BorderDifferences, epsilon: float) -> PairAims:
        """Return the priorities of the next block, if the contrasts have to be at least -epsilon."""
        urgency = urgencies(border, epsilon)
        chosen = np.argsort(-urgency, kind="stable")[:URGENT]
        return PairAims(contrasts.part(chosen), urgency[chosen], self._pairs, len(self.overall) - 1)


def rare_jump(even: Values) -> float:
    """Return the largest deviation of the even part from its median if a few are far larger than most, else 0.

    The surrogate has a coefficient for each pair of players, so that it explains jumps in a few of the first complement
    pairs: they leave no residuals, but there may be others as large.

    Examples
    --------
    >>> rare_jump(np.array([1.0, 1.0, 1.0, 5.0])), rare_jump(np.array([1.0, -2.0, 1.5, 0.5]))
    (4.0, 0.0)
    """
    deviations = even - np.median(even)
    return float(np.abs(deviations).max()) if has_heavy_tails(deviations) else 0.0


@dataclass(frozen=True, eq=False)
class PairAims:
    """The priorities of the most urgent contrasts of two pairs of players."""

    contrasts: Contrasts
    urgency: Values
    pairs: PlayerPairs
    n: int

    @property
    def of_players(self) -> Values:
        """The total priority of the contrasts that each player is part of."""
        total = np.zeros(self.n)
        for pairs in (self.pairs.chosen(self.contrasts.ahead), self.pairs.chosen(self.contrasts.behind)):
            for players in pairs:
                np.add.at(total, players, self.urgency)
        return total

    def roots(self, strata: PairStrata) -> Values:
        """Return, for each stratum, the root of the mean square of its pairs' weights in the contrasts.

        The weights are known where the design is stratified by all players of a contrast; for other contrasts, the mean
        is over all complement pairs of the size.
        """
        column = np.full(self.n, -1)
        column[strata.players] = np.arange(len(strata.players))
        weights, s, contrasts = weights_by_count(self.n), strata.sizes, self.contrasts
        by_size = mean_squares_by_size(contrasts, self.n)
        squares = np.zeros(len(s))
        for c, urgency in enumerate(self.urgency.tolist()):
            columns = [
                [column[self.pairs.i[pair]], column[self.pairs.j[pair]]]
                for pair in (contrasts.ahead[c], contrasts.behind[c])
            ]
            if np.min(columns) < 0:
                squares += urgency * by_size[c][s]
                continue
            one, other = (weights[s, strata.sides[:, each].sum(axis=1)] for each in columns)
            squares += urgency * (contrasts.sign_ahead[c] * one + contrasts.sign_behind[c] * other) ** 2
        return np.sqrt(squares)
