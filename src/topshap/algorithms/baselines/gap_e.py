"""Gap-E: exploration by gaps (Gabillon et al. 2011; Bubeck, Wang and Viswanathan 2013 for the top k)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.bandit import ArmAlgorithm, one_by_one, pull_each
from topshap.core.validation import check_positive, front_door

if TYPE_CHECKING:
    from topshap.core.algorithm import Problem, Rounds
    from topshap.core.mean_standing import MeanStanding
    from topshap.core.typing import Values


@front_door
class GapE(ArmAlgorithm):
    """A bandit that samples players with a small gap to the other side of the border, or with few samples.

    The index of a player is -gap + sqrt(exploration * P / (H * count)), with P the pulls that the budget allows and
    H = sum of 1 / gap**2 the complexity of the problem. The original takes H from the true values; here it is estimated
    from the data, and a gap is taken to be at least its standard error, so that a tie does not make H infinite.

    Overhead per evaluation: O(n log n).

    Parameters
    ----------
    exploration
        The weight of the bonus for rarely sampled players.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="gap-e", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "gap-e"
    needs_budget: ClassVar[bool] = True

    def __init__(self, *, exploration: float = 1.0) -> None:
        self.exploration = check_positive("exploration", exploration)

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Sample every player twice, which gives a variance, then the player with the highest index."""
        pulls = (problem.budget or 0) / 2
        yield pull_each(problem, standing, problem.tie_order)
        yield pull_each(problem, standing, problem.tie_order)
        yield from one_by_one(problem, standing, lambda: self._choose(standing, problem.k, pulls))

    def _choose(self, standing: MeanStanding, k: int, pulls: float) -> int:
        """Return the player with the highest index."""
        ranking = standing.ranking()
        gaps = gaps_to_border(standing.live_estimates[ranking], k)
        noise = np.fmax(standing.live_std_errors[ranking], 1e-150)
        complexity = np.sum(1.0 / np.maximum(gaps, noise) ** 2)
        index = np.sqrt(self.exploration * pulls / (complexity * standing.moments.count[ranking])) - gaps
        return ranking.item(index.argmax())


def gaps_to_border(ranked: Values, k: int) -> Values:
    """Return the distance of each estimate, given best first, to the nearest one across the border; zeros if k = n.

    Examples
    --------
    >>> gaps_to_border(np.array([5.0, 3.0, 2.0, 0.0]), 2)
    array([3., 1., 1., 3.])
    """
    if k == len(ranked):
        return np.zeros(k)
    return np.concatenate([ranked[:k] - ranked[k], ranked[k - 1] - ranked[k:]])
