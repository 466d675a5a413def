"""Players as arms of a bandit: a pull is one marginal contribution to a random coalition, for two evaluations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.ablations import add_marginals
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import draw_without, uniforms, with_and_without
from topshap.core.mean_standing import MeanStanding

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Coalition, Players, Values
    from topshap.statistics.ranking import RankBy


class ArmAlgorithm(Algorithm[MeanStanding]):
    """An algorithm whose samples are single, independent pulls."""

    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ()

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race."""
        return problem.mean_standing(pairs=False)


def pull_each(problem: Problem, standing: MeanStanding, players: Players) -> Round:
    """Return the round that samples each of `players` once."""
    rows = with_and_without(draw_without(players, problem.n, problem.rng), players)
    return Round(rows, partial(add_marginals, standing, players))


def one_by_one(problem: Problem, standing: MeanStanding, choose: Callable[[], int]) -> Rounds:
    """Yield rounds without end, each of which samples the player that `choose` returns."""
    for uniform in uniforms((problem.n + 1,), problem.rng):
        player = choose()
        rows = np.empty((2, problem.n), dtype=np.bool_)
        rows[:] = without(player, uniform)
        rows[0, player] = True
        yield Round(rows, partial(add_pull, standing, player))


def without(player: int, uniform: Values) -> Coalition:
    """Return the coalition that `draw_without` makes of these n + 1 numbers for one player, but faster."""
    order = uniform[1:]
    order[player] = 2.0
    size = int(uniform.item(0) * len(order))
    return order < np.sort(order)[size]


def add_pull(standing: MeanStanding, player: int, values: Values) -> None:
    """Add the contribution of one player from the values with and without it, if both are known."""
    if len(values) == 2:
        standing.add_few([values.item(0) - values.item(1)], [player])
