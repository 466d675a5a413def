"""Race: an algorithm and a ledger behind ask / tell, for any loop of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap import algorithms
from topshap._validation import (
    check_choice,
    check_int,
    check_names,
    check_probability,
    check_range,
    check_real,
    check_rng,
    check_values,
    check_within,
    refuse,
)
from topshap.errors import RaceError
from topshap.exact import shapley_from_table
from topshap.ledger import Bill, Ledger
from topshap.result import TopK
from topshap.statistics.standing import KnownStanding
from topshap.stopping import GUARANTEES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.algorithms import Algorithm, Rounds, Task
    from topshap.ledger import Counting
    from topshap.result import Stopped
    from topshap.statistics.standing import Standing
    from topshap.stopping import Guarantee, StoppingRule
    from topshap.typing import Coalitions, Values


ENUMERABLE_PLAYERS = 30
"""A race without any limit is expected to end by knowing all coalitions only up to this many players."""


class Race:
    """A run of one algorithm on one game, driven from outside.

    `ask` returns coalitions that have no value yet, `tell` takes their values, until the race is `done`. What has been
    paid for is never asked for again. The race may be looked at at any time through `standing` and `result`.

    Parameters
    ----------
    n_players
        The number of players, at least 1.
    k
        How many to find.
    budget
        How many evaluations may be spent, at least 2: the empty and the grand coalition come first. None chooses
        `default_budget`, or no limit if `epsilon` is given.
    epsilon
        Stop as soon as the inclusion-exclusion error is confidently at most this.
    delta
        The allowed probability of a larger error.
    guarantee
        What that has to rest on: ``"asymptotic"``, ``"credible"`` or ``"exact"``, see `topshap.identify`.
    value_range
        The lowest and the highest value that a coalition may have; a value outside is an error.
    algorithm
        A name from `topshap.algorithms.ALGORITHMS`, an algorithm with parameters of your own, or ``"auto"``.
    counting
        ``"distinct"`` charges each coalition once, ``"calls"`` every access to it.
    deterministic
        Whether a coalition has the same value every time. If not, every access is evaluated and paid for, and nothing
        is ever called exact.
    player_names
        One name per player, for messages and results.
    random_state
        A seed or a numpy Generator; the same seed gives the same race.

    Examples
    --------
    >>> race = Race(n_players=4, k=2, budget=12, random_state=0)
    >>> while not race.done:
    ...     coalitions = race.ask()
    ...     race.tell(coalitions @ np.array([3.0, 1.0, 2.0, 0.0]))
    >>> race.result().players
    array([0, 2])
    """

    def __init__(
        self,
        n_players: int,
        k: int,
        *,
        budget: int | None = None,
        epsilon: float | None = None,
        delta: float = 0.05,
        guarantee: Guarantee = "asymptotic",
        value_range: tuple[float, float] | None = None,
        algorithm: str | Algorithm[Any] = "auto",
        counting: Counting = "distinct",
        deterministic: bool = True,
        player_names: Iterable[str] | None = None,
        random_state: Any = None,
        _owner: str = "Race",
    ) -> None:
        n = check_int("n_players", n_players, owner=_owner, low=1)
        self.n_players = n
        self.k = check_int("k", k, owner=_owner, low=1, high=n)
        check_choice("counting", counting, ("distinct", "calls"), owner=_owner)
        check_choice("guarantee", guarantee, GUARANTEES, owner=_owner)
        if budget is not None:
            budget = check_int("budget", budget, owner=_owner, low=2)
        elif epsilon is None:
            budget = default_budget(n)
        self.player_names = check_names(player_names, n, owner=_owner)
        delta = check_probability("delta", delta, owner=_owner)
        if epsilon is not None:
            epsilon = check_real("epsilon", epsilon, owner=_owner, low=0.0)
        if value_range is not None:
            value_range = check_range("value_range", value_range, owner=_owner)
        elif epsilon is not None and guarantee == "exact":
            _refuse_if_endless(n, budget, enumerates=counting == "distinct" and deterministic, owner=_owner)
        self.stopped: Stopped | None = None
        self._ledger = Ledger(n, budget, counting, deterministic=deterministic)
        self._epsilon, self._delta, self._guarantee = epsilon, delta, guarantee
        self._value_range = value_range
        enumerable = counting == "distinct" and deterministic and epsilon is None and (budget or 0) >= 2**n
        self._algorithm = _choose(
            algorithm, n, budget, guarantee=None if epsilon is None else guarantee, enumerable=enumerable, owner=_owner
        )
        self._rule: StoppingRule | None = None
        if epsilon == 0.0 and counting == "calls" and budget is None:
            must_be = "above 0 with counting='calls' and no budget, since a tie would then never end"
            refuse("epsilon", epsilon, owner=_owner, must_be=must_be)
        self._rng = check_rng(random_state, owner=_owner)
        self._task: Task | None = None
        self._standing: Standing | None = None
        self._rounds: Rounds | None = None
        self._request(np.array([[False] * n, [True] * n]))

    @property
    def done(self) -> bool:
        """Whether the race is over."""
        return self.stopped is not None

    @property
    def evaluations(self) -> int:
        """How many distinct coalitions have been paid for."""
        return self._ledger.evaluations

    @property
    def calls(self) -> int:
        """How often a value was accessed; of the empty and the grand coalition only the first time counts."""
        return self._ledger.calls

    @property
    def budget(self) -> int | None:
        """What may be spent, None without a limit."""
        return self._ledger.budget

    @property
    def standing(self) -> Standing:
        """Estimates, standard errors and ranking at the moment."""
        if self._standing is None:
            raise RaceError("This race has not started: tell it the values of the first coalitions it asks for.")
        return self._standing

    def ask(self) -> Coalitions:
        """Return the coalitions to evaluate next, a bool array of shape (m, n) with different rows."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to ask.")
        return self._asked.copy()

    def tell(self, values: Any) -> None:
        """Take the values of the coalitions that `ask` returns, in the same order."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to tell.")
        checked = check_values(values, self._asked, self.player_names)
        if self._value_range is not None:
            check_within(checked, self._value_range, self._asked, self.player_names)
        self._answer(checked)
        while self.stopped is None and not self._bill.unpaid:
            self._answer(np.empty(0))

    def result(self) -> TopK:
        """Return the top k as they stand: of a race that is not over, with ``stopped="interrupted"``."""
        standing, task = self.standing, self._task
        if task is None:
            raise RaceError("This race has not started.")
        return TopK(
            players=standing.ranking(resolution=1e-12)[: self.k],
            estimates=standing.estimates.copy(),
            std_errors=standing.std_errors.copy(),
            covariance=standing.covariance(),
            player_names=self.player_names,
            evaluations=self.evaluations,
            calls=self.calls,
            budget=self.budget,
            epsilon=self._epsilon,
            delta=None if self._epsilon is None else self._delta,
            stopped=self.stopped or "interrupted",
            algorithm=self._algorithm.name,
            counting=self._ledger.counting,
            deterministic=self._ledger.deterministic,
            empty=task.empty,
            grand=task.grand,
            guarantee=None
            if self._epsilon is None
            else self._guarantee
            if self._rule is None
            else self._rule.guarantee,
            value_range=self._value_range,
        )

    def _answer(self, values: Values) -> None:
        """Give the algorithm the values of its batch, as far as the budget allows, and note what it asks next."""
        answer = self._ledger.enter(self._bill, values)
        cut = len(answer) < len(self._batch)
        starting = self._rounds is None
        rounds = self._rounds or self._start(answer)
        if self._ledger.complete and (self._ledger.counting == "distinct" or self.n_players == 1):
            self._finish_exactly()
            return
        if self.n_players == 1:  # values vary, but there is nobody to compare with
            self.stopped = "finished"
            return
        try:
            batch = next(rounds) if starting else rounds.send(answer)
        except StopIteration:
            if self._confident():
                self.stopped = "confident"
            elif self._ledger.complete and not cut:  # it ended because there is nothing more to ask
                self._finish_exactly()
            else:
                self.stopped = "budget" if cut or self._ledger.remaining == 0 else "finished"
            return
        if self._rule is not None and self._confident():
            self.stopped = "confident"
        elif cut:
            raise RaceError(f"{self._algorithm.name} asked for more after the budget had ended inside its batch.")
        else:
            self._request(batch)

    def _confident(self) -> bool:
        return self._rule is not None and self._rule(self.standing, self.k)

    def _request(self, batch: Coalitions) -> None:
        """Note what the algorithm wants to know, and which of it has to be paid for."""
        self._batch = batch
        self._bill: Bill = self._ledger.price(batch)
        unpaid = self._bill.unpaid
        self._asked: Coalitions = batch if len(unpaid) == len(batch) else batch[unpaid]

    def _start(self, ends: Values) -> Rounds:
        empty, grand = ends.tolist()
        task = algorithms.Task(
            n=self.n_players,
            k=self.k,
            rng=self._rng,
            tie_order=self._rng.permutation(self.n_players),
            empty=empty,
            grand=grand,
            ledger=self._ledger,
            epsilon=self._epsilon,
            delta=None if self._epsilon is None else self._delta,
            guarantee=self._guarantee,
            value_range=self._value_range,
        )
        self._task = task
        self._rule = None if self._epsilon is None else self._algorithm.stopping_rule(task)
        self._standing = self._algorithm.standing(task)
        self._rounds = self._algorithm.rounds(task, self._standing)
        return self._rounds

    def _finish_exactly(self) -> None:
        exact = KnownStanding(self.standing.tie_order, shapley_from_table(self._ledger.table()))
        exact.set(exact.estimates, np.zeros((self.n_players, self.n_players)))
        self._standing = exact
        self.stopped = "exact"


def default_budget(n_players: int) -> int:
    """Return the budget of a race that is given none: 50 evaluations per player, or all coalitions if that is less.

    Examples
    --------
    >>> default_budget(5), default_budget(14)
    (32, 700)
    """
    return min(2**n_players, 50 * n_players)


def _choose(
    algorithm: str | Algorithm[Any],
    n: int,
    budget: int | None,
    *,
    guarantee: Guarantee | None,
    enumerable: bool,
    owner: str,
) -> Algorithm[Any]:
    """Return the algorithm to run: the one that was asked for, if it can do what it has to."""
    auto = isinstance(algorithm, str) and algorithm == "auto"
    asked_for = None if auto else algorithms.make(algorithm, owner=owner)
    if enumerable:
        return algorithms.Enumeration()
    chosen = asked_for or algorithms.choose(n_players=n, budget=budget, guarantee=guarantee)
    if guarantee is not None and guarantee not in chosen.guarantees:
        able = ", ".join(repr(name) for name, kind in algorithms.ALGORITHMS.items() if guarantee in kind.guarantees)
        must_be = f"one that can stop by itself with guarantee={guarantee!r}: 'auto', {able or 'or one of your own'}"
        refuse("algorithm", algorithm, owner=owner, must_be=must_be)
    if budget is None and chosen.needs_budget:
        must_be = f"given with algorithm {chosen.name!r}, which plans for the whole of it"
        refuse("budget", budget, owner=owner, must_be=must_be)
    return chosen


def _refuse_if_endless(n: int, budget: int | None, *, enumerates: bool, owner: str) -> None:
    """Refuse an exact guarantee that could rest on nothing: neither on a range nor on knowing all coalitions."""
    if not enumerates:
        must_be = "given for guarantee='exact', unless coalitions are counted once and always have the same value"
        refuse("value_range", None, owner=owner, must_be=must_be)
    if budget is None and n > ENUMERABLE_PLAYERS:
        must_be = f"given for guarantee='exact' with more than {ENUMERABLE_PLAYERS} players and no budget"
        refuse("value_range", None, owner=owner, must_be=must_be)
