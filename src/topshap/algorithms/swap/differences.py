"""Differences of Shapley values, from players that were swapped in the same company.

    phi_i - phi_j = mean over s = 0 .. n-2 of the mean over sets S of size s without i and j of v(S + i) - v(S + j)

One such comparison is a *unit*. The units of a size, or of a few neighbouring sizes, are a stratum; a pair samples each
of its strata without replacement. Everything here is about many pairs at once: a row a pair, a column a stratum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.confidence_sequences import asymptotic_multiplier, student_multiplier
from topshap.statistics.variance_floor import RELATIVE_ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values

PRIOR_UNITS = 6.0
"""How many units the prior variance of a pair counts as."""
MOST_UNITS = 50.0
"""The variance that a pair's players make one expect counts as at most so many."""
POOLED_UNITS = 2.0
"""How many units the variance over all strata of a pair counts as in each of them."""
FREEDOM_OF_A_JUMP = 4.0
"""Degrees of freedom that each effective jump among the units of a pair is worth."""


@dataclass
class UnitMoments:
    """What the units of each pair come to."""

    counts: Matrix
    """How many units, per pair and stratum."""
    means: Matrix
    """Their means, 0 where there are none."""
    squares: Matrix
    """Their sums of squared deviations from these means."""
    between: Values
    """Half the mean squared difference of neighbouring strata: what the variance would be from one unit in each."""
    second: Values
    """The mean square of all units of a pair, around their mean."""
    fourth: Values
    """The mean fourth power of all units of a pair, around their mean."""
    parameters: Values
    """How many parameters a regression has used up."""

    @classmethod
    def of_units(cls, units: NDArray[np.float64]) -> UnitMoments:
        """Return the moments of an array (pairs, strata, units) with nan where there is none.

        Examples
        --------
        >>> moments = UnitMoments.of_units(np.array([[[1.0, 3.0], [5.0, np.nan]]]))
        >>> moments.counts, moments.means, moments.squares, moments.between
        (array([[2., 1.]]), array([[2., 5.]]), array([[2., 0.]]), array([4.5]))
        """
        there = ~np.isnan(units)
        counts = there.sum(axis=2).astype(np.float64)
        filled = np.where(there, units, 0.0)
        means = filled.sum(axis=2) / np.maximum(counts, 1.0)
        squares = (np.where(there, filled - means[:, :, None], 0.0) ** 2).sum(axis=2)
        total = np.maximum(counts.sum(axis=1), 1.0)
        centre = filled.sum(axis=(1, 2)) / total
        powers = np.where(there, filled - centre[:, None, None], 0.0) ** 2
        second, fourth = (p.sum(axis=(1, 2)) / total for p in (powers, powers**2))
        return cls(counts, means, squares, between_neighbours(counts, means), second, fourth, np.zeros(len(units)))

    @classmethod
    def of_sample(cls, units: Values, strata: NDArray[np.intp], n_strata: int) -> UnitMoments:
        """Return the moments of the units of one pair, each with the stratum that it belongs to."""
        counts = np.bincount(strata, minlength=n_strata).astype(np.float64)
        means = np.bincount(strata, weights=units, minlength=n_strata) / np.maximum(counts, 1.0)
        squares = np.bincount(strata, weights=(units - means[strata]) ** 2, minlength=n_strata).astype(np.float64)
        powers = (units - units.mean()) ** 2
        between = between_neighbours(counts[None], means[None])
        second, fourth = np.array([powers.mean()]), np.array([(powers**2).mean()])
        return cls(counts[None], means[None], squares[None], between, second, fourth, np.zeros(1))

    def extend(self, other: UnitMoments) -> None:
        """Add the rows of further pairs."""
        for name, rows in vars(other).items():
            setattr(self, name, np.concatenate([getattr(self, name), rows]))

    def replace(self, row: int, other: UnitMoments) -> None:
        """Put another pair, or the same with more units, into a row."""
        for name, rows in vars(other).items():
            getattr(self, name)[row] = rows[0]


def between_neighbours(counts: Matrix, means: Matrix) -> Values:
    """Return half the mean squared difference of neighbouring strata that both have units."""
    both = (counts[:, 1:] > 0) & (counts[:, :-1] > 0)
    steps = np.where(both, np.diff(means, axis=1), 0.0) ** 2 / 2.0
    between: Values = steps.sum(axis=1) / np.maximum(both.sum(axis=1), 1)
    return between


