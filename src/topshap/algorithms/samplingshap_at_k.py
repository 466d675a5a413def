"""SamplingSHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap._validation import check_int, check_probability
from topshap.algorithms.approshapley import permutation_rounds
from topshap.algorithms.base import Algorithm, Rounds, Task
from topshap.algorithms.cmcs import WARM_UP
from topshap.algorithms.cmcs_at_k import closest_across_border
from topshap.statistics.standing import PAIRS_UP_TO, MeanStanding
from topshap.stopping import OverlappingIntervals

if TYPE_CHECKING:
    from topshap.stopping import StoppingRule


class SamplingSHAPAtK(Algorithm[MeanStanding]):
    """Permutation sampling that follows only the two players whose intervals overlap most across the border.

    As `CMCSAtK`, but a sample is a player's gain on joining in a random order. The two players of a round join in the
    same order, which takes up to four evaluations.

    Overhead per evaluation: O(n).

    Parameters
    ----------
    warm_up
        Permutations at the start along which everyone is sampled.
    delta
        The level of the intervals in a race for a fixed budget. One that stops by itself uses its own delta.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> at_k = topshap.algorithms.SamplingSHAPAtK(warm_up=5)
    >>> topshap.identify(game, k=2, budget=100, algorithm=at_k, random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "samplingshap@k"

    def __init__(self, *, warm_up: int = WARM_UP, delta: float = 0.01) -> None:
        self.warm_up = check_int("warm_up", warm_up, owner="SamplingSHAPAtK", low=2)
        self.delta = check_probability("delta", delta, owner="SamplingSHAPAtK")

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Warm up, then sample the two closest players across the border along one permutation."""
        lasted = yield from permutation_rounds(task, standing, self.warm_up)
        if task.k == task.n:  # there is no border; every player is as interesting as the next
            lasted = lasted and (yield from permutation_rounds(task, standing))
        level = (task.delta or self.delta) / task.n
        while lasted:
            pair = closest_across_border(standing, task.k, level)
            place = task.rng.random(task.n)
            before = place < place[list(pair), None]
            coalitions = np.repeat(before, 2, axis=0)
            coalitions[[0, 2], pair] = True
            values = yield coalitions
            standing.add_compared(
                [after - before for after, before in zip(values[::2], values[1::2], strict=False)], pair
            )
            lasted = len(values) == 4

    def stopping_rule(self, epsilon: float, delta: float) -> StoppingRule:
        """Return the published rule, checked after the warm-up."""
        return OverlappingIntervals(epsilon, delta, min_samples=self.warm_up)
