"""The interface of an algorithm: a generator of rounds.

A `Round` is a set of coalitions to evaluate and a function that takes their values. `Algorithm.rounds` yields one round
after the other; it is resumed when all values of a round have been added. The race does everything else: it evaluates
several independent rounds together, splits batches that would take too much memory, answers known coalitions from the
ledger, and ends when the budget is spent. All randomness comes from the generator in the `Problem`: the same seed and
the same values give the same run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from topshap.core import pairs
from topshap.core.mean_standing import PAIRS_UP_TO, MeanStanding
from topshap.core.outputs_standing import FittedOutputsStanding
from topshap.core.standing import FittedStanding, Standing
from topshap.core.stopping import Credible
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.ledger import Ledger
    from topshap.core.side_information import SideInformation
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


HowOutputs: TypeAlias = Literal["one", "each", "together"]
"""How an algorithm treats a game with several outputs, see `Algorithm.outputs`."""
OUTPUT_PAIRS = 2**23
"""The largest number of pairs of players, over all outputs, whose differences are tracked by default."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What an algorithm knows about each output of a game with several: arrays of shape (R,), in its scale."""

    empty: Values
    """v(empty coalition)."""
    grand: Values
    """v(grand coalition)."""
    epsilon: Values | None = None
    """The allowed inclusion-exclusion error in a race that stops by itself."""
    value_range: tuple[Values, Values] | None = None
    """The lowest and the highest value that a coalition may have."""

    @property
    def gain(self) -> Values:
        """The sum of all Shapley values, v(N) - v(empty)."""
        return self.grand - self.empty


@dataclass(frozen=True, slots=True)
class Problem:
    """The input of an algorithm: the players, the two values known from the start, randomness and the budget."""

    n: int
    k: int
    """The number of candidates to find."""
    rng: np.random.Generator
    tie_order: Players
    """A random permutation of the candidates, see `topshap.core.standing.Standing`."""
    empty: float
    """v(empty coalition); nan in a game with several outputs, whose values are in `outputs`."""
    grand: float
    """v(grand coalition); nan in a game with several outputs."""
    ledger: Ledger = field(repr=False)
    """The ledger, behind `budget`, `spent`, `remaining` and `deterministic`; do not modify it."""
    rank_by: RankBy = "value"
    """The order in which players are ranked."""
    ordered: bool = False
    """Whether the order of the top k matters to a race that stops by itself."""
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
    outputs: Outputs | None = None
    """The values of each output, None in a game with one number per coalition."""
    n_outputs: int = 1
    """The number of outputs of the game; `of_output` keeps it."""
    clear_gap: bool = False
    """Whether the algorithm chooses k, at a gap of at least epsilon; see `Algorithm.finds_clear_gap`."""
    order: int = 1
    """The size of the candidates: 1 for players, 2 for pairs of players; see `topshap.core.pairs`."""
    side: SideInformation | None = None
    """What is known about the players before anything is evaluated, with the prior in the algorithm's scale."""

    @property
    def n_candidates(self) -> int:
        """The number of candidates: players, or pairs of them."""
        return pairs.n_candidates(self.n, self.order)

    def of_output(self, output: int) -> Problem:
        """Return the problem of one output by itself.

        Examples
        --------
        >>> from topshap.core.ledger import Ledger
        >>> outputs = Outputs(np.zeros(2), np.array([3.0, 5.0]))
        >>> rng = np.random.default_rng(0)
        >>> problem = Problem(4, 2, rng, np.arange(4), np.nan, np.nan, Ledger(4), outputs=outputs, n_outputs=2)
        >>> problem.of_output(1).gain
        5.0
        """
        outputs = self.outputs
        if outputs is None:
            raise IndexError("The game has one number per coalition, not several outputs.")
        ranges = outputs.value_range
        return replace(
            self,
            outputs=None,
            empty=outputs.empty.item(output),
            grand=outputs.grand.item(output),
            epsilon=None if outputs.epsilon is None else outputs.epsilon.item(output),
            value_range=None if ranges is None else (ranges[0].item(output), ranges[1].item(output)),
        )

    def each_output(self) -> Iterator[Problem]:
        """Yield the problem of every output by itself."""
        return map(self.of_output, range(self.n_outputs))

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
        if pairs is None:
            pairs = self.n <= PAIRS_UP_TO and (self.n_outputs == 1 or self.n_outputs * self.n**2 <= OUTPUT_PAIRS)
        return MeanStanding(self.tie_order, self.gain, pairs=pairs, rank_by=self.rank_by)

    def fitted_standing(self) -> FittedStanding:
        """Return the standing of an algorithm that computes all estimates at once.

        It starts with equal shares of the players, or without interactions of pairs.
        """
        share = self.gain / self.n if self.order == 1 else 0.0
        return FittedStanding(self.tie_order, np.full(self.n_candidates, share), rank_by=self.rank_by)

    def fitted_outputs_standing(self) -> FittedOutputsStanding:
        """Return the standing of an algorithm that computes the estimates of all outputs together."""
        if self.outputs is None:
            raise ValueError("The game has one number per coalition, not several outputs.")
        shares = np.repeat(self.outputs.gain[:, None] / self.n, self.n, axis=1)
        return FittedOutputsStanding(self.tie_order, shares, rank_by=self.rank_by)


