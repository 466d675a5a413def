"""CMCS@K (Kolpaczki, Nielen and Hüllermeier 2025), after SHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap._validation import check_int, check_probability
from topshap.algorithms.base import Algorithm, Rounds, Task
from topshap.algorithms.cmcs import WARM_UP, comparable_rounds
from topshap.coalitions import anchors_one_by_one
from topshap.statistics.bounds import clt_interval
from topshap.statistics.standing import PAIRS_UP_TO, MeanStanding
from topshap.stopping import OverlappingIntervals

if TYPE_CHECKING:
    from topshap.stopping import StoppingRule


class CMCSAtK(Algorithm[MeanStanding]):
    """CMCS that samples, against one anchor, only the two players whose intervals overlap most across the border.

    After the warm-up each round samples the player of the current top k with the lowest lower bound and the player of
    the rest with the highest upper bound. The bounds come from the central limit theorem at level delta / n, two-sided.

    Overhead per evaluation: O(n).

    Parameters
    ----------
    warm_up
        Rounds of CMCS at the start.
    delta
        The level of the intervals in a race for a fixed budget. One that stops by itself uses its own delta.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> at_k = topshap.algorithms.CMCSAtK(warm_up=5)
    >>> topshap.identify(game, k=2, budget=100, algorithm=at_k, random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "cmcs@k"

    def __init__(self, *, warm_up: int = WARM_UP, delta: float = 0.01) -> None:
        self.warm_up = check_int("warm_up", warm_up, owner="CMCSAtK", low=2)
        self.delta = check_probability("delta", delta, owner="CMCSAtK")

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Warm up, then compare the two closest players across the border."""
        lasted = yield from comparable_rounds(task, standing, self.warm_up)
        if task.k == task.n:  # there is no border; every player is as interesting as the next
            lasted = lasted and (yield from comparable_rounds(task, standing))
        level = (task.delta or self.delta) / task.n
        anchors = anchors_one_by_one(task.n, task.rng)
        while lasted:
            pair = closest_across_border(standing, task.k, level)
            anchor = next(anchors)
            coalitions = np.empty((3, task.n), dtype=np.bool_)
            coalitions[:] = anchor
            inside = [anchor.item(player) for player in pair]
            for row, player in enumerate(pair, start=1):
                coalitions[row, player] ^= True
            values = (yield coalitions).tolist()
            samples = [
                values[0] - v if member else v - values[0] for member, v in zip(inside, values[1:], strict=False)
            ]
            standing.add_compared(samples, pair)
            lasted = len(values) == 3

    def stopping_rule(self, epsilon: float, delta: float) -> StoppingRule:
        """Return the published rule, checked after the warm-up."""
        return OverlappingIntervals(epsilon, delta, min_samples=self.warm_up)


def closest_across_border(standing: MeanStanding, k: int, level: float) -> tuple[int, int]:
    """Return the player of the top k with the lowest lower bound and the one of the rest with the highest upper."""
    top, rest = standing.partition(k)
    lower, upper = clt_interval(standing, level)
    return top.item(lower[top].argmin()), rest.item(upper[rest].argmax())
