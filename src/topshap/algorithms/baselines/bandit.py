"""Players as arms of a bandit: a pull is one marginal contribution to a random coalition, for two evaluations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Task, ask, rows_at_most, slices
from topshap.core.coalitions import draw_without, uniforms_one_by_one, with_and_without
from topshap.core.standing import MeanStanding

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from topshap.core.typing import Coalition, Coalitions, Players, Values
    from topshap.statistics.ranking import RankBy


class ArmAlgorithm(Algorithm[MeanStanding]):
    """An algorithm whose samples are single pulls, independent of each other."""

    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=False)


def everyone_once(
    task: Task, standing: MeanStanding, players: Players | None = None
) -> Generator[Coalitions, Values, None]:
    """Sample each of `players`, by default all, once."""
    players = task.tie_order if players is None else players
    for part in slices(len(players), rows_at_most(task.n, bytes_per_entry=8)):
        pulled = players[part]
        coalitions = with_and_without(draw_without(pulled, task.n, task.rng), pulled)
        yield from ask([coalitions], standing, partial(add_pulls, standing, pulled))


def add_pulls(standing: MeanStanding, players: Players, values: Values) -> None:
    """Add the contributions in a prefix of the values with and without each of `players`."""
    sampled = len(values) // 2
    marginals = values[0 : 2 * sampled : 2] - values[1 : 2 * sampled : 2]
    standing.add_rounds(marginals[None], players[:sampled])


def one_by_one(task: Task, standing: MeanStanding, choose: Callable[[], int]) -> Generator[Coalitions, Values, None]:
    """Sample whoever `choose` returns, one after the other without end."""
    for (uniform,) in uniforms_one_by_one((1, task.n + 1), task.rng):
        player = choose()
        coalitions = np.empty((2, task.n), dtype=np.bool_)
        coalitions[:] = without(player, uniform)
        coalitions[0, player] = True
        yield from ask([coalitions], standing, partial(add_pull, standing, player))


def without(player: int, uniform: Values) -> Coalition:
    """Return what `draw_without` makes of these n + 1 numbers for one player, only quicker."""
    order = uniform[1:]
    order[player] = 2.0
    size = int(uniform.item(0) * len(order))
    return order < np.sort(order)[size]


def add_pull(standing: MeanStanding, player: int, values: Values) -> None:
    """Add the contribution of one player from the values with and without it, if both are there."""
    if len(values) == 2:
        standing.add_one(values.item(0) - values.item(1), player)
