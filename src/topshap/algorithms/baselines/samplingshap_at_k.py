"""SamplingSHAP@k (Kariyappa et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.approshapley import permutation_rounds
from topshap.algorithms.closest_pair import BorderPairAlgorithm
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.core.algorithm import Task
    from topshap.core.standing import MeanStanding
    from topshap.core.typing import Coalitions, Values


@front_door
class SamplingSHAPAtK(BorderPairAlgorithm):
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

    def everyone(
        self, task: Task, standing: MeanStanding, limit: int | None = None
    ) -> Generator[Coalitions, Values, None]:
        """Walk along permutations."""
        return permutation_rounds(task, standing, limit)

    def draws(self, task: Task) -> Iterator[Values]:
        """Yield the players' places in a random order, as numbers to be compared."""
        while True:
            yield task.rng.random(task.n)

    def coalitions(self, drawn: Values, pair: tuple[int, int]) -> Coalitions:
        """Return, for each of the two, those up to it in the order and those before it."""
        rows = np.empty((4, len(drawn)), dtype=np.bool_)
        for row, player in zip((0, 2), pair, strict=True):
            rows[row : row + 2] = drawn < drawn[player]
            rows[row, player] = True
        return rows

    def samples(self, drawn: Values, pair: tuple[int, int], values: list[float]) -> list[float]:  # noqa: ARG002
        """Return what each of the two gains on joining."""
        return [after - before for after, before in zip(values[::2], values[1::2], strict=False)]
