"""What CMCS@K and SamplingSHAP@k have in common: after a warm-up, only the two players closest across the border."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from topshap.algorithms.cmcs import WARM_UP, published_rule
from topshap.core.algorithm import Algorithm, Rounds, Task, ask
from topshap.core.standing import PAIRS_UP_TO, MeanStanding
from topshap.core.validation import check_delta, check_int
from topshap.statistics.normal_intervals import clt_interval

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Coalitions, Values
    from topshap.statistics.ranking import RankBy


class BorderPairAlgorithm(Algorithm[MeanStanding]):
    """Warms up on everyone, then samples the two players whose intervals overlap most across the border.

    Subclasses say how everyone is sampled, and how two players are.
    """

    guarantees: ClassVar[tuple[Guarantee, ...]] = ("asymptotic", "credible")
    extendable: ClassVar[bool] = True
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)

    def __init__(self, *, warm_up: int = WARM_UP, delta: float = 0.01) -> None:
        self.warm_up = check_int("warm_up", warm_up, low=2)
        self.delta = check_delta(delta)

    @abstractmethod
    def everyone(
        self, task: Task, standing: MeanStanding, limit: int | None = None
    ) -> Generator[Coalitions, Values, None]:
        """Sample everyone `limit` times or without end."""

    @abstractmethod
    def draws(self, task: Task) -> Iterator[Any]:
        """Yield, without end, what is drawn at random for a round."""

    @abstractmethod
    def coalitions(self, drawn: Any, pair: tuple[int, int]) -> Coalitions:
        """Return what has to be known to sample the two players of a round."""

    @abstractmethod
    def samples(self, drawn: Any, pair: tuple[int, int], values: list[float]) -> list[float]:
        """Return the samples of the two from the values of `coalitions`; fewer from a prefix of them."""

    def standing(self, task: Task) -> MeanStanding:
        """Return the standing at the start of a race."""
        return MeanStanding(task.tie_order, task.gain, pairs=task.n <= PAIRS_UP_TO)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Warm up, then sample the two closest players across the border."""
        yield from self.everyone(task, standing, self.warm_up)
        if task.k == task.n:  # there is no border; every player is as interesting as the next
            yield from self.everyone(task, standing)
        level = (task.delta or self.delta) / task.n
        for drawn in self.draws(task):
            pair = closest_across_border(standing, task.k, level)
            yield from ask([self.coalitions(drawn, pair)], standing, partial(self._add, standing, drawn, pair))

    def _add(self, standing: MeanStanding, drawn: Any, pair: tuple[int, int], values: Values) -> None:
        standing.add_compared(self.samples(drawn, pair, values.tolist()), pair)

    def stopping_rule(self, task: Task) -> StoppingRule | None:
        """Return the published rule, checked after the warm-up; for ``"credible"`` the one of every algorithm."""
        return published_rule(task, self.warm_up) or super().stopping_rule(task)


def closest_across_border(standing: MeanStanding, k: int, level: float) -> tuple[int, int]:
    """Return the player of the top k with the lowest lower bound and the one of the rest with the highest upper."""
    top, rest = standing.partition(k)
    lower, upper = clt_interval(standing, level)
    return top.item(lower[top].argmin()), rest.item(upper[rest].argmax())
