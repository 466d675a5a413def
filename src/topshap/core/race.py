"""Race: an algorithm and a ledger behind ask / tell, for any loop."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.history import Recorder
from topshap.core.negated_standing import NegatedStanding
from topshap.core.options import refuse_unknown, takes_options
from topshap.core.result import TopK
from topshap.core.rounds import RoundReader
from topshap.core.setup import Setup
from topshap.core.standing import FittedStanding
from topshap.core.tables import shapley_from_table
from topshap.core.validation import check_int, front_door
from topshap.core.values import check_values, check_within

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from topshap.core.ledger import Bill
    from topshap.core.options import RaceOptions
    from topshap.core.result import Stopped
    from topshap.core.standing import Standing
    from topshap.core.stopping import StoppingRule
    from topshap.core.typing import Coalitions, Values


@front_door
class Race:
    """A run of one algorithm on one game, driven from outside.

    `ask` returns coalitions that have no value yet, `tell` takes their values, until the race is `done`. A value that
    is paid for is never asked for again. `standing` and `result` show the state of the race at any time.

    Parameters
    ----------
    n_players
        The number of players, at least 1.
    k
        The number of players to find.
    deterministic
        Whether a coalition has the same value every time. If not, every access is evaluated and paid for.
    clock
        A function that returns the time in seconds, for `topshap.stopping.TimeLimit`.
    **options
        The options of a race, see `topshap.RaceOptions`.

    Examples
    --------
    >>> race = Race(n_players=4, k=2, budget=12, random_state=0)
    >>> while not race.done:
    ...     coalitions = race.ask()
    ...     race.tell(coalitions @ np.array([3.0, 1.0, 2.0, 0.0]))
    >>> race.result().players
    array([0, 2])
    """

    @takes_options
    def __init__(
        self,
        n_players: int,
        k: int,
        *,
        deterministic: bool = True,
        clock: Callable[[], float] = monotonic,
        **options: Unpack[RaceOptions],
    ) -> None:
        refuse_unknown(options, Race)
        self._setup = setup = Setup.of(n_players, k, options, deterministic=deterministic)
        self.n_players, self.k, self.player_names = setup.n, setup.k, setup.player_names
        self.deterministic, self.counting, self.rank_by = deterministic, setup.counting, setup.rank_by
        self._limits, self._ledger = setup.limits, setup.ledger()
        self._recorder = Recorder()
        self._clock, self._start_time = clock, clock()
        self._standing: Standing | None = None
        self.stopped: Stopped | None = None
        """Why the race ended, None while it has not: see `TopK.stopped`."""
        self.rule: StoppingRule | None = None
        """The rule that says when it is confident, None before the first answer and where nothing is promised."""
        self._reader: RoundReader
        self._request(np.array([[False] * setup.n, [True] * setup.n]))

    @property
    def done(self) -> bool:
        """Whether the race is over."""
        return self.stopped is not None

    @property
    def evaluations(self) -> int:
        """The number of distinct coalitions that have been paid for."""
        return self._ledger.evaluations

    @property
    def calls(self) -> int:
        """The number of accesses to values; of the empty and the grand coalition only the first one counts."""
        return self._ledger.calls

    @property
    def spent(self) -> int:
        """The part of the budget that is spent: evaluations or calls."""
        return self._ledger.spent

    @property
    def budget(self) -> int | None:
        """The budget, None without a limit."""
        return self._ledger.budget

    @property
    def exhausted(self) -> bool:
        """Whether the value of every coalition is known; never if values vary from call to call."""
        return self._ledger.complete

    @property
    def seconds(self) -> float:
        """The time since the race was made."""
        return self._clock() - self._start_time

    @property
    def confident(self) -> bool:
        """Whether the current top k satisfies `epsilon` and `delta` by the race's rule, or is exact."""
        if self.stopped is not None:
            return self.stopped in ("confident", "exact")
        return self.rule is not None and self.rule(self._working, self.k)

    @property
    def rule_completion(self) -> float:
        """The completed part of the evaluations that the race's rule takes, from 0 to 1; 0 without a rule."""
        return 0.0 if self.rule is None else self.rule.completion(self._working, self.k)

    @property
    def completion(self) -> float:
        """The completed part of the race, from 0 to 1: that of the limit which is closest."""
        if self.done or self._standing is None:
            return float(self.done)
        return self._limits.completion(self)

    @property
    def standing(self) -> Standing:
        """Estimates, standard errors and ranking at the moment."""
        if self._standing is None:
            raise RaceError("This race has not started: tell it the values of the first coalitions it asks for.")
        return self._standing

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The lowest and the highest value that a coalition may have, None without limits."""
        return self._limits.value_range

    @property
    def pending(self) -> Coalitions:
        """The coalitions that `ask` returns, not copied; read-only."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to ask.")
        pending = self._pending.view()
        pending.setflags(write=False)
        return pending

    def ask(self) -> Coalitions:
        """Return the coalitions to evaluate next, a bool array of shape (m, n) with different rows."""
        return self.pending.copy()

    def tell(self, values: Any) -> None:
        """Take the values of the coalitions that `ask` returns, in the same order."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to tell.")
        checked = check_values(values, self._pending, self.player_names)
        if self._limits.value_range is not None:
            check_within(checked, self._limits.value_range, self._pending, self.player_names)
        self._take(checked)
        self._answer_known()

    @front_door
    def extend(self, budget: int) -> None:
        """Let a race that has spent its budget go on with a larger one, as if it had had that from the start.

        This is for algorithms that do not plan by the budget, whose `extendable` is true, and races without `stop`.

        Parameters
        ----------
        budget
            The new budget. Where each coalition is paid for once, fewer than all of them: a race that may pay for
            all enumerates them instead.

        Examples
        --------
        >>> import topshap
        >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 5.0])
        >>> race = Race(n_players=5, k=2, budget=9, algorithm="cmcs", random_state=0)
        >>> while not race.done:
        ...     race.tell(game(race.ask()))
        >>> race.extend(20)
        >>> race.done, race.evaluations, race.budget
        (False, 9, 20)
        """
        if self.stopped != "budget":
            state = self.stopped or "not over"
            raise RaceError(f"Only a race that has spent its budget can go on: this one is {state}.")
        algorithm = self._setup.algorithm
        if not algorithm.extendable or self._limits.stop is not None:
            why = "was given 'stop'" if algorithm.extendable else f"ran {algorithm.name!r}"
            raise RaceError(f"This race {why}, and cannot go on with a larger budget.")
        high = 2**self.n_players - 1 if self.counting == "distinct" and self.deterministic else None
        budget = check_int("budget", budget, low=self._ledger.spent + 1, high=high)
        self._limits, self._ledger.budget = replace(self._limits, budget=budget), budget
        self.stopped = None
        self._request(self._reader.resume())
        self._answer_known()

    def result(self) -> TopK:
        """Return the top k as they stand: of a race that is not over, with ``stopped="interrupted"``."""
        standing = self.standing
        return TopK(
            players=standing.ranking(resolution=1e-12)[: self.k],
            estimates=standing.estimates.copy(),
            std_errors=standing.std_errors.copy(),
            covariance=standing.covariance(),
            evaluations=self.evaluations,
            calls=self.calls,
            budget=self.budget,
            stopped=self.stopped or "interrupted",
            guarantee=self._limits.guarantee if self.rule is None else self.rule.guarantee,
            empty=self._ends[0],
            grand=self._ends[1],
            history=self._recorder.history(self.evaluations, standing),
            **self._setup.result_fields(),
        )

    def _answer_known(self) -> None:
        """Answer batches from the ledger until something has to be evaluated or the race is over."""
        while self.stopped is None and len(self._pending) == 0:
            self._take(np.empty(0))

    def _take(self, values: Values) -> None:
        """Give the algorithm the values of its batch, as far as the budget goes, and request the next batch."""
        answer = self._ledger.enter(self._bill, values)
        missing = len(self._batch) - len(answer)
        started = self._standing is not None
        if not started:
            self._start(answer)
        if self._ledger.complete and (self.counting == "distinct" or self.n_players == 1):
            self._stop_as("exact")
        elif self.n_players == 1:  # values vary, but there is nobody to compare with
            self._stop_as("finished")
        elif missing > 0:
            may_resume = self._setup.algorithm.extendable
            self._reader.take_prefix(self._signed(answer), missing, self._working, may_resume=may_resume)
            self._stop_as("confident" if self.confident else "budget")
        else:
            if started:
                self._reader.take(self._signed(answer))
            self._go_on()

    def _signed(self, values: Values) -> Values:
        """Return the values as the algorithm sees them."""
        return -values if self._setup.negates else values

    def _go_on(self) -> None:
        """Request the next batch, or end where the algorithm has ended or a limit is reached."""
        batch = self._reader.read()
        if batch is None:
            ended: Stopped = "budget" if self._ledger.remaining == 0 else "finished"
            self._stop_as("exact" if self.exhausted else "confident" if self.confident else ended)
            return
        self._recorder.note(self.evaluations, self.standing)
        self._request(batch)
        if self._limits.may_stop_early and (verdict := self._limits.verdict(self)) is not None:
            self._stop_as(verdict)

    def _request(self, batch: Coalitions) -> None:
        """Price a batch; what is not known of it is pending."""
        self._batch = batch
        self._bill: Bill = self._ledger.price(batch)
        unpaid = self._bill.unpaid
        self._pending: Coalitions = batch if len(unpaid) == len(batch) else batch[unpaid]

    def _start(self, ends: Values) -> None:
        """Start the algorithm, now that v(empty) and v(N) are known."""
        algorithm = self._setup.algorithm
        problem = self._setup.problem(ends, self._ledger)
        self._ends: list[float] = ends.tolist()
        self.rule = None if self._limits.confidence is None else algorithm.stopping_rule(problem)
        self._working: Standing = algorithm.standing(problem)
        self._standing = NegatedStanding(self._working) if self._setup.negates else self._working
        rounds = algorithm.rounds(problem, self._working)
        self._reader = RoundReader(rounds, one_at_a_time=self._limits.may_stop_early)

    def _stop_as(self, stopped: Stopped) -> None:
        if stopped == "exact":
            exact = FittedStanding(self.standing.tie_order, np.empty(0), rank_by=self.rank_by)
            exact.set(shapley_from_table(self._ledger.table()), np.zeros((self.n_players, self.n_players)))
            self._standing = exact
        self.stopped = stopped
