"""CMCS@K (Kolpaczki, Nielen and Hüllermeier 2025), after SHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.closest_pair import BorderPairAlgorithm
from topshap.algorithms.cmcs import comparable_rounds
from topshap.core.coalitions import anchors_one_by_one
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.core.algorithm import Task
    from topshap.core.standing import MeanStanding
    from topshap.core.typing import Coalition, Coalitions, Values


@front_door
class CMCSAtK(BorderPairAlgorithm):
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

    def everyone(
        self, task: Task, standing: MeanStanding, limit: int | None = None
    ) -> Generator[Coalitions, Values, None]:
        """Compare everyone against common anchors."""
        return comparable_rounds(task, standing, limit)

    def draws(self, task: Task) -> Iterator[Coalition]:
        """Yield anchors."""
        return anchors_one_by_one(task.n, task.rng)

    def coalitions(self, drawn: Coalition, pair: tuple[int, int]) -> Coalitions:
        """Return the anchor, and the anchor with each of the two flipped."""
        # One by one: for two players that is quicker than any array operation, and this is all there is in a round.
        rows = np.empty((3, len(drawn)), dtype=np.bool_)
        rows[:] = drawn
        for row, player in enumerate(pair, start=1):
            rows[row, player] = not drawn.item(player)
        return rows

    def samples(self, drawn: Coalition, pair: tuple[int, int], values: list[float]) -> list[float]:
        """Return the extended marginal contributions of both to the anchor."""
        others = zip(pair, values[1:], strict=False)
        return [values[0] - value if drawn.item(player) else value - values[0] for player, value in others]
