"""swap@k: which pair of players gets more comparisons, and in which strata."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from topshap.algorithms.swap.samples import Samples
from topshap.algorithms.swap.standing import SwapStanding
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.stopping import SeparatedBorder
from topshap.core.validation import check_int, front_door

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.samples import Comparisons, Key
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Values
    from topshap.statistics.ranking import RankBy

MIN_COMPARISONS, MORE_COMPARISONS = 4, 0.1
"""A selected pair gets at least this many new comparisons, or this fraction of those it has."""
LOOK_AHEAD = 8
"""The cost of a stratum is the mean number of evaluations of this many of its next comparisons."""
MIN_COST = 0.02
"""The cost of a comparison that takes no evaluation."""
BATCH_PER_PLAYER = 1.0 / 8.0
"""The smallest batch of a game with many players, in evaluations per player."""
DELTA = 0.05
"""The delta that guides a race for a fixed budget."""


class _Selection(NamedTuple):
    """The comparisons to add next."""

    rows: list[int]
    """The rows of their pairs in the standing."""
    comparisons: list[Comparisons]
    keys: list[Key]
    """The keys of the values that have to be evaluated for them."""


@front_door
class SwapAtK(Algorithm[SwapStanding]):
    """Compares players by swapping them against the same background set, mostly next to the border of the top k.

    Whether i beats j does not require their values: phi_i - phi_j is the mean over sizes s of the mean over sets S of
    size s without i and j of v(S + i) - v(S + j). Such a comparison takes two evaluations and varies far less than two
    marginal contributions, since both players meet the same set. The sets of each size have one random order for all
    pairs, so that pairs share evaluations; a pair that has gone through all of its sets is certain.

    After a first comparison of all players, the pair across the border with the lowest lower bound gets more
    comparisons, in the strata where they reduce its variance most per evaluation. The bounds are an asymptotic
    confidence sequence at level delta / (k (n - k)), which holds for all pairs and at all times together; it uses
    Student's quantiles and variances that stay positive when all comparisons are equal. With the guarantee ``"exact"``
    the bounds are an empirical Bernstein confidence sequence without replacement, which requires `value_range` and is
    not asymptotic.

    A jump that occurs in very few coalitions and is larger than any observed one defeats the asymptotic bounds, as it
    does for every algorithm that samples.

    Overhead per evaluation: O(k (n - k) + n^2), the latter from a system of n equations that is solved once for every
    n / 8 evaluations or more.

    Parameters
    ----------
    min_batch
        The smallest number of evaluations in a batch, to keep workers busy; batches are smaller only if the next
        comparisons of all undecided pairs take fewer evaluations.

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
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ()

    def __init__(self, *, min_batch: int = 1) -> None:
        self.min_batch = check_int("min_batch", min_batch, low=1)

    def standing(self, problem: Problem) -> SwapStanding:
        """Return the standing at the start of a race."""
        # With k = n there is no border; separating the upper half from the lower one compares all players.
        border = problem.k if problem.k < problem.n else problem.n // 2
        level = (problem.delta or DELTA) / max(1, border * (problem.n - border))
        exact = problem.guarantee == "exact"
        return SwapStanding(problem.tie_order, problem.gain, border, level, exact=exact, rank_by=problem.rank_by)

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule by which a race stops by itself."""
        if problem.guarantee == "credible" or problem.epsilon is None:
            return super().stopping_rule(problem)
        return SeparatedBorder(problem.epsilon, problem.guarantee)

    def rounds(self, problem: Problem, standing: SwapStanding) -> Rounds:
        """Compare all players, then the undecided pairs until everything is known."""
        if problem.n == 1:
            return
        samples = Samples(problem)
        yield Round(samples.coalitions(samples.first_keys()), partial(_start, samples, standing))
        while True:
            selected = self._select(problem, samples, standing)
            if not selected.comparisons:  # everything is known
                return
            add = partial(_add, samples, standing, selected)
            if selected.keys:
                yield Round(samples.coalitions(selected.keys), add)
            else:  # no evaluation is needed, so this is not a round
                add(np.empty(0))

    def _select(self, problem: Problem, samples: Samples, standing: SwapStanding) -> _Selection:
        """Select pairs, lowest bound first, until a batch is full or the first pair needs no evaluation."""
        batch = max(self.min_batch, int(BATCH_PER_PLAYER * problem.n))
        rows: list[int] = []
        comparisons: list[Comparisons] = []
        keys: dict[Key, None] = {}  # an ordered set
        for row in standing.undecided().tolist():
            for more in self._next_comparisons(problem, samples, standing, row):
                comparisons.append(more)
                keys.update(dict.fromkeys(samples.unknown(more.keys)))
            rows.append(row)
            if len(keys) >= batch or not keys:
                break
        return _Selection(rows, comparisons, list(keys))

    def _next_comparisons(
        self, problem: Problem, samples: Samples, standing: SwapStanding, row: int
    ) -> list[Comparisons]:
        """Return the next comparisons of a pair, where they reduce its variance most per evaluation."""
        i, j = standing.pairs[row].tolist()
        counts = samples.counts(i, j)
        left = samples.population.sizes - counts
        more = max(MIN_COMPARISONS, int(MORE_COMPARISONS * counts.sum()))
        if problem.guarantee == "exact":  # the exact bounds use equally many comparisons from all strata
            variances, costs = np.ones(len(counts)), np.ones(len(counts))
            more = max(more, int((left > 0).sum()))
        else:
            variances = samples.population.weights**2 * standing.differences.stratum_variances[row]
            costs = np.array([_cost(samples, i, j, g) if left[g] > 0 else 1.0 for g in range(len(counts))])
        shares = allocate(more, variances, counts, left, costs)
        return [samples.next_comparisons(i, j, g, count) for g, count in enumerate(shares.tolist()) if count > 0]


def _start(samples: Samples, standing: SwapStanding, values: Values) -> None:
    """Add the values of the first round."""
    if len(values) > 0:
        samples.add_first(values)
        standing.start(samples.first_estimates(), samples)


def _add(samples: Samples, standing: SwapStanding, selected: _Selection, values: Values) -> None:
    """Add the values of a later round; comparisons whose values are all known count even if the budget ends in it."""
    samples.add(selected.comparisons, selected.keys, values)
    standing.learn(selected.rows, samples)


def _cost(samples: Samples, i: int, j: int, stratum: int) -> float:
    """Return the mean number of evaluations of the next comparisons in a stratum."""
    ahead = samples.next_comparisons(i, j, stratum, LOOK_AHEAD)
    return max(MIN_COST, len(samples.unknown(ahead.keys)) / len(ahead.positions))


def allocate(count: int, variances: Values, counts: Values, left: Values, costs: Values) -> NDArray[np.intp]:
    """Allocate comparisons to strata such that the variance of the difference falls most per evaluation.

    One more than m comparisons reduce the contribution u / m of a stratum to u / (m + 1). Strata without a comparison
    come first.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> allocate(5, np.array([1.0, 4.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.array([9.0, 9.0, 9.0]), ones)
    array([1, 2, 2])
    """
    have = counts[:, None] + np.arange(count)
    reductions = variances[:, None] / np.maximum(have * (have + 1.0), 1.0) / costs[:, None]
    reductions = np.where(have == 0, np.inf, reductions)
    reductions = np.where(np.arange(count) < left[:, None], reductions, -1.0).ravel()
    best = np.argsort(-reductions, kind="stable")[:count]
    return np.bincount(best[reductions[best] >= 0.0] // count, minlength=len(counts))
