"""Differences of Shapley values, estimated from comparisons of many pairs: rows are pairs, columns are strata."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.confidence_sequences import asymptotic_multiplier, student_multiplier
from topshap.statistics.variance_floor import RELATIVE_ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.moments import Moments
    from topshap.core.typing import Matrix, Values

PRIOR_COUNT = 6.0
"""The number of comparisons that the prior variance of a pair counts as."""
MAX_EXPECTED_COUNT = 50.0
"""The expected variance of a pair counts as at most this many comparisons, see `expected_variances`."""
POOLED_COUNT = 2.0
"""The number of comparisons that the pooled variance of a pair counts as in each of its strata."""
FREEDOM_PER_JUMP = 4.0
"""The degrees of freedom contributed by each effective jump among the comparisons of a pair."""


@dataclass(frozen=True)
class Population:
    """The strata that comparisons are sampled from."""

    weights: Values
    """The weight of each stratum in phi_i - phi_j; they add up to 1."""
    sizes: Values
    """The number of comparisons of a pair in each stratum; infinite where they may occur repeatedly."""
    least_jump: float
    """The size of a jump that may have been missed while none has been seen; 0 if there is no such prior."""


class Differences:
    """Estimates of phi_i - phi_j, with variances and confidence bounds.

    For a stratum of weight w with m of its N comparisons known, let SS be their sum of squares around their mean. Then

        D = sum of w mean,   Var D = sum of w^2 (1 / m - 1 / N) u,   u = (SS + 2 pool) / (m + 1).

    The variance u of a stratum is shrunk towards the variance of the pair pooled over strata, that towards the variance
    expected for its two players (see `expected_variances`), and a prior is added:

        pool = (freedom pooled + w expected) / (freedom + w) + 6 prior / (freedom + 6),
        prior = between + J^2 / (t + 1).

    Here w is the number of comparisons that the expectation is worth, t the number of comparisons of the pair,
    `between` the variance between neighbouring strata, and J the size of a jump that may have been missed, as if it
    occurred in one of t + 1 comparisons. A pair whose few comparisons happen to be equal is therefore not certain; a
    pair all of whose comparisons are known is.

    J is the size of the jumps seen so far: the root of fourth / second moment, of the pair and, if it has shown few
    jumps, of all pairs. If a fraction p of all comparisons were off by J, a sample of t would contain none of them with
    probability about exp(-p t). At a given level p is therefore at most ln(1 / level) / t, and the estimate is off by
    at most J times that, whatever its variance.
    """

    def __init__(self, moments: Moments, population: Population, pairs: NDArray[np.intp]) -> None:
        weights, sizes, m = population.weights, population.sizes, moments.counts
        self.counts: Values = m.sum(axis=1)
        """The number of comparisons of each pair."""
        self.complete: NDArray[np.bool_] = np.all(m > 0, axis=1)
        """Whether there is a comparison in every stratum."""
        self.exhausted: NDArray[np.bool_] = np.all(m >= sizes, axis=1)
        """Whether all comparisons are known, so that the difference is certain."""
        sampled = np.where(m > 0, weights, 0.0)
        sampled_weight = np.maximum(sampled.sum(axis=1), weights.min())
        share = sampled / sampled_weight[:, None]
        self.estimates: Values = (moments.means * share).sum(axis=1)
        self._jumps, hits = self._jump_sizes(moments, population)
        jumps = np.where(self.exhausted, 0.0, self._jumps)
        self._unseen, self._unseen_at_most = unseen_fractions(m, population)
        freedom = np.maximum(m - 1.0, 0.0).sum(axis=1)
        pooled = moments.squares.sum(axis=1) / np.maximum(freedom, 1.0)
        prior = moments.between + jumps**2 / (self.counts + 1.0)
        expected, worth = expected_variances(pooled, freedom, pairs)
        pool = (freedom * pooled + worth * expected) / (freedom + worth)
        pool += PRIOR_COUNT * prior / (freedom + PRIOR_COUNT)
        at_least_one = np.maximum(m, 1.0)
        in_stratum = moments.squares + POOLED_COUNT * pool[:, None]
        self.stratum_variances: Matrix = in_stratum / (at_least_one + POOLED_COUNT - 1.0)
        """The variance of a comparison in each stratum."""
        parts = share**2 * np.maximum(1.0 / at_least_one - 1.0 / sizes, 0.0) * self.stratum_variances
        not_sampled = np.maximum(1.0 - sampled_weight, 0.0) ** 2 * (pool + prior)
        self.variances: Values = np.maximum(parts.sum(axis=1) + not_sampled, (jumps * self._unseen) ** 2)
        """The variances of the estimates."""
        left = np.maximum(freedom - moments.parameters, 0.0) + worth
        at_most = worth + FREEDOM_PER_JUMP * hits
        self.freedom: Values = np.clip(degrees_of_freedom(parts, m, left), 1.0, at_most)
        """The degrees of freedom of the variances."""

    def _jump_sizes(self, moments: Moments, population: Population) -> tuple[Values, Values]:
        """Return the size of a jump that each pair may have missed, and the effective number of jumps it has shown."""
        second, fourth = moments.second, moments.fourth
        squares = self.estimates**2
        varied = second > RELATIVE_ZERO * max(second.max(initial=0.0), squares.max(initial=0.0))
        hits = np.zeros(len(second))
        hits[varied] = self.counts[varied] * second[varied] ** 2 / fourth[varied]
        own = np.zeros(len(second))
        own[varied] = fourth[varied] / second[varied]
        of_all = fourth[varied].sum() / second[varied].sum() if varied.any() else 0.0
        of_all = max(of_all, squares.mean()) or population.least_jump**2
        return np.sqrt((hits * own + of_all) / (hits + 1.0)), hits

    @property
    def scale_unknown(self) -> bool:
        """Whether no comparison has differed from zero and no prior says how large a jump may be."""
        return not self._jumps.any()

    def half_widths(self, level: float) -> Values:
        """Return the half-widths of lower bounds that hold at all times together with probability 1 - level.

        Examples
        --------
        >>> from topshap.algorithms.swap.moments import Moments
        >>> comparisons = np.random.default_rng(0).normal(size=(1, 4, 25))
        >>> population = Population(weights=np.full(4, 0.25), sizes=np.full(4, np.inf), least_jump=1.0)
        >>> Differences(Moments.of_array(comparisons), population, np.array([[0, 1]])).half_widths(0.05).round(2)
        array([0.27])
        """
        normal = asymptotic_multiplier(self.counts, level)
        width = student_multiplier(normal, self.freedom) * np.sqrt(self.variances)
        missed = np.minimum(math.log(1.0 / level) * self._unseen, self._unseen_at_most)
        width = np.maximum(width, self._jumps * missed)
        unknown = ~self.complete | self.scale_unknown
        return np.where(self.exhausted, 0.0, np.where(unknown, np.inf, width))


def expected_variances(pooled: Values, freedom: Values, pairs: NDArray[np.intp]) -> tuple[Values, float]:
    """Return the variance expected for the players of each pair, and the number of comparisons it is worth.

    The variance of a comparison of (i, j) depends mostly on i and on j: with a_i the variance of all pairs of i
    together, and a that of all pairs, a_i a_j / a is expected. The observed variances scatter around it by 2 / freedom,
    as chi-squares do, and by more if the expectation is poor. If that excess is 2 / w, the expectation is worth w
    comparisons, at least as many as the prior. Where there are too few pairs to tell, each pair keeps its own variance.

    Examples
    --------
    >>> pairs = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    >>> expected_variances(np.array([1.0, 2.0, 2.0, 4.0]), np.full(4, 20.0), pairs)[0].round(2)
    array([1., 2., 2., 4.])
    """
    n_players = int(pairs.max(initial=-1)) + 1
    squares = pooled * freedom
    total = float(squares.sum())
    if total <= 0.0:
        return np.zeros(len(pooled)), PRIOR_COUNT
    overall = total / float(freedom.sum())
    of_player, seen = (
        np.bincount(pairs.ravel(), weights=np.repeat(each, 2), minlength=n_players) for each in (squares, freedom)
    )
    player = np.where(seen > 0.0, of_player / np.maximum(seen, 1.0), overall)
    expected: Values = player[pairs[:, 0]] * player[pairs[:, 1]] / overall
    known = (freedom > 0.0) & (expected > 0.0)
    spare = int(known.sum()) - len(np.unique(pairs[known]))
    if spare <= 0:  # no more pairs than players
        return pooled, PRIOR_COUNT
    scatter = freedom[known] * (pooled[known] / expected[known] - 1.0) ** 2
    excess = (scatter.sum() / spare - 2.0) / freedom[known].mean()
    return expected, PRIOR_COUNT if excess >= 2.0 / PRIOR_COUNT else min(2.0 / max(excess, 1e-9), MAX_EXPECTED_COUNT)


def degrees_of_freedom(parts: Matrix, counts: Matrix, of_pool: Values) -> Values:
    """Return Satterthwaite's degrees of freedom of variances that are sums of one part per stratum.

    The part p of a stratum with m comparisons has weight (m - 1) / (m + 1) on its own m - 1 degrees of freedom, and the
    remaining weight on those of the pool that all strata share:

        (sum of p)^2 / (sum of p^2 (m - 1) / (m + 1)^2 + (sum of 2 p / (m + 1))^2 / freedom of the pool).
    """
    own = np.maximum(counts - 1.0, 0.0)
    shrunk = np.maximum(counts, 1.0) + POOLED_COUNT - 1.0
    uncertain = (parts**2 * own / shrunk**2).sum(axis=1) + (POOLED_COUNT * parts / shrunk).sum(axis=1) ** 2 / of_pool
    total = parts.sum(axis=1)
    known = uncertain > 0.0
    return np.where(known, total**2, of_pool) / np.where(known, uncertain, 1.0)


def unseen_fractions(counts: Matrix, population: Population) -> tuple[Values, Values]:
    """Return the fraction of all comparisons that an unseen jump may affect at most, and the fraction not yet drawn.

    If a fraction p of the N comparisons of a stratum are jumps, none of them is among m drawn without replacement with
    probability (1 - m / N)^(p N), as if -N ln(1 - m / N) comparisons had been drawn with replacement. The first
    fraction is one jump in that many comparisons.
    """
    sizes = population.sizes
    left = counts < sizes
    finite = np.where(np.isfinite(sizes), sizes, 1.0)
    drawn = np.where(left & np.isfinite(sizes), counts / finite, 0.0)
    effective = np.where(np.isfinite(sizes), -finite * np.log1p(-np.minimum(drawn, 1.0 - 1e-15)), counts)
    open_weight = np.where(left, population.weights, 0.0)
    rate = open_weight.sum(axis=1) / np.maximum(np.where(left, effective, 0.0).sum(axis=1), 1.0)
    return rate, (open_weight * (1.0 - drawn)).sum(axis=1)
