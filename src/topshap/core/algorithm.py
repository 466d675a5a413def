"""The interface of an algorithm: a generator of rounds.

A `Round` is a set of coalitions to evaluate and a function that takes their values. `Algorithm.rounds` yields one round
after the other; it is resumed when all values of a round have been added. The race does everything else: it evaluates
several independent rounds together, splits batches that would take too much memory, answers known coalitions from the
ledger, and ends when the budget is spent. All randomness comes from the generator in the `Problem`: the same seed and
the same values give the same run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from topshap.core.mean_standing import PAIRS_UP_TO, MeanStanding
from topshap.core.standing import FittedStanding, Standing
from topshap.core.stopping import Credible
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.ledger import Ledger
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Coalitions, Players, Values
    from topshap.statistics.ranking import RankBy


class Round(NamedTuple):
    """Coalitions to evaluate together, and the function that takes their values."""

    rows: Coalitions
    """The coalitions, one per row."""
    add: Callable[[Values], object]
    """Takes the values of the rows: all of them, or a prefix, possibly empty, if the budget ends within the round."""
    next_is_independent: bool = False
    """Whether the next round does not depend on these values, so that both may be evaluated together."""


Rounds: TypeAlias = "Iterator[Round]"
StandingT = TypeVar("StandingT", bound=Standing)


@dataclass(frozen=True, slots=True)
class Problem:
    """The input of an algorithm: the players, the two values known from the start, randomness and the budget."""

    n: int
    k: int
    rng: np.random.Generator
    tie_order: Players
    empty: float
    """v(empty coalition)."""
    grand: float
    """v(grand coalition)."""
    ledger: Ledger = field(repr=False)
    """The ledger, behind `budget`, `spent`, `remaining` and `deterministic`; do not modify it."""
    rank_by: RankBy = "value"
    """The order in which players are ranked."""
    epsilon: float | None = None
    """The allowed inclusion-exclusion error in a race that stops by itself, None in one for a fixed budget."""
    delta: float | None = None
    """The allowed probability of a larger error in a race that stops by itself, None in one for a fixed budget."""
    guarantee: Guarantee = "asymptotic"
    """The guarantee that a race that stops by itself has to give."""
    value_range: tuple[float, float] | None = None
    """The lowest and the highest value a coalition may have, None if not known; values are checked against it."""
    paid_before: int = 0
    """The part of the budget that was spent on values before the algorithm was started anew; it gets them for free."""

    @property
    def gain(self) -> float:
        """The sum of all Shapley values, v(N) - v(empty)."""
        return self.grand - self.empty

    @property
    def budget(self) -> int | None:
        """The budget, None without a limit."""
        return self.ledger.budget

    @property
    def spent(self) -> int:
        """The part of the budget that is spent."""
        return self.ledger.spent - self.paid_before

    @property
    def remaining(self) -> int | None:
        """The part of the budget that is left, None without a limit."""
        remaining = self.ledger.remaining
        return None if remaining is None else remaining + self.paid_before

    @property
    def deterministic(self) -> bool:
        """Whether a coalition has the same value every time."""
        return self.ledger.deterministic

    def mean_standing(self, *, pairs: bool | None = None) -> MeanStanding:
        """Return the standing of an algorithm that averages samples; by default it tracks pairs up to 256 players."""
        pairs = self.n <= PAIRS_UP_TO if pairs is None else pairs
        return MeanStanding(self.tie_order, self.gain, pairs=pairs, rank_by=self.rank_by)

    def fitted_standing(self) -> FittedStanding:
        """Return the standing of an algorithm that computes all estimates at once; it starts with equal shares."""
        return FittedStanding(self.tie_order, np.full(self.n, self.gain / self.n), rank_by=self.rank_by)


class Algorithm(ABC, Generic[StandingT]):
    """Decides which coalitions to evaluate next, and estimates the Shapley values from their values.

    The constructor of a subclass takes the parameters of the algorithm; everything about the game is in the `Problem`.
    """

    name: ClassVar[str]
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("credible",)
    """The guarantees that a race of this algorithm can give when it stops by itself."""
    needs_budget: ClassVar[bool] = False
    """Whether it depends on the budget, and so cannot run without one."""
    extendable: ClassVar[bool] = False
    """Whether a race that has spent its budget can continue with a larger one as if given that from the start."""
    takes_noise: ClassVar[bool] = True
    """Whether the values of the game may vary from call to call."""
    ranks_by: ClassVar[tuple[RankBy, ...]] = RANK_BY
    """The orders it supports; only ``"value"`` if its choices depend on the players next to the border."""
    max_players: ClassVar[int | None] = None
    """The largest number of players, None for any."""

    @abstractmethod
    def standing(self, problem: Problem) -> StandingT:
        """Return the standing at the start of a race."""

    @abstractmethod
    def rounds(self, problem: Problem, standing: StandingT) -> Rounds:
        """Yield rounds; the values of each round update `standing`."""

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule that ends a race with the problem's epsilon, delta and guarantee.

        It is called only in a race that stops by itself, with one of the algorithm's `guarantees`. Without a rule the
        race ends when all coalitions are known.
        """
        if problem.epsilon is None or problem.delta is None or problem.guarantee != "credible":
            return None
        return Credible(problem.epsilon, problem.delta)

    def __repr__(self) -> str:
        """Return the constructor call, with the parameters in the order in which they were set."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"
