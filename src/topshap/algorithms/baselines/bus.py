"""BUS: border uncertainty sampling (Kolpaczki et al. 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.bandit import ArmAlgorithm, one_by_one, pull_each

if TYPE_CHECKING:
    from topshap.core.algorithm import Problem, Rounds
    from topshap.core.mean_standing import MeanStanding


class BUS(ArmAlgorithm):
    """Border Uncertainty Sampling: sample the player that is close to the border and was sampled rarely.

    Every player is sampled once. Then each round samples the player with the smallest product of count and distance to
    the border, the midpoint between the estimates of ranks k and k + 1.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="bus", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "bus"
    extendable: ClassVar[bool] = True

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Sample every player once, then the player with the smallest product."""
        yield pull_each(problem, standing, problem.tie_order)
        yield from one_by_one(problem, standing, lambda: nearest_to_border(standing, problem.k))


def nearest_to_border(standing: MeanStanding, k: int) -> int:
    """Return the player with the smallest product of its distance to the border and its count."""
    ranking, counts = standing.ranking(), standing.moments.count
    if k == len(ranking):  # there is no border: keep the counts even
        return int(counts.argmin())
    ranked, counts = standing.live_estimates[ranking], counts[ranking]
    border = (ranked.item(k - 1) + ranked.item(k)) / 2
    doubt = np.abs(ranked - border) * counts
    # Of several players on the border, take the one with the fewest samples: ties must not fix the choice.
    return ranking.item(np.lexsort((counts, doubt)).item(0))