@dataclass(frozen=True)
class Population:
    """What is known of the strata beforehand."""

    weights: Values
    """The weight of each stratum in phi_i - phi_j; together 1."""
    sizes: Values
    """How many units a pair has in each stratum; infinite where units may come again."""
    least_jump: float
    """How large a jump may be while none was seen; 0 if nothing is known of that."""


class SwapDifferences:
    """Estimates of phi_i - phi_j, with what there is to know about their errors.

    With m of N units in a stratum of weight w, their mean and their sum of squares SS,

        D = sum of w mean,   Var D = sum of w^2 (1 / m - 1 / N) u,   u = (SS + 2 pool) / (m + 1).

    The variance u of a stratum is shrunk to that of all strata of the pair, that to what the pair's players make one
    expect (see `expected_variances`), and a prior is added:

        pool = (freedom pooled + w expected) / (freedom + w) + 6 prior / (freedom + 6),
        prior = between + J^2 / (t + 1),

    with t the units of the pair in all, `between` from the steps between neighbouring strata, and J a jump that may
    have been missed, as if it came in one of t + 1 units. So a pair whose few units happen to be equal does not look
    certain; one whose strata are exhausted is certain.

    J is as large as the jumps seen: the root of fourth / second moment, of the pair and, the fewer jumps it has shown,
    of all pairs. If a part p of all units were off by J, none of them would be among t units with a probability of
    about exp(-p t): at a given level p is at most ln(1 / level) / t, and the estimate off by J times that, whatever its
    variance.
    """

    def __init__(self, moments: UnitMoments, population: Population, pairs: NDArray[np.intp]) -> None:
        weights, sizes, m = population.weights, population.sizes, moments.counts
        self.units: Values = m.sum(axis=1)
        self.complete: NDArray[np.bool_] = np.all(m > 0, axis=1)
        """Whether there is a unit in every stratum."""
        self.exhausted: NDArray[np.bool_] = np.all(m >= sizes, axis=1)
        """Whether all units are known, so that there is nothing left to be unsure of."""
        heard = np.where(m > 0, weights, 0.0)
        in_all = np.maximum(heard.sum(axis=1), weights.min())
        share = heard / in_all[:, None]
        self.estimates: Values = (moments.means * share).sum(axis=1)
        self._jumps, hits = self._jump_sizes(moments, population)
        jumps = np.where(self.exhausted, 0.0, self._jumps)
        self._unseen, self._unseen_at_most = unseen_parts(m, population)
        freedom = np.maximum(m - 1.0, 0.0).sum(axis=1)
        pooled = moments.squares.sum(axis=1) / np.maximum(freedom, 1.0)
        prior = moments.between + jumps**2 / (self.units + 1.0)
        expected, worth = expected_variances(pooled, freedom, pairs)
        pool = (freedom * pooled + worth * expected) / (freedom + worth)
        pool += PRIOR_UNITS * prior / (freedom + PRIOR_UNITS)
        at_least_one = np.maximum(m, 1.0)
        in_stratum = moments.squares + POOLED_UNITS * pool[:, None]
        self.unit_variances: Matrix = in_stratum / (at_least_one + POOLED_UNITS - 1.0)
        """The variance of a unit in each stratum."""
        parts = share**2 * np.maximum(1.0 / at_least_one - 1.0 / sizes, 0.0) * self.unit_variances
        unheard = np.maximum(1.0 - in_all, 0.0) ** 2 * (pool + prior)
        self.variances: Values = np.maximum(parts.sum(axis=1) + unheard, (jumps * self._unseen) ** 2)
        left = np.maximum(freedom - moments.parameters, 0.0) + worth
        at_most = worth + FREEDOM_OF_A_JUMP * hits
        self.freedom: Values = np.clip(degrees_of_freedom(parts, m, left), 1.0, at_most)
        """The degrees of freedom that the variances are known with."""

    def _jump_sizes(self, moments: UnitMoments, population: Population) -> tuple[Values, Values]:
        """Return for each pair the size of a jump that may have been missed, and how many jumps it has shown."""
        second, fourth = moments.second, moments.fourth
        squares = self.estimates**2
        varied = second > RELATIVE_ZERO * max(second.max(initial=0.0), squares.max(initial=0.0))
        hits = np.zeros(len(second))
        hits[varied] = self.units[varied] * second[varied] ** 2 / fourth[varied]
        own = np.zeros(len(second))
        own[varied] = fourth[varied] / second[varied]
        of_all = fourth[varied].sum() / second[varied].sum() if varied.any() else 0.0
        of_all = max(of_all, squares.mean()) or population.least_jump**2
        return np.sqrt((hits * own + of_all) / (hits + 1.0)), hits

    @property
    def silent(self) -> bool:
        """Whether nothing has shown any difference, and nothing says how large one may be."""
        return not self._jumps.any()

    def half_widths(self, level: float) -> Values:
        """Return how far below its estimate each difference may be, at any time, with probability 1 - level.

        Examples
        --------
        >>> units = np.random.default_rng(0).normal(size=(1, 4, 25))
        >>> population = Population(weights=np.full(4, 0.25), sizes=np.full(4, np.inf), least_jump=1.0)
        >>> SwapDifferences(UnitMoments.of_units(units), population, np.array([[0, 1]])).half_widths(0.05).round(2)
        array([0.27])
        """
        normal = asymptotic_multiplier(self.units, level)
        width = student_multiplier(normal, self.freedom) * np.sqrt(self.variances)
        missed = np.minimum(math.log(1.0 / level) * self._unseen, self._unseen_at_most)
        width = np.maximum(width, self._jumps * missed)
        unknown = ~self.complete | self.silent
        return np.where(self.exhausted, 0.0, np.where(unknown, np.inf, width))


