"""SAR: successive accepts and rejects (Bubeck, Wang and Viswanathan 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.algorithms.baselines.bandit import pull_each
from topshap.algorithms.baselines.gap_e import gaps_to_border
from topshap.core.algorithm import Algorithm, Problem, Rounds
from topshap.core.mean_standing import MeanStanding

if TYPE_CHECKING:
    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Players, Values
    from topshap.statistics.ranking import RankBy


class SARStanding(MeanStanding):
    """Means, and the players that have been accepted into the top k or rejected for good."""

    def __init__(self, tie_order: Players, gain: float) -> None:
        super().__init__(tie_order, gain, pairs=False)
        self.verdict = np.zeros(len(tie_order))
        """1 for accepted players, -1 for rejected ones, 0 while undecided."""

    def ranking(self, resolution: float = 0.0) -> Players:
        """Return all players: the accepted ones first, the rejected ones last, by estimate within each group."""
        by_estimate = super().ranking(resolution)
        return by_estimate[np.argsort(-self.verdict[by_estimate], kind="stable")]


class SAR(Algorithm[SARStanding]):
    """Successive Accepts and Rejects: after each of n - 1 phases the most clear-cut player is decided for good.

    In a phase all undecided players are sampled equally often. Then the one with the largest gap to the border is
    accepted into the top k or rejected. The lengths of the phases are those of the paper, measured in budget spent, so
    that the last phase ends with the budget.

    Overhead per evaluation: O(n log n).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5])
    >>> topshap.identify(game, k=2, budget=20, algorithm="sar", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "sar"
    needs_budget: ClassVar[bool] = True
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ()

    def standing(self, problem: Problem) -> SARStanding:
        """Return the standing at the start of a race."""
        return SARStanding(problem.tie_order, problem.gain)

    def rounds(self, problem: Problem, standing: SARStanding) -> Rounds:
        """Sample the undecided players equally, and decide one at the end of each phase."""
        undecided = problem.tie_order
        places = problem.k
        for end in phase_ends(problem):
            while problem.spent < end:
                yield pull_each(problem, standing, undecided)
            if 0 < places < len(undecided):
                player, accepted = most_clear_cut(standing, undecided, places)
                standing.verdict[player] = 1.0 if accepted else -1.0
                undecided = undecided[undecided != player]
                places -= accepted
        while True:  # spend the rest of the budget, which is due to rounding
            yield pull_each(problem, standing, undecided)


def phase_ends(problem: Problem) -> Values:
    """Return the amount spent at the end of each of the n - 1 phases.

    The paper gives the pulls n_j of every player still undecided in phase j as proportional to 1 / (n + 1 - j).
    """
    n, spent = problem.n, problem.spent
    budget = problem.budget or 0
    pulls_each = 1.0 / (n + 1 - np.arange(1, n))
    fresh = np.diff(pulls_each, prepend=0.0) * np.arange(n, 1, -1)
    return spent + (budget - spent) * np.cumsum(fresh) / fresh.sum()


def most_clear_cut(standing: SARStanding, undecided: Players, places: int) -> tuple[int, bool]:
    """Return the undecided player with the largest gap to the border, and whether it is above it."""
    ranked = standing.ranking()
    ranked = ranked[np.isin(ranked, undecided)]
    gaps = gaps_to_border(standing.estimates[ranked], places)
    best_leads_by_more = gaps[0] > gaps[-1]
    return int(ranked[0 if best_leads_by_more else -1]), bool(best_leads_by_more)
