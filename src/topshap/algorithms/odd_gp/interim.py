"""Interim analyses of odd-gp@k: learn from the pairs drawn so far, correct the estimate, and bound the contrasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from scipy.special import ndtr

from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.core.standing import FittedStanding
from topshap.statistics.contrasts import contrasts_to_show, most_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.block_weights import Aims
    from topshap.algorithms.odd_gp.bounds import BorderDifferences
    from topshap.algorithms.odd_gp.control_variate import CorrectedEstimate
    from topshap.algorithms.odd_gp.poisson import PoissonDesign
    from topshap.core.algorithm import Problem
    from topshap.core.pairs import PairEstimates
    from topshap.core.typing import Coalitions, Matrix, Values
    from topshap.statistics.contrasts import Contrasts

MAX_LEARNED = 2000
"""The largest number of pairs the process is conditioned on, a limit on time; further pairs only correct it."""
REFIT_AT, FIRST_FIT, REFIT = 1.4, 25, 8
"""The hyper-parameters are refitted when the number of pairs has grown by this factor since the last fit; and the
iterations of the first fit and of refits. The factor is that of the prototype."""
GROWTH = 0.08, 0.4
"""The smallest and the largest growth of the sample between two analyses, relative to its size.

With at least 0.08, fewer evaluations are needed than with the 0.15 of the prototype.
"""
UNSEEN_SHARE = 0.25
"""The share of delta for jumps that were not observed; the rest is for the observed differences."""
EQUAL_ANALYSES = 12
"""The number of analyses that get equal shares of delta; later ones get decreasing shares. As in the prototype."""
DEFAULT_DELTA = 0.05
"""The probability of error that bounds refer to in a race for a fixed budget."""


class BoundedFit(FittedStanding):
    """Estimates with a lower bound of all contrasts that have to be shown."""

    bound = -np.inf

    def worst_bound(self) -> float:
        """Return the smallest lower bound of a contrast."""
        return self.bound


class Model(Protocol):
    """The candidates of a race, players or pairs of them, and the surrogate that estimates them."""

    first_block: float
    """The expected number of complement pairs per player in the first block."""
    overall: Values
    """The weight of a complement pair in all candidates together, for sizes 0 .. n."""

    def learn(self, pairs: ComplementPairs, *, iterations: int) -> None:
        """Fit the hyper-parameters, if there are iterations, and condition the surrogate on the pairs."""

    def correct(self, pairs: ComplementPairs, probabilities: Values) -> CorrectedEstimate:
        """Return the surrogate's estimate, corrected by its errors."""

    def posterior(self) -> tuple[Values, Matrix, float]:
        """Return the posterior mean and covariance, before it is widened, and the unit in which they are."""

    def show_posterior(self, standing: FittedStanding) -> None:
        """Give a standing the widened posterior."""

    @property
    def rare_contributions(self) -> bool:
        """Whether contributions may be rare and large, so that intervals may be too narrow."""

    def complete(self, standing: FittedStanding) -> None:
        """Add what else is known to the standing of a race that may stop."""

    def interactions(self, pairs: ComplementPairs) -> Callable[[], PairEstimates] | None:
        """Return a function that estimates the interactions from the pairs, None if they are what is ranked."""

    def aims(self, contrasts: Contrasts, border: BorderDifferences, epsilon: float) -> Aims:
        """Return the priorities of the next block, if the contrasts have to be at least -epsilon."""


ModelT = TypeVar("ModelT", bound=Model)


