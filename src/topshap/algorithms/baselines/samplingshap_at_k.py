"""SamplingSHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.approshapley import permutation_rounds
from topshap.algorithms.closest_pair import ClosestPairAlgorithm
from topshap.core.algorithm import Round
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.algorithm import Problem, Rounds
    from topshap.core.mean_standing import MeanStanding
    from topshap.core.typing import Values


@front_door
class SamplingSHAPAtK(ClosestPairAlgorithm):
    """Permutation sampling of only the two players whose intervals overlap most across the border.

    It is `CMCSAtK`, except that a sample is the gain when a player joins in a random order. The two players of a round
    share the order, and the round takes up to four evaluations.

    Overhead per evaluation: O(n).

    Parameters
    ----------
    warm_up
        The number of permutations at the start, each with a sample of every player.
    delta
        The level of the intervals in a race for a fixed budget. A race with `epsilon` uses its own delta.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> at_k = topshap.algorithms.SamplingSHAPAtK(warm_up=5)
    >>> topshap.identify(game, k=2, budget=100, algorithm=at_k, random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "samplingshap@k"

    def first_rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield the warm-up, in which every player is sampled."""
        return permutation_rounds(problem, standing, self.warm_up)

    def without_border(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield rounds of all players, for k = n."""
        return permutation_rounds(problem, standing)

    def draws(self, problem: Problem) -> Iterator[Values]:
        """Yield random numbers, one per player, whose order is the order in which players join."""
        while True:
            yield problem.rng.random(problem.n)

    def compare(self, places: Values, i: int, j: int, standing: MeanStanding) -> Round:
        """Return the round that evaluates, for each of the two players, the players up to it and those before it."""
        rows = np.empty((4, len(places)), dtype=np.bool_)
        for row, player in ((0, i), (2, j)):
            rows[row : row + 2] = places < places[player]
            rows[row, player] = True

        def add(values: Values) -> None:
            numbers = values.tolist()
            gains = [after - before for after, before in zip(numbers[::2], numbers[1::2], strict=False)]
            standing.add_few(gains, (i, j))

        return Round(rows, add)
