"""Players as the candidates of odd-gp@k: their surrogate, its correction, and where further pairs are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.block_weights import PlayerAims
from topshap.algorithms.odd_gp.control_variate import CorrectedEstimate, correct
from topshap.algorithms.odd_gp.even.afterwards import interactions_afterwards
from topshap.algorithms.odd_gp.interim import MAX_LEARNED
from topshap.algorithms.odd_gp.rare_jumps import may_be_missed
from topshap.algorithms.odd_gp.strata import overall_weights
from topshap.algorithms.odd_gp.surrogate import OddSurrogate

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.bounds import BorderDifferences
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.core.algorithm import Problem
    from topshap.core.pairs import PairEstimates
    from topshap.core.standing import FittedStanding
    from topshap.core.typing import Matrix, Values
    from topshap.statistics.contrasts import Contrasts


class PlayerModel:
    """Shapley values of the players, by a surrogate of the odd part.

    Parameters
    ----------
    problem
        The problem.
    """

    first_block = 4.0
    """As in the prototype."""

    def __init__(self, problem: Problem) -> None:
        self._n, self._epsilon = problem.n, problem.epsilon or 0.0
        self._surrogate = OddSurrogate(problem.rng, max_pairs=MAX_LEARNED)
        self.overall: Values = overall_weights(problem.n)

    def learn(self, pairs: ComplementPairs, *, iterations: int) -> None:
        """Fit the hyper-parameters, if there are iterations, and condition the surrogate on the pairs."""
        self._surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=iterations)

    def correct(self, pairs: ComplementPairs, probabilities: Values) -> CorrectedEstimate:
        """Return the surrogate's estimate, corrected by its errors."""
        return correct(self._surrogate, pairs.x, pairs.odd, probabilities, self._epsilon)

    def posterior(self) -> tuple[Values, Matrix, float]:
        """Return the posterior mean and covariance, before it is widened, and the unit in which they are."""
        posterior = self._surrogate.posterior
        return posterior.shapley_values, posterior.covariance, self._surrogate.scale

    def show_posterior(self, standing: FittedStanding) -> None:
        """Give a standing the widened posterior."""
        standing.set(*self._surrogate.shapley_values(), rare_contributions=self.rare_contributions)

    @property
    def rare_contributions(self) -> bool:
        """Whether contributions may be rare and large, so that intervals may be too narrow."""
        return self._surrogate.rare_contributions

    @property
    def has_few_pairs(self) -> bool:
        """Whether the pairs are so few that jumps may have been missed, whatever their size."""
        posterior = self._surrogate.posterior
        return may_be_missed(posterior.left_out.residuals, np.zeros((1, 1)), posterior.shapley_values)

    def complete(self, standing: FittedStanding) -> None:
        """Add nothing to the standing of a race that may stop: it has all estimates."""

    def interactions(self, pairs: ComplementPairs) -> Callable[[], PairEstimates] | None:
        """Return a function that estimates the interactions from the pairs, None if there are too many players."""
        relevance = self._surrogate.posterior.kernel.relevance
        return interactions_afterwards(pairs, relevance, noise=False, max_pairs=MAX_LEARNED)

    def aims(self, contrasts: Contrasts, border: BorderDifferences, epsilon: float) -> PlayerAims:
        """Return the priorities of the next block, if the contrasts have to be at least -epsilon."""
        return PlayerAims.of(contrasts, border, epsilon, self._n)