def expected_variances(pooled: Values, freedom: Values, pairs: NDArray[np.intp]) -> tuple[Values, float]:
    """Return the variance that the players of each pair make one expect, and how many units that is worth.

    How much a unit of (i, j) varies depends mostly on i and on j: with a_i the variance of all pairs of i together and
    a that of all pairs, a_i a_j / a is expected. The variances that were found scatter around it by 2 / freedom, as
    chi-squares do, and by more the less it says. If that excess is 2 / w, it is worth w units; at least as many as the
    prior, which is also the answer where there are too few pairs to tell.

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
        return np.zeros(len(pooled)), PRIOR_UNITS
    overall = total / float(freedom.sum())
    of_player, seen = (
        np.bincount(pairs.ravel(), weights=np.repeat(each, 2), minlength=n_players) for each in (squares, freedom)
    )
    player = np.where(seen > 0.0, of_player / np.maximum(seen, 1.0), overall)
    expected: Values = player[pairs[:, 0]] * player[pairs[:, 1]] / overall
    known = (freedom > 0.0) & (expected > 0.0)
    spare = int(known.sum()) - len(np.unique(pairs[known]))
    if spare <= 0:  # as many players as pairs: each pair's own variance is all there is
        return pooled, PRIOR_UNITS
    scatter = freedom[known] * (pooled[known] / expected[known] - 1.0) ** 2
    excess = (scatter.sum() / spare - 2.0) / freedom[known].mean()
    return expected, PRIOR_UNITS if excess >= 2.0 / PRIOR_UNITS else min(2.0 / max(excess, 1e-9), MOST_UNITS)


def degrees_of_freedom(parts: Matrix, counts: Matrix, of_pool: Values) -> Values:
    """Return Satterthwaite's degrees of freedom of a variance that is the sum of the parts of all strata.

    A part p with m units rests on its own m - 1 to (m - 1) / (m + 1), and for the rest on the pool that it shares:

        (sum of p)^2 / (sum of p^2 (m - 1) / (m + 1)^2 + (sum of 2 p / (m + 1))^2 / freedom of the pool).
    """
    own = np.maximum(counts - 1.0, 0.0)
    shrunk = np.maximum(counts, 1.0) + POOLED_UNITS - 1.0
    uncertain = (parts**2 * own / shrunk**2).sum(axis=1) + (POOLED_UNITS * parts / shrunk).sum(axis=1) ** 2 / of_pool
    total = parts.sum(axis=1)
    known = uncertain > 0.0
    return np.where(known, total**2, of_pool) / np.where(known, uncertain, 1.0)


def unseen_parts(counts: Matrix, population: Population) -> tuple[Values, Values]:
    """Return which part of all units a jump may be that about one more unit would show, and which part is unseen.

    If a part p of the N units of a stratum are jumps, none of them is among m drawn without replacement with
    probability (1 - m / N)^(p N): as if -N ln(1 - m / N) units had been drawn with replacement.
    """
    sizes = population.sizes
    left = counts < sizes
    finite = np.where(np.isfinite(sizes), sizes, 1.0)
    drawn = np.where(left & np.isfinite(sizes), counts / finite, 0.0)
    effective = np.where(np.isfinite(sizes), -finite * np.log1p(-np.minimum(drawn, 1.0 - 1e-15)), counts)
    open_weight = np.where(left, population.weights, 0.0)
    rate = open_weight.sum(axis=1) / np.maximum(np.where(left, effective, 0.0).sum(axis=1), 1.0)
    return rate, (open_weight * (1.0 - drawn)).sum(axis=1)
