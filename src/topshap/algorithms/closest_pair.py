"""The common part of CMCS@K and SamplingSHAP@k: after a warm-up, sample the two closest players across the border."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from topshap.algorithms.cmcs import WARM_UP, published_rule
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.mean_standing import MeanStanding
from topshap.core.validation import check_delta, check_int
from topshap.statistics.normal_intervals import clt_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.statistics.ranking import RankBy


class ClosestPairAlgorithm(Algorithm[MeanStanding]):
    """Warms up on all players, then samples the two players whose intervals overlap most across the border.

    Subclasses define how a round samples all players, and how it samples two.
    """

    guarantees: ClassVar[tuple[Guarantee, ...]] = ("published", "credible")
    extendable: ClassVar[bool] = True
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ()

    def __init__(self, *, warm_up: int = WARM_UP, delta: float = 0.01) -> None:
        self.warm_up = check_int("warm_up", warm_up, low=2)
        self.delta = check_delta(delta)

    @abstractmethod
    def first_rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield the warm-up, in which every player is sampled."""

    @abstractmethod
    def without_border(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield rounds of all players without end, for k = n."""

    @abstractmethod
    def draws(self, problem: Problem) -> Iterator[Any]:
        """Yield the random draw of one round after the other."""

    @abstractmethod
    def compare(self, drawn: Any, i: int, j: int, standing: MeanStanding) -> Round:
        """Return the round that samples players i and j."""

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race."""
        return problem.mean_standing()

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Warm up, then sample the two closest players across the border."""
        yield from self.first_rounds(problem, standing)
        if problem.k == problem.n:
            yield from self.without_border(problem, standing)
        level = (problem.delta or self.delta) / problem.n
        for drawn in self.draws(problem):
            i, j = closest_across_border(standing, problem.k, level)
            yield self.compare(drawn, i, j, standing)

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the published rule, checked after the warm-up; for ``"credible"`` the default rule."""
        return published_rule(problem, self.warm_up) or super().stopping_rule(problem)


def closest_across_border(standing: MeanStanding, k: int, level: float) -> tuple[int, int]:
    """Return the player of the top k with the lowest lower bound, and that of the rest with the highest upper bound."""
    top, rest = standing.partition(k)
    lower, upper = clt_interval(standing.live_estimates, standing.live_std_errors, level)
    return top.item(lower[top].argmin()), rest.item(upper[rest].argmax())