class InterimAnalyses(Generic[ModelT]):
    """The analyses of one race, each after a block of pairs.

    Parameters
    ----------
    problem
        The problem.
    standing
        The standing that each analysis updates.
    design
        The design that the blocks are drawn from.
    model
        The candidates and their surrogate.
    """

    def __init__(self, problem: Problem, standing: BoundedFit, design: PoissonDesign, model: ModelT) -> None:
        self._problem, self._standing, self._design = problem, standing, design
        self.model = model
        """The candidates and their surrogate."""
        self.pairs = ComplementPairs.at_start(problem)
        self.estimate: CorrectedEstimate
        """The corrected estimate of the last analysis."""
        self.contrasts: Contrasts
        """The contrasts that have to be shown for the current top k."""
        self.border: BorderDifferences
        """Their estimates."""
        self.growth = GROWTH[1]
        """The growth of the sample until the next analysis, relative to its size."""
        self._analyses = self._fitted_to = 0

    @property
    def aim(self) -> Problem:
        """The problem that the next block is drawn for."""
        return self._problem

    @property
    def tolerance(self) -> float:
        """The contrasts have to be at least minus this number."""
        return self._problem.epsilon or 0.0

    def add(self, block: Coalitions, values: Values) -> None:
        """Add the complete pairs in a prefix of the values of a block, and analyse all pairs if there are new ones."""
        added = self.pairs.add(block, values)
        if added == 0:
            return
        if added < len(block):
            self._design.cut(added / len(block))
        self._learn(added)
        self._correct()
        self._bound()

    def _learn(self, added: int) -> None:
        """Condition the surrogate on the pairs, unless it has enough of them, and refit it if the sample has grown."""
        m = len(self.pairs)
        if m > REFIT_AT * self._fitted_to:
            self.model.learn(self.pairs, iterations=REFIT if self._fitted_to else FIRST_FIT)
            self._fitted_to = m
        elif m - added < MAX_LEARNED:
            self.model.learn(self.pairs, iterations=0)

    def _correct(self) -> None:
        """Correct the surrogate's estimate by its errors."""
        drawn = self._design.inclusion_probabilities(self.pairs.x[1:] > 0)
        probabilities = np.concatenate([[1.0], drawn])
        self.estimate = self.model.correct(self.pairs, probabilities)
        self._standing.set(
            self.estimate.estimates, self.estimate.covariance(), rare_contributions=self.model.rare_contributions
        )
        self._standing.interactions = self.model.interactions(self.pairs)

    def _bound(self) -> None:
        """Bound the contrasts that have to be shown, and set the growth of the sample by the width of the bounds."""
        self._analyses += 1
        problem, standing = self._problem, self._standing
        epsilon, delta = self.tolerance, problem.delta or DEFAULT_DELTA
        self._compare()
        if self.contrasts.count == 0:
            standing.bound = np.inf
            return
        level = share_of_delta(self._analyses) * (1.0 - UNSEEN_SHARE) * delta
        most = most_errors(problem.n_candidates, standing.rank_by)
        bounds = self.border.lower_bounds(epsilon, level, unseen_level=UNSEEN_SHARE * delta, most=most)
        standing.bound = float(bounds.min()) if self._posterior_agrees(epsilon, delta) else -np.inf
        self.growth = growth(self.border.gaps, bounds, epsilon)
        if standing.bound >= -epsilon:
            self.model.complete(standing)
        if problem.guarantee == "credible":
            self.model.show_posterior(standing)
            self._compare()

    def _compare(self) -> None:
        """Estimate the contrasts that have to be shown for the current top k."""
        problem, standing = self._problem, self._standing
        self.contrasts = contrasts_to_show(
            standing.ranking(), problem.k, standing.live_estimates, standing.rank_by, ordered=problem.ordered
        )
        self.border = self.estimate.border(self.contrasts)

    def _posterior_agrees(self, epsilon: float, delta: float) -> bool:
        """Return whether the posterior allows to stop; always if it is based on a part of the pairs only."""
        if len(self.pairs) > MAX_LEARNED:
            return True
        estimates, covariance, unit = self.model.posterior()
        return probability_of_error(estimates, covariance, self.contrasts, epsilon / unit) <= delta


def share_of_delta(analysis: int) -> float:
    """Return the share of delta that an analysis spends, numbered from 1; the shares of all analyses add up to 1.

    Examples
    --------
    >>> round(sum(share_of_delta(analysis) for analysis in range(1, 10_000)), 4)
    1.0
    """
    equal = 1.0 / (EQUAL_ANALYSES + 2.0)
    late = analysis - EQUAL_ANALYSES
    return equal if late <= 0 else 2.0 * equal / (late * (late + 1.0))


def growth(gaps: Matrix, bounds: Matrix, epsilon: float) -> float:
    """Return the growth of the sample until the next analysis: more while the bounds are far too wide."""
    times_too_wide = np.max((gaps - bounds) / np.maximum(gaps + epsilon, 1e-300))
    return float(np.clip(times_too_wide - 1.0, *GROWTH))


def probability_of_error(estimates: Values, covariance: Matrix, contrasts: Contrasts, epsilon: float) -> float:
    """Return the sum over all contrasts of the posterior probability that they are below -epsilon.

    The same sum as `core.stopping.credible.probability_of_larger_error`, but of the posterior before it is widened, and
    with a floor for the variance of a contrast instead of certainty where it is 0.
    """
    variance = contrasts.quadratic(covariance)
    gaps = contrasts.of(estimates) + epsilon
    return float(ndtr(-gaps / np.sqrt(np.maximum(variance, 1e-18))).sum())
