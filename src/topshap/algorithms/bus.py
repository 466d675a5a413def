"""BUS: border uncertainty sampling (Kolpaczki et al. 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.arms import ArmAlgorithm, everyone_once, pull

if TYPE_CHECKING:
    from topshap.algorithms.base import Rounds, Task
    from topshap.statistics.standing import MeanStanding


class BUS(ArmAlgorithm):
    """Border Uncertainty Sampling: the player nearest to the border, for how often it was sampled, comes next.

    Everyone is sampled once; then always the player with the smallest product of count and distance to the border, the
    midpoint between the estimates of ranks k and k + 1.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="bus", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "bus"

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Sample everyone once, then whoever is most uncertain."""
        lasted = yield from everyone_once(task, standing)
        while lasted:
            lasted = yield from pull(task, standing, np.array([nearest_to_border(standing, task.k)]))


def nearest_to_border(standing: MeanStanding, k: int) -> int:
    """Return the player with the smallest product of its distance to the border and its count."""
    estimates, ranking = standing.estimates, standing.ranking()
    if k == len(ranking):  # there is no border: keep the counts even
        return int(standing.counts.argmin())
    border = (estimates[ranking[k - 1]] + estimates[ranking[k]]) / 2
    doubt = (np.abs(estimates - border) * standing.counts)[ranking]
    # Of several players on the border itself the one that was sampled least, so that ties do not freeze the choice.
    nearest = ranking[doubt == doubt.min()]
    return int(nearest[standing.counts[nearest].argmin()])
