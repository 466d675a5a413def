"""CMCS: comparable marginal contributions sampling (Kolpaczki, Nielen and Hüllermeier 2025, Algorithm 1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import anchors
from topshap.core.mean_standing import MeanStanding
from topshap.core.stopping import OverlappingIntervals

if TYPE_CHECKING:
    from topshap.core.algorithm import HowOutputs
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Coalition, Coalitions, Players, Values

WARM_UP = 30
"""The number of samples of every player before the central limit theorem is used."""


class CMCS(Algorithm[MeanStanding]):
    """Comparable Marginal Contributions Sampling: all players are compared against the same coalition.

    A round draws one anchor coalition S, with a size uniform in 0..n and then uniform among the sets of that size, and
    evaluates S and its n neighbours with one player flipped. That gives the extended marginal contribution
    D_i(S) = v(S + i) - v(S - i) of every player for n + 1 evaluations. E[D_i(S)] is the Shapley value, and since
    all players share the same S, the differences between them vary less than the contributions themselves.

    Overhead per evaluation: O(n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, budget=10, algorithm="cmcs", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "cmcs"
    outputs: ClassVar[HowOutputs] = "each"
    extendable: ClassVar[bool] = True
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("published", "credible")

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race."""
        return problem.mean_standing()

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Compare all players against one anchor after the other."""
        return compare_all(problem, standing)

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the published rule, checked after 30 samples of every player; for ``"credible"`` the default rule."""
        return published_rule(problem, WARM_UP) or super().stopping_rule(problem)


def compare_all(problem: Problem, standing: MeanStanding, rounds: int | None = None) -> Rounds:
    """Compare all players against `rounds` anchors, or against one after the other without end."""
    order = problem.tie_order
    flipped = flips(order, problem.n)
    for done, anchor in enumerate(anchors(problem.n, problem.rng, rounds), start=1):
        add = partial(add_contributions, standing, anchor, order)
        yield Round(anchor ^ flipped, add, next_is_independent=done != rounds)


def flips(players: Players, n: int) -> Coalitions:
    """Return the empty coalition, then each of `players` alone, one per row.

    An anchor XOR these rows is the anchor, then its neighbours with one player flipped.

    Examples
    --------
    >>> np.array([True, True, False]) ^ flips(np.array([2, 0]), 3)
    array([[ True,  True, False],
           [ True,  True,  True],
           [False,  True, False]])
    """
    rows = np.zeros((len(players) + 1, n), dtype=np.bool_)
    rows[np.arange(1, len(rows)), players] = True
    return rows


def extended_marginals(inside: Coalition, values: Values) -> Values:
    """Return v(S + i) - v(S - i) from v(S) and the values with one player flipped.

    `inside` says, for each flipped player, whether it is in S.
    """
    difference = values[0] - values[1:]
    return np.where(inside, difference, -difference)


def add_contributions(standing: MeanStanding, anchor: Coalition, players: Players, values: Values) -> None:
    """Add the extended marginal contributions in a prefix of the values of ``anchor ^ flips(players, n)``."""
    sampled = players[: max(len(values) - 1, 0)]
    if len(sampled) > 0:
        standing.add(extended_marginals(anchor[sampled], values), sampled)


def published_rule(problem: Problem, min_samples: int) -> OverlappingIntervals | None:
    """Return the rule that these algorithms were published with, for ``guarantee="published"``; otherwise None.

    It is not a guarantee at level delta, and `TopK.promise` says so.
    """
    if problem.epsilon is None or problem.delta is None or problem.guarantee != "published":
        return None
    return OverlappingIntervals(problem.epsilon, problem.delta, min_samples=min_samples)