class Algorithm(ABC, Generic[StandingT]):
    """Decides which coalitions to evaluate next, and estimates the Shapley values from their values.

    The constructor of a subclass takes the parameters of the algorithm; everything about the game is in the `Problem`.
    """

    name: ClassVar[str]
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("credible",)
    """The guarantees that a race of this algorithm can give when it stops by itself."""
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ("credible",)
    """Those of them that it can give for an ordered list; none if it only compares players across the border."""
    needs_budget: ClassVar[bool] = False
    """Whether it depends on the budget, and so cannot run without one."""
    extendable: ClassVar[bool] = False
    """Whether a race that has spent its budget can continue with a larger one as if given that from the start."""
    takes_noise: ClassVar[bool] = True
    """Whether the values of the game may vary from call to call."""
    ranks_by: ClassVar[tuple[RankBy, ...]] = RANK_BY
    """The orders it supports; only ``"value"`` if its choices depend on the players next to the border."""
    orders: ClassVar[tuple[int, ...]] = (1,)
    """The orders it supports, see `Problem.order`: 1 for players, 2 for pairs of players."""
    max_players: ClassVar[int | None] = None
    """The largest number of players, None for any."""
    finds_clear_gap: ClassVar[bool] = False
    """Whether it supports ``k="clear"``: its standing then has an attribute ``size``, the k that it has chosen so far,
    and its stopping rule is met when the gap after these players is at least epsilon."""
    takes_side_information: ClassVar[bool] = False
    """Whether it uses `Problem.side`."""
    max_players_of_pairs: ClassVar[int | None] = None
    """The largest number of players in a race of order 2, None for any."""
    outputs: ClassVar[HowOutputs] = "one"
    """How it treats a game with several outputs. ``"one"``: it refuses it. ``"each"``: its choice of coalitions does
    not depend on values, and all that it learns is in its standing, so that the race plays every output with the same
    coalitions. ``"together"``: `rounds` gets values of shape (m, R) and a `Problem` with `Problem.outputs`, and its
    standing is an `OutputsStanding`."""

    @abstractmethod
    def standing(self, problem: Problem) -> StandingT:
        """Return the standing at the start of a race."""

    @abstractmethod
    def rounds(self, problem: Problem, standing: StandingT) -> Rounds:
        """Yield rounds; the values of each round update `standing`."""

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule that ends a race with the problem's epsilon, delta and guarantee.

        It is called only in a race that stops by itself, with one of the algorithm's `guarantees`. Without a rule the
        race ends when all coalitions are known. In a game with several outputs it is called with the problem of each
        output by itself, and the race ends when the rules of all outputs are met.
        """
        if problem.epsilon is None or problem.delta is None or problem.guarantee != "credible":
            return None
        return Credible(problem.epsilon, problem.delta, ordered=problem.ordered)

    def __repr__(self) -> str:
        """Return the constructor call, with the parameters in the order in which they were set."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"
