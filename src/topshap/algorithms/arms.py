"""Players as arms of a bandit: a pull is one marginal contribution to a random coalition, for two evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.algorithms.base import Algorithm, Task, rows_at_most, slices
from topshap.coalitions import draw_without, with_and_without
from topshap.statistics.standing import MeanStanding

if TYPE_CHECKING:
    from collections.abc import Generator

    from topshap.typing import Coalitions, Players, Values


class ArmAlgorithm(Algorithm[MeanStanding]):
    """An algorithm whose samples are single pulls, independent of each other."""

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=False)


def pull(task: Task, standing: MeanStanding, players: Players) -> Generator[Coalitions, Values, bool]:
    """Sample each of `players` once, in one batch; return whether the budget lasted."""
    values = yield with_and_without(draw_without(players, task.n, task.rng), players)
    sampled = len(values) // 2
    marginals = values[0 : 2 * sampled : 2] - values[1 : 2 * sampled : 2]
    if sampled == 1:
        standing.moments.add_one(float(marginals[0]), int(players[0]))
    else:
        standing.moments.add(marginals[None], players[:sampled])
    return len(values) == 2 * len(players)


def everyone_once(
    task: Task, standing: MeanStanding, players: Players | None = None
) -> Generator[Coalitions, Values, bool]:
    """Sample each of `players`, by default all, once; return whether the budget lasted."""
    players = task.tie_order if players is None else players
    for part in slices(len(players), rows_at_most(task.n, bytes_per_entry=8)):
        lasted = yield from pull(task, standing, players[part])
        if not lasted:
            return False
    return True
