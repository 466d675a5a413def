"""swap@k: players compared by swapping them, until the border of the top k is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.algorithms.legacy import as_rounds
from topshap.algorithms.swap.samples import Plan, SwapUnits
from topshap.algorithms.swap.standing import SwapStanding
from topshap.core.algorithm import Algorithm, Problem, Rounds
from topshap.core.stopping import SeparatedBorder
from topshap.core.validation import check_int, front_door

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Values
    from topshap.statistics.ranking import RankBy

LEAST_UNITS, MORE_UNITS = 4, 0.1
"""A pair that is looked at again gets at least so many units, or this part of those it has."""
LOOK_AHEAD = 8
"""How many of its next units say what a stratum costs."""
LEAST_COST = 0.02
"""A unit that takes no evaluation at all counts as this many."""
BATCH_PER_PLAYER = 1.0 / 8.0
"""Games of many players ask for at least so many evaluations at once, per player."""
DELTA = 0.05
"""The delta by which evaluations are shared out in a race for a fixed budget."""


@front_door
class SwapAtK(Algorithm[SwapStanding]):
    """Compares players by swapping them in the same company, most where the border of the top k is in doubt.

    Whether i beats j needs neither of their values: phi_i - phi_j is the mean over sizes s of the mean over sets S of
    size s without both of v(S + i) - v(S + j). Both are seen in the very same company, which takes two evaluations and
    varies far less than two marginal contributions. The sets of each size stand in one random order for all pairs,
    so that pairs share evaluations; a pair that has gone through all of its sets is certain.

    After a first comparison of everybody, the pair across the border with the lowest lower bound gets more units, in
    the strata where its variance falls most for a new evaluation. The bounds are an asymptotic confidence sequence at
    the level delta / (k (n - k)), with Student's quantiles and variances that no row of equal units brings to zero:
    pairs and looks are paid for. With the guarantee ``"exact"`` they are an empirical Bernstein confidence sequence
    without replacement, which needs the `value_range` and has no asymptotics.

    A jump that occurs in very few coalitions, and is larger than any that was seen, defeats the asymptotic bounds, as
    it does everything that samples.

    Overhead per evaluation: O(k (n - k) + n^2), the latter from a system of n equations that is solved once for every
    n / 8 evaluations or more.

    Parameters
    ----------
    min_batch
        The least number of evaluations in a batch, so that workers are kept busy; fewer only where the next units of
        all pairs in doubt take fewer.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3, 4]], [2.0, 1.0, 3.0], n_players=12)
    >>> top = topshap.identify(game, k=2, epsilon=0.1, algorithm=SwapAtK(), random_state=0)
    >>> top.players, top.stopped
    (array([0, 2]), 'confident')
    """

    name: ClassVar[str] = "swap@k"
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("asymptotic", "credible", "exact")
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)

    def __init__(self, *, min_batch: int = 1) -> None:
        self.min_batch = check_int("min_batch", min_batch, low=1)

    def standing(self, problem: Problem) -> SwapStanding:
        """Return the standing at the start of a race."""
        # If everybody is asked for there is no border; telling one half from the other compares all.
        border = problem.k if problem.k < problem.n else problem.n // 2
        pairs = max(1, border * (problem.n - border))
        exact = problem.guarantee == "exact"
        return SwapStanding(problem.tie_order, problem.gain, border, (problem.delta or DELTA) / pairs, exact=exact)

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule by which a race stops by itself."""
        if problem.guarantee == "credible" or problem.epsilon is None:
            return super().stopping_rule(problem)
        return SeparatedBorder(problem.epsilon, problem.guarantee)

    def rounds(self, problem: Problem, standing: SwapStanding) -> Rounds:
        """Yield rounds."""
        return as_rounds(self._generate(problem, standing))

    def _generate(self, problem: Problem, standing: SwapStanding) -> Any:
        """Compare everybody, then the pair across the border that is most in doubt."""
        if problem.n == 1:
            return
        units = SwapUnits(problem)
        lasted = yield from units.compare_everybody()
        if units.nothing_known:
            return
        standing.start(units.guess(), units)
        while lasted:
            rows, plans = self._plan(problem, units, standing)
            if not plans:  # everything is known
                return
            lasted = yield from units.take(plans)
            standing.learn(rows, units)

    def _plan(self, problem: Problem, units: SwapUnits, standing: SwapStanding) -> tuple[list[int], list[Plan]]:
        """Return the rows of the pairs most in doubt, and the units they get."""
        enough = max(self.min_batch, int(BATCH_PER_PLAYER * problem.n))
        rows: list[int] = []
        plans: list[Plan] = []
        unpaid: set[bytes] = set()
        for row in standing.doubtful().tolist():
            for plan in self._next_units(problem, units, standing, row):
                plans.append(plan)
                unpaid.update(units.unpaid(plan))
            rows.append(row)
            if len(unpaid) >= enough or not unpaid:  # what takes no evaluation is taken at once
                break
        return rows, plans

    def _next_units(self, problem: Problem, units: SwapUnits, standing: SwapStanding, row: int) -> list[Plan]:
        """Return the next units of a pair, where they bring its variance down most for a new evaluation."""
        i, j = standing.pairs[row].tolist()
        pair = (i, j)
        counts = units.counts(pair)
        left = units.population.sizes - counts
        more = max(LEAST_UNITS, int(MORE_UNITS * counts.sum()))
        if problem.guarantee == "exact":  # its bounds use the same number of units from all strata
            variances, costs = np.ones(len(counts)), np.ones(len(counts))
            more = max(more, int((left > 0).sum()))
        else:
            variances = units.population.weights**2 * standing.differences.unit_variances[row]
            costs = np.array([self._cost(units, pair, g) if left[g] > 0 else 1.0 for g in range(len(counts))])
        shares = allocate(more, variances, counts, left, costs)
        return [units.next_of(pair, g, count) for g, count in enumerate(shares.tolist()) if count > 0]

    def _cost(self, units: SwapUnits, pair: tuple[int, int], stratum: int) -> float:
        ahead = units.next_of(pair, stratum, LOOK_AHEAD)
        return max(LEAST_COST, len(units.unpaid(ahead)) / len(ahead.positions))


def allocate(count: int, variances: Values, counts: Values, left: Values, costs: Values) -> NDArray[np.intp]:
    """Share units among strata so that the variance of the difference falls most for what they cost.

    One more than m units in a stratum of variance u bring u / m down to u / (m + 1). Where there is no unit yet, that
    is from infinity.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> allocate(5, np.array([1.0, 4.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.array([9.0, 9.0, 9.0]), ones)
    array([1, 2, 2])
    """
    have = counts[:, None] + np.arange(count)
    falls = variances[:, None] / np.maximum(have * (have + 1.0), 1.0) / costs[:, None]
    falls = np.where(have == 0, np.inf, falls)
    falls = np.where(np.arange(count) < left[:, None], falls, -1.0).ravel()
    best = np.argsort(-falls, kind="stable")[:count]
    return np.bincount(best[falls[best] >= 0.0] // count, minlength=len(counts))
