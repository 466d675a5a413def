"""CMCS@K (Kolpaczki, Nielen and Hüllermeier 2025), after SHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.closest_pair import ClosestPairAlgorithm
from topshap.algorithms.cmcs import compare_all
from topshap.core.algorithm import Round
from topshap.core.coalitions import anchors
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.algorithm import Problem, Rounds
    from topshap.core.mean_standing import MeanStanding
    from topshap.core.typing import Coalition, Values


@front_door
class CMCSAtK(ClosestPairAlgorithm):
    """CMCS that samples, against one anchor, only the two players whose intervals overlap most across the border.

    After the warm-up each round samples the player of the current top k with the lowest lower bound and the player of
    the rest with the highest upper bound. The bounds come from the central limit theorem at level delta / n, two-sided.

    Overhead per evaluation: O(n).

    Parameters
    ----------
    warm_up
        The number of rounds of CMCS at the start, and the number of samples of every player that the published rule
        needs. There is no ``"auto"`` as in `GreedyCMCS`: the rule relies on the central limit theorem, and a shorter
        warm-up weakens it.
    delta
        The level of the intervals in a race for a fixed budget. A race with `epsilon` uses its own delta.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> at_k = topshap.algorithms.CMCSAtK(warm_up=5)
    >>> topshap.identify(game, k=2, budget=100, algorithm=at_k, random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "cmcs@k"

    def first_rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield the warm-up, in which every player is sampled."""
        return compare_all(problem, standing, self.warm_up)

    def without_border(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield rounds of all players, for k = n."""
        return compare_all(problem, standing)

    def draws(self, problem: Problem) -> Iterator[Coalition]:
        """Yield anchors."""
        return anchors(problem.n, problem.rng)

    def compare(self, anchor: Coalition, i: int, j: int, standing: MeanStanding) -> Round:
        """Return the round that evaluates the anchor, and the anchor with each of the two players flipped."""
        # Element by element, since this is faster than array operations for two players, and a round does nothing else.
        rows = np.empty((3, len(anchor)), dtype=np.bool_)
        rows[:] = anchor
        has_i, has_j = anchor.item(i), anchor.item(j)
        rows[1, i], rows[2, j] = not has_i, not has_j

        def add(values: Values) -> None:
            numbers = values.tolist()
            samples = [
                numbers[0] - value if inside else value - numbers[0]
                for inside, value in zip((has_i, has_j), numbers[1:], strict=False)
            ]
            standing.add_few(samples, (i, j))

        return Round(rows, add)
