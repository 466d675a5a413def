"""Race: an algorithm and a ledger behind ask / tell, for any loop of your own."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.algorithm import Task
from topshap.core.bindings import bound
from topshap.core.errors import RaceError
from topshap.core.history import Recorder
from topshap.core.ledger import Bill, Ledger
from topshap.core.options import agree
from topshap.core.result import TopK
from topshap.core.standing import KnownStanding
from topshap.core.tables import shapley_from_table
from topshap.core.validation import (
    check_choice,
    check_int,
    check_names,
    check_rng,
    check_values,
    check_within,
    front_door,
)
from topshap.evaluation.store.stored_race import memory_of_race
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topshap.core.algorithm import Algorithm, Rounds
    from topshap.core.ledger import Counting
    from topshap.core.result import Stopped
    from topshap.core.standing import Standing
    from topshap.core.stopping import Criterion, Guarantee, StoppingRule
    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.store.store import Store
    from topshap.statistics.ranking import RankBy


@front_door
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
        How many evaluations may be spent, at least 2: the empty and the grand coalition come first. By default 50 per
        player, or all 2**n coalitions if that is less; no limit if `epsilon` or `stop` is given.
    epsilon
        Stop as soon as it is confident that nobody left out is ahead of anyone in the set by more than this.
    delta
        The allowed probability of being wrong about that.
    guarantee
        What that has to rest on: ``"asymptotic"``, ``"credible"`` or ``"exact"``, see `topshap.identify`.
    value_range
        The lowest and the highest value that a coalition may have; a value outside is an error.
    stop
        Another criterion, or a function of the race, that ends the race when it is met: see `topshap.stopping`.
    algorithm
        A name from `topshap.algorithms.ALGORITHMS`, an algorithm with parameters of your own, or ``"auto"``.
    rank_by
        ``"value"`` or ``"magnitude"``, see `topshap.identify`.
    counting
        ``"distinct"`` charges each coalition once, ``"calls"`` every access to it.
    deterministic
        Whether a coalition has the same value every time. If not, every access is evaluated and paid for, and nothing
        is ever called exact.
    player_names
        One name per player, for messages and results.
    random_state
        A seed or a numpy Generator; the same seed gives the same race.
    store
        A `topshap.Store` with a name for the game: what is in it is never asked for, and what is told is kept in it.
        What it answers counts as an evaluation as if it were told.
    clock
        What tells the time in seconds, for `topshap.stopping.TimeLimit`.

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
        stop: Criterion | Callable[[Race], bool] | None = None,
        algorithm: str | Algorithm[Any] = "auto",
        rank_by: RankBy = "value",
        counting: Counting = "distinct",
        deterministic: bool = True,
        player_names: Iterable[str] | None = None,
        random_state: Any = None,
        store: Store | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        n = check_int("n_players", n_players, low=1)
        self.n_players = n
        self.k = check_int("k", k, low=1, high=n)
        check_choice("counting", counting, ("distinct", "calls"))
        check_choice("rank_by", rank_by, RANK_BY)
        self.counting, self.deterministic, self.rank_by = counting, deterministic, rank_by
        self.player_names = check_names(player_names, n)
        self._terms = agree(
            n,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee,
            value_range=value_range,
            stop=stop,
            ends_at_all_coalitions=counting == "distinct" and deterministic,
        )
        self._algorithm: Algorithm[Any] = bound("pick_algorithm")(
            self._terms, n, algorithm, rank_by=rank_by, deterministic=deterministic
        )
        self._rng = check_rng(random_state)
        self._seed = int(random_state) if isinstance(random_state, Integral) else None
        self._ledger = Ledger(n, self._terms.budget, counting, deterministic=deterministic)
        self.stopped: Stopped | None = None
        """Why the race ended, None while it has not: see `TopK.stopped`."""
        self.rule: StoppingRule | None = None
        """The rule that says when it is confident, None before the first answer and where nothing is promised."""
        self._looks = self._terms.confidence is not None or self._terms.stop is not None
        self._task: Task | None = None
        self._standing: Standing | None = None
        self._rounds: Rounds | None = None
        self._recorder = Recorder()
        self._clock, self._start_time = clock, clock()
        self._memory = None if store is None else memory_of_race(store, self)
        self._batch: Coalitions
        self._request(np.array([[False] * n, [True] * n]))
        self._answer_what_is_known()

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
    def spent(self) -> int:
        """How much of a budget is gone: evaluations or calls, as they are counted."""
        return self._ledger.spent

    @property
    def budget(self) -> int | None:
        """What may be spent, None without a limit."""
        return self._ledger.budget

    @property
    def exhausted(self) -> bool:
        """Whether the value of every coalition is known; never so if values vary from call to call."""
        return self._ledger.complete

    @property
    def seconds(self) -> float:
        """How long it is since the race was made."""
        return self._clock() - self._start_time

    @property
    def confident(self) -> bool:
        """Whether the current top k is, by its rule, what `epsilon` and `delta` ask for; or even exact."""
        if self.stopped is not None:
            return self.stopped in ("confident", "exact")
        return self.rule is not None and self.rule(self.standing, self.k)

    @property
    def completion(self) -> float:
        """About how much of the race is done, from 0 to 1: as much as of whichever way to end is furthest."""
        if self.done or self._standing is None:
            return float(self.done)
        return self._terms.completion(self)

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
        if self._terms.value_range is not None:
            check_within(checked, self._terms.value_range, self._asked, self.player_names)
        self._answer(self._with_what_is_stored(checked))
        self._answer_what_is_known()

    @front_door
    def extend(self, budget: int) -> None:
        """Let a race that has spent its budget go on with a larger one, as if it had had that from the start.

        The answer then is the same to the bit as that of a race with the larger budget. This is for algorithms that do
        not plan by the budget, whose `extendable` is true, and for races without `stop`.

        Parameters
        ----------
        budget
            What may be spent in all. Where each coalition is paid for once, not all of them: a race that may ask for
            all enumerates them instead.

        Examples
        --------
        >>> import topshap
        >>> game, early = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 5.0]), []
        >>> race = Race(n_players=5, k=2, budget=9, algorithm="cmcs", random_state=0)
        >>> for budget in (20, 30):
        ...     while not race.done:
        ...         race.tell(game(race.ask()))
        ...     early.append(race.result())
        ...     race.extend(budget)
        >>> [(top.evaluations, top.stopped) for top in early], race.done, race.budget
        ([(9, 'budget'), (20, 'budget')], False, 30)
        """
        if self.stopped != "budget":
            raise RaceError(
                f"Only a race that has spent its budget can go on: this one is {self.stopped or 'not over'}."
            )
        if not self._algorithm.extendable or self._terms.stop is not None:
            why = "was given 'stop'" if self._algorithm.extendable else f"ran {self._algorithm.name!r}"
            raise RaceError(f"This race {why}, and cannot go on with a larger budget.")
        high = 2**self.n_players - 1 if self.counting == "distinct" and self.deterministic else None
        budget = check_int("budget", budget, low=self._ledger.spent + 1, high=high)
        self._terms, self._ledger.budget = replace(self._terms, budget=budget), budget
        self.stopped = None
        self._request(self._batch)
        self._answer_what_is_known()

    def result(self) -> TopK:
        """Return the top k as they stand: of a race that is not over, with ``stopped="interrupted"``."""
        standing, task, terms = self.standing, self._task, self._terms
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
            epsilon=task.epsilon,
            delta=task.delta,
            guarantee=terms.guarantee if self.rule is None else self.rule.guarantee,
            value_range=terms.value_range,
            stopped=self.stopped or "interrupted",
            rule=None if terms.stop is None else repr(terms.stop),
            algorithm=self._algorithm.name,
            rank_by=self.rank_by,
            counting=self.counting,
            deterministic=self.deterministic,
            empty=task.empty,
            grand=task.grand,
            history=self._recorder.history(self.evaluations, standing),
            random_state=self._seed,
        )

    def _answer_what_is_known(self) -> None:
        """Go on until something has to be asked that neither the ledger nor a store knows."""
        while self.stopped is None and len(self._asked) == 0:
            self._answer(self._with_what_is_stored(np.empty(0)))

    def _with_what_is_stored(self, told: Values) -> Values:
        """Return what was told together with what a store knew of the same batch."""
        if self._memory is None:
            return told
        values = self._memory.complete(told)
        if self._terms.value_range is not None:
            check_within(values, self._terms.value_range, self._memory.wanted, self.player_names)
        return values

    def _answer(self, values: Values) -> None:
        """Give the algorithm the values of its batch, as far as the budget allows, and note what it asks next."""
        answer = self._ledger.enter(self._bill, values)
        cut = len(answer) < len(self._batch)
        starting = self._rounds is None
        rounds = self._rounds or self._start(answer)
        if self._ledger.complete and (self.counting == "distinct" or self.n_players == 1):
            self._stop_as("exact")
            return
        if self.n_players == 1:  # values vary, but there is nobody to compare with
            self._stop_as("finished")
            return
        try:
            batch = next(rounds) if starting else rounds.send(answer)
        except StopIteration:
            self._end(cut=cut)
            return
        if cut:
            if not np.array_equal(batch, self._batch[len(answer) :]):
                raise RaceError(f"{self._algorithm.name} asked for more after the budget had ended inside its batch.")
            self._batch = batch  # for `extend`
            self._end(cut=cut)
            return
        self._recorder.note(self.evaluations, self.standing)
        self._request(batch)
        if self._looks and (ended := self._terms.verdict(self)) is not None:
            self._stop_as(ended)

    def _end(self, *, cut: bool) -> None:
        """End the race since the algorithm has: as confident if it may be, as out of budget only if it is."""
        if self._ledger.complete and not cut:  # it ended because there is nothing more to ask
            self._stop_as("exact")
        elif self.confident:
            self._stop_as("confident")
        else:
            self._stop_as("budget" if cut or self._ledger.remaining == 0 else "finished")

    def _request(self, batch: Coalitions) -> None:
        """Note what the algorithm wants to know, and which of it has to be paid for."""
        self._batch = batch
        self._bill: Bill = self._ledger.price(batch)
        unpaid = self._bill.unpaid
        self._asked: Coalitions = batch if len(unpaid) == len(batch) else batch[unpaid]
        if self._memory is not None:
            self._asked = self._memory.unknown(self._asked)

    def _start(self, ends: Values) -> Rounds:
        empty, grand = ends.tolist()
        confidence = self._terms.confidence
        task = Task(
            n=self.n_players,
            k=self.k,
            rng=self._rng,
            tie_order=self._rng.permutation(self.n_players),
            empty=empty,
            grand=grand,
            ledger=self._ledger,
            epsilon=None if confidence is None else confidence.epsilon,
            delta=None if confidence is None else confidence.delta,
            guarantee="asymptotic" if confidence is None else confidence.guarantee,
            value_range=self._terms.value_range,
            watched=self._terms.stop is not None,
        )
        self._task = task
        self.rule = None if confidence is None else self._algorithm.stopping_rule(task)
        self._standing = self._algorithm.standing(task)
        self._standing.rank_by = self.rank_by
        self._rounds = self._algorithm.rounds(task, self._standing)
        return self._rounds

    def _stop_as(self, stopped: Stopped) -> None:
        if stopped == "exact":
            exact = KnownStanding(self.standing.tie_order, shapley_from_table(self._ledger.table()))
            exact.set(exact.estimates, np.zeros((self.n_players, self.n_players)))
            exact.rank_by = self.rank_by
            self._standing = exact
        self.stopped = stopped
