"""What an algorithm is: a generator of coalitions, and the standing it keeps.

An algorithm never evaluates anything. Its `rounds` yields coalitions, a bool array of shape (m, n), and is sent their
values. If fewer values come back than were asked for, the budget ended inside the batch: the algorithm uses the prefix
and returns, or asks for the rest of the batch, as `ask` does, in case the budget is raised. All randomness comes from
the generator in its task: the same seed and the same values give the same run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from topshap.core.standing import Standing
from topshap.core.stopping import Credible
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from topshap.core.ledger import Ledger
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Coalition, Coalitions, Players, Values
    from topshap.statistics.ranking import RankBy

MAX_BATCH_BYTES = 2**24
"""No batch of coalitions is larger than this, whatever the number of players."""

ROWS_PER_BATCH = 256
"""How many coalitions an algorithm asks for at once where it does not have to wait for their values."""

Rounds: TypeAlias = "Generator[Coalitions, Values, None]"
StandingT = TypeVar("StandingT", bound=Standing)


@dataclass(frozen=True, slots=True)
class Task:
    """What an algorithm is given: the size of the problem, the two values known from the start, randomness, budget."""

    n: int
    k: int
    rng: np.random.Generator
    tie_order: Players
    empty: float
    """v(empty coalition)."""
    grand: float
    """v(grand coalition)."""
    ledger: Ledger
    """What is spent and what is left, to be read only."""
    epsilon: float | None = None
    """The allowed inclusion-exclusion error in a race that stops by itself, None in one for a fixed budget."""
    delta: float | None = None
    """The allowed probability of a larger error in a race that stops by itself, None in one for a fixed budget."""
    guarantee: Guarantee = "asymptotic"
    """What the answer of a race that stops by itself has to rest on."""
    value_range: tuple[float, float] | None = None
    """The lowest and the highest value a coalition may have, None where nothing is known; values are checked."""
    watched: bool = False
    """Whether a criterion of the user's own may end the race after any batch."""

    @property
    def gain(self) -> float:
        """The sum of all Shapley values, v(N) - v(empty)."""
        return self.grand - self.empty

    def rounds_per_batch(self, rows_per_round: int) -> int:
        """Return how many rounds to ask for at once: one in a race that may stop after each of them."""
        if self.delta is not None or self.watched:
            return 1
        return max(1, ROWS_PER_BATCH // max(1, rows_per_round))


class Algorithm(ABC, Generic[StandingT]):
    """Decides which coalitions to evaluate next, and what their values say.

    Subclasses are constructed with their parameters only; everything about the game comes with the `Task`.
    """

    name: ClassVar[str]
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("credible",)
    """What a race of this algorithm that stops by itself can rest on."""
    needs_budget: ClassVar[bool] = False
    """Whether it plans for the whole budget, and so cannot run without one."""
    extendable: ClassVar[bool] = False
    """Whether a race that has spent its budget can go on with a larger one as if it had had that from the start."""
    takes_noise: ClassVar[bool] = True
    """Whether the values of the game may vary from call to call."""
    ranks_by: ClassVar[tuple[RankBy, ...]] = RANK_BY
    """What players may be ranked by; only by value where its choices depend on who is next to the border."""
    max_players: ClassVar[int | None] = None
    """The largest game it can be run on, None for any."""

    @abstractmethod
    def standing(self, task: Task) -> StandingT:
        """Return the standing at the start of a race."""

    @abstractmethod
    def rounds(self, task: Task, standing: StandingT) -> Rounds:
        """Yield batches of coalitions, receive their values, keep `standing` up to date."""

    def stopping_rule(self, task: Task) -> StoppingRule | None:
        """Return the rule by which a race at the task's epsilon, delta and guarantee stops by itself.

        Asked for only in such a race, with one of the algorithm's `guarantees`. None leaves it to the end, where all
        coalitions are known.
        """
        if task.epsilon is None or task.delta is None or task.guarantee != "credible":
            return None
        return Credible(task.epsilon, task.delta)

    def __repr__(self) -> str:
        """Return the constructor call, parameters in the order they were set."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


def evaluate(parts: Iterable[Coalitions]) -> Generator[Coalitions, Values, Values]:
    """Ask for the coalitions of all parts, a part a batch, until the budget ends; return the values so far."""
    answers: list[Values] = []
    for part in parts:
        values = yield part
        answers.append(values)
        if len(values) < len(part):
            break
    return answers[0] if len(answers) == 1 else np.concatenate([np.empty(0), *answers])


def ask(
    parts: Iterable[Coalitions], standing: Standing, add: Callable[[Values], object]
) -> Generator[Coalitions, Values, None]:
    """Ask for the coalitions of all parts, a part a batch, and let `add` put their values into the standing.

    Where the budget ends, `add` gets the values so far, and the rest is asked for: if the budget is raised, they are
    taken back out of the standing, and `add` gets all values, as if the budget had never ended there.
    """
    answers: list[Values] = []
    for part in parts:
        values = yield part
        while len(values) < len(part):
            take_back = standing.checkpoint()
            add(np.concatenate([*answers, values]))
            rest = yield part[len(values) :]
            take_back()
            values = np.concatenate([values, rest])
        answers.append(values)
    add(answers[0] if len(answers) == 1 else np.concatenate(answers))


def rows_at_most(n: int, bytes_per_entry: int = 1) -> int:
    """Return how many rows of n entries fit into one batch."""
    return max(1, MAX_BATCH_BYTES // (n * bytes_per_entry))


def slices(total: int, at_most: int) -> Iterator[slice]:
    """Cut range(total) into slices of bounded length."""
    for start in range(0, total, at_most):
        yield slice(start, min(start + at_most, total))


def flipped(anchor: Coalition, players: Players) -> Coalitions:
    """Return the anchor with each of `players` flipped, one a row."""
    rows = np.repeat(anchor[None], len(players), axis=0)
    rows[np.arange(len(players)), players] ^= True
    return rows
