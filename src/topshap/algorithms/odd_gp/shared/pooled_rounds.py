"""Rounds of the shared odd-gp for many small games with different players, whose hyper-parameters are fitted together.

Rows of a table that are explained with one background row have different known dummies, so they do not play the same
players, and each group of rows with the same players is small. Fitting the hyper-parameters of a group costs more than
everything else. So each group has its own coalitions and its own posterior, while the hyper-parameters are fitted to
all groups together (`pooled_fitting`). All groups are evaluated at the same time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.active import most_informative
from topshap.algorithms.odd_gp.designs import all_pairs, drop_used, first_design, unused_pairs
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.regime import SINGLES_FIRST_BELOW
from topshap.algorithms.odd_gp.shared.borders import pooled_contrasts
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.shared.logits import LogitStack
from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
from topshap.algorithms.odd_gp.shared.pooled_fitting import PooledGame, fit_pooled
from topshap.algorithms.odd_gp.shared.process import SharedProcess, rows_to_fit
from topshap.algorithms.odd_gp.shared.rounds import CANDIDATES, FIRST_DESIGN, REFIT, from_ends
from topshap.core.coalitions import with_complements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from topshap.algorithms.odd_gp.shared.pooled_fitting import PooledFit
    from topshap.core.typing import Coalitions, Matrix, Players
    from topshap.statistics.ranking import RankBy

FEW_PAIRS = 60
"""Plans differ below and above this number of pairs, see `plan_of`."""
FIRST_FIT = 12
"""The largest number of iterations of the first fit to all groups. With 25, errors change by less than 3%."""
LISTED_UP_TO = 11
"""Up to this number of players, the candidates of a batch are drawn from all pairs that are left."""


class PooledRequest(NamedTuple):
    """The coalitions to evaluate for each group, and the function that takes their values."""

    coalitions: list[Coalitions]
    """For each group, coalitions of its own players; none if it needs no more."""
    add: Callable[[Sequence[Matrix]], None]
    """Takes the values of the coalitions of each group, of shape (m, outputs of the group)."""


class Group:
    """The game of one group of outputs.

    Parameters
    ----------
    players
        The players of this game among all players.
    k
        The size of the top.
    budget
        The number of evaluations, with those of the empty and of the grand coalition; at least 2 n + 2, or enough for
        all coalitions.
    rng
        Draws the pairs.
    rank_by
        The order of the players.
    """

    def __init__(self, players: Players, k: int, budget: int, rng: np.random.Generator, rank_by: RankBy) -> None:
        self.players, self._k, self._rng, self._rank_by = players, k, rng, rank_by
        n = len(players)
        existing = 2 ** (n - 1) - 1
        self.n_pairs = min((budget - 2) // 2, existing)
        """The number of pairs that the budget is for."""
        self.exact = self.n_pairs == existing
        """Whether these are all pairs of the game."""
        self.pairs: SharedPairs
        self.process = SharedProcess(rng)
        self.estimate: SharedEstimate
        """The estimate from all values added so far."""

    def start(self, design: Coalitions, values: Matrix) -> None:
        """Take the values of the empty and the grand coalition and of the first design."""
        self.pairs = SharedPairs(len(self.players), values[:2])
        self.estimate = from_ends(self.pairs)
        self.pairs.add(design, values[2:])
        if self.exact:
            self.estimate = _exact_estimate(self.pairs)

    def choose(self, batches: int, drawn: dict[int, Coalitions]) -> Coalitions:
        """Return the pairs that reduce the risk of a wrong top k most, for the first of the remaining batches.

        Candidates are drawn once for all groups with the same number of players, and kept in `drawn` by that number.
        """
        n, estimate = len(self.players), self.estimate
        count = (self.n_pairs + 1 - len(self.pairs)) // batches
        contrasts = pooled_contrasts(estimate.values, estimate.covariance, estimate.factors, self._k, self._rank_by)
        most = max(CANDIDATES, 3 * count)
        if n <= LISTED_UP_TO:
            x = self.pairs.unobserved()
            x = x[self._rng.permutation(len(x))[:most]] if len(x) > most else x
        else:
            used = self.pairs.keys()
            if n not in drawn:
                drawn[n] = unused_pairs(n, (), most, self._rng)
            found = drop_used(drawn[n], used)
            if len(found) < most // 2:
                found = unused_pairs(n, used, most, self._rng)
            x = np.where(found, 1.0, -1.0)
        return np.asarray(x[most_informative(self.process.posterior, x, contrasts, min(count, len(x)))] > 0)


class PooledRun:
    """A run of odd-gp for groups of outputs, each with its own players and coalitions.

    Parameters
    ----------
    players
        The players of each group.
    n
        The number of all players.
    k
        The size of the top; all players of a group if it has fewer.
    budgets
        The number of evaluations of each group, see `Group`; the same for groups with the same number of players.
    rng
        Draws the pairs. The run is deterministic in the generator and the values.
    rank_by
        The order of the players.

    Examples
    --------
    >>> weights = np.arange(1.0, 8.0)
    >>> run = PooledRun([np.arange(6), np.arange(1, 7)], 7, 2, [20, 20], np.random.default_rng(0))
    >>> for request in run.requests():
    ...     both = zip(request.coalitions, run.groups, strict=True)
    ...     request.add([np.tanh(coalitions @ weights[group.players, None] / 20.0) for coalitions, group in both])
    >>> [group.estimate.values.round(2).tolist() for group in run.groups]
    [[[0.04, 0.07, 0.11, 0.15, 0.19, 0.22]], [[0.06, 0.1, 0.13, 0.16, 0.19, 0.23]]]
    """

    def __init__(
        self,
        players: Sequence[Players],
        n: int,
        k: int,
        budgets: Sequence[int],
        rng: np.random.Generator,
        *,
        rank_by: RankBy = "value",
    ) -> None:
        self._n, self._rng = n, rng
        self.groups = [
            Group(own, min(k, len(own)), budget, rng, rank_by) for own, budget in zip(players, budgets, strict=True)
        ]
        """The groups, with their estimates."""

    def requests(self) -> Iterator[PooledRequest]:
        """Yield the requests one after the other; each is planned from the values of those before."""
        designs = self._first_designs()
        yield PooledRequest([_with_ends(design) for design in designs], partial(self._start, designs))
        games = [group for group in self.groups if not group.exact]
        if not games:
            return
        fit = self._learn(games, FIRST_FIT, None)
        plan = plan_of(max(group.n_pairs for group in games))
        for left in range(plan.batches, 0, -1):
            drawn: dict[int, Coalitions] = {}
            chosen = [_none(group) if group.exact else group.choose(left, drawn) for group in self.groups]
            yield PooledRequest(list(map(with_complements, chosen)), partial(self._add, chosen))
            fit = self._learn(games, REFIT, fit)
        self._stack_logits(games, plan.logit_refit)

    def _first_designs(self) -> list[Coalitions]:
        """Return the first design of every group, the same for all groups with the same number of players."""
        designs: dict[int, Coalitions] = {}
        for group in self.groups:
            n, pairs = len(group.players), group.n_pairs
            if n not in designs:
                first = min(max(int(plan_of(pairs).first_share * pairs), int(FIRST_DESIGN[1] * n) + 2), pairs)
                singles = pairs < SINGLES_FIRST_BELOW * n
                designs[n] = all_pairs(n) if group.exact else first_design(n, first, self._rng, singles_first=singles)
        return [designs[len(group.players)] for group in self.groups]

    def _start(self, designs: Sequence[Coalitions], values: Sequence[Matrix]) -> None:
        for group, design, own in zip(self.groups, designs, values, strict=True):
            group.start(design, own)

    def _add(self, chosen: Sequence[Coalitions], values: Sequence[Matrix]) -> None:
        for group, coalitions, own in zip(self.groups, chosen, values, strict=True):
            group.pairs.add(coalitions, own)

    def _learn(self, games: Sequence[Group], iterations: int, start: PooledFit | None) -> PooledFit:
        """Fit the hyper-parameters to all games together, and condition the process of each on its pairs."""
        observed = [PooledGame(group.process.observe(group.pairs), group.players) for group in games]
        rows = [group.process.fitted_rows for group in games]
        fit = fit_pooled(observed, rows, self._n, iterations=iterations, start=start)
        for group, game in zip(games, observed, strict=True):
            group.process.condition(game.data, fit.parameters_of(game))
            group.estimate = group.process.estimate()
        return fit

    def _stack_logits(self, games: Sequence[Group], iterations: int) -> None:
        """Stack processes on logits where outputs are probabilities."""
        stacks = [LogitStack(group.process, group.pairs, self._rng) for group in games]
        found = [
            (group, stack, PooledGame(stack.logits.data, group.players))
            for group, stack in zip(games, stacks, strict=True)
            if stack.logits is not None and not group.process.is_final
        ]
        if not found:
            return
        rows = [rows_to_fit(len(game.data.x), game.data.n_players, self._rng) for _, _, game in found]
        fit = fit_pooled([game for _, _, game in found], rows, self._n, iterations=FIRST_FIT)
        for group, stack, game in found:
            start, curvature = fit.parameters_of(game), fit.curvature_for(game)
            stack.fit(start=start, curvature=curvature, iterations=iterations)
            group.estimate = stack.estimate(group.estimate)


class Plan(NamedTuple):
    """How the pairs of a group are spent."""

    first_share: float
    """The share of the first design."""
    batches: int
    """The number of batches after it."""
    logit_refit: int
    """The iterations in which every group fits the hyper-parameters of its logits, from those fitted to all groups."""


def plan_of(pairs: int) -> Plan:
    """Return how a number of pairs is spent.

    Every batch costs 2 to 3 ms for a group, and so do four iterations of a fit, so there are fewer than for rows that
    share all coalitions. Chosen on adult with mean/mode imputation (XGBoost and MLP, two or three seeds): with 70 and
    100 evaluations, two batches or 8 iterations change errors by less than 6%. With 150 evaluations, one batch has 1.6
    times the error of two on XGBoost, and 4 iterations have 1.4 times the error of 8: the log-odds of trees have hardly
    any residual, and each group has other interactions. Refitting the hyper-parameters of the values for each group
    does not reduce errors.

    Examples
    --------
    >>> plan_of(49)
    Plan(first_share=0.5, batches=1, logit_refit=4)
    """
    return Plan(0.5, 1, 4) if pairs < FEW_PAIRS else Plan(0.35, 2, 8)


def _none(group: Group) -> Coalitions:
    """Return no coalitions of a group."""
    return np.empty((0, len(group.players)), dtype=np.bool_)


def _with_ends(design: Coalitions) -> Coalitions:
    """Return the empty and the grand coalition, and the pairs of a design."""
    ends = np.array([[False], [True]]).repeat(design.shape[1], axis=1)
    return np.concatenate([ends, with_complements(design)])


def _exact_estimate(pairs: SharedPairs) -> SharedEstimate:
    """Return the Shapley values from all pairs."""
    n, odd = pairs.x.shape[1], pairs.odd
    values = adding_up((pair_functional(pairs.x).T @ odd).T, 2.0 * odd[0])
    return SharedEstimate(values, np.zeros((n, n)), np.zeros(len(values)))
