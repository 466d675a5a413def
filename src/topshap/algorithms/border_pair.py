"""What CMCS@K and SamplingSHAP@k have in common: after a warm-up, only the two players closest across the border."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from topshap._validation import check_int, check_probability
from topshap.algorithms.base import Algorithm, Rounds, Task
from topshap.algorithms.cmcs import WARM_UP, published_rule
from topshap.statistics.bounds import clt_interval
from topshap.statistics.standing import PAIRS_UP_TO, MeanStanding

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.stopping import Guarantee, StoppingRule
    from topshap.typing import Coalitions, Values


class BorderPairAlgorithm(Algorithm[MeanStanding]):
    """Warms up on everyone, then samples the two players whose intervals overlap most across the border.

    Subclasses say how everyone is sampled, and how two players are.
    """

    guarantees: ClassVar[tuple[Guarantee, ...]] = ("asymptotic", "credible")

    def __init__(self, *, warm_up: int = WARM_UP, delta: float = 0.01) -> None:
        owner = type(self).__name__
        self.warm_up = check_int("warm_up", warm_up, owner=owner, low=2)
        self.delta = check_probability("delta", delta, owner=owner)

    @abstractmethod
    def everyone(
        self, task: Task, standing: MeanStanding, limit: int | None = None
    ) -> Generator[Coalitions, Values, bool]:
        """Sample everyone `limit` times or until the budget ends; return whether it lasted."""

    @abstractmethod
    def draws(self, task: Task) -> Iterator[Any]:
        """Yield, without end, what is drawn at random for a round."""

    @abstractmethod
    def sample(self, drawn: Any, pair: tuple[int, int]) -> Generator[Coalitions, Values, list[float]]:
        """Sample the two players of a round; return fewer samples where the budget ended."""

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Warm up, then sample the two closest players across the border."""
        lasted = yield from self.everyone(task, standing, self.warm_up)
        if task.k == task.n:  # there is no border; every player is as interesting as the next
            lasted = lasted and (yield from self.everyone(task, standing))
        level = (task.delta or self.delta) / task.n
        draws = self.draws(task)
        while lasted:
            pair = closest_across_border(standing, task.k, level)
            samples = yield from self.sample(next(draws), pair)
            standing.add_compared(samples, pair)
            lasted = len(samples) == 2

    def stopping_rule(self, task: Task) -> StoppingRule | None:
        """Return the published rule, checked after the warm-up; for ``"credible"`` the one of every algorithm."""
        return published_rule(task, self.warm_up) or super().stopping_rule(task)


def closest_across_border(standing: MeanStanding, k: int, level: float) -> tuple[int, int]:
    """Return the player of the top k with the lowest lower bound and the one of the rest with the highest upper."""
    top, rest = standing.partition(k)
    lower, upper = clt_interval(standing, level)
    return top.item(lower[top].argmin()), rest.item(upper[rest].argmax())
