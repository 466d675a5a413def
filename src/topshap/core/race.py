"""Race: the ask-and-tell interface to one run of one algorithm."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.batch import Batch
from topshap.core.errors import RaceError
from topshap.core.options import refuse_unknown, takes_options
from topshap.core.output_scales import OutputScales
from topshap.core.play import in_units_of_game, result_of, standing_of_table, start
from topshap.core.race_state import NOT_STARTED, RaceState
from topshap.core.rounds import RoundReader
from topshap.core.scale import Scale
from topshap.core.setup import Setup
from topshap.core.validation import check_int, front_door
from topshap.core.values import check_values, check_within, other_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from topshap.core.clear_gap import HowMany
    from topshap.core.looks import EarlyEnd
    from topshap.core.options import RaceOptions
    from topshap.core.result import Stopped, TopK
    from topshap.core.side_information import SideInformation
    from topshap.core.typing import Coalitions, Values


@front_door
class Race(RaceState):
    """A run of one algorithm on one game, for a loop that evaluates the coalitions itself.

    `ask` returns the coalitions to evaluate and `tell` takes their values, until the race is `done`. A coalition is not
    asked for twice if the game is deterministic. `standing` and `result` show the state of the race at any time.

    Parameters
    ----------
    n_players
        The number of players, at least 1.
    k
        The number of players to find, or of pairs with ``order=2``; or ``"clear"``, see `topshap.identify`.
    deterministic
        Whether a coalition has the same value every time. If not, every access is a new evaluation.
    n_outputs
        The number of outputs, if the game has several: `tell` then takes arrays of shape (m, R), and the result is a
        `TopKs`. By default the first values told decide.
    output_names
        One name per output.
    side_information
        What is known about the players before anything is evaluated: a prior and features.
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
        k: HowMany,
        *,
        deterministic: bool = True,
        n_outputs: int | None = None,
        output_names: Iterable[str] | None = None,
        side_information: SideInformation | None = None,
        clock: Callable[[], float] = monotonic,
        **options: Unpack[RaceOptions],
    ) -> None:
        refuse_unknown(options, Race)
        facts: dict[str, Any] = {"deterministic": deterministic, "side": side_information}
        setup = Setup.of(n_players, k, options, n_outputs=n_outputs, output_names=output_names, **facts)
        super().__init__(setup, clock)
        self._reader: RoundReader
        self._telling = False
        self._scale: Scale | OutputScales = Scale(negates=self._setup.negates)
        self._batch = Batch(np.array([[False] * self.n_players, [True] * self.n_players]), self._ledger)

    @property
    def pending(self) -> Coalitions:
        """The coalitions that `ask` returns, not copied; read-only."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to ask.")
        pending = self._batch.pending.view()
        pending.setflags(write=False)
        return pending

    def ask(self) -> Coalitions:
        """Return the coalitions to evaluate next, a bool array of shape (m, n) with different rows."""
        return self.pending.copy()

    def tell(self, values: Any) -> None:
        """Take the values of the coalitions that `ask` returns, in the same order.

        They are m numbers, or an array of shape (m, R) in a game with R outputs.
        """
        checked = self._check(values, self._batch.pending)
        self._telling = True  # stays True after an exception, since the state is then inconsistent
        self._take(checked)
        self._answer_known()
        self._telling = False

    def tell_part(self, values: Any, rows: int | None = None) -> None:
        """Take the values of the first coalitions that `ask` returns, in the same order; it then returns the others.

        The values count as evaluations at once. The standing changes when the batch is complete, so that the result
        does not depend on how batches are divided, or when `end` is called.

        Parameters
        ----------
        values
            One value for each of the first coalitions.
        rows
            The number of these coalitions; by default the number of values.

        Examples
        --------
        >>> race = Race(n_players=4, k=2, budget=12, random_state=0)
        >>> race.tell([0.0, 6.0])
        >>> race.tell_part(race.ask()[:3] @ np.array([3.0, 1.0, 2.0, 0.0]))
        >>> race.evaluations
        5
        """
        pending = self._batch.pending
        rows = len(values) if rows is None else rows
        if rows == len(pending):
            self.tell(values)
        else:
            self._batch.take_part(self._check(values, pending[:rows]))

    def end(self, reason: EarlyEnd = "interrupted") -> None:
        """End the race now, with estimates from all values told so far, including those of an incomplete batch.

        Parameters
        ----------
        reason
            The `stopped` of the race.
        """
        if self._standing is None:
            raise RaceError(NOT_STARTED)
        if self.done:
            return
        told = self._batch.told()
        if (len(told) > 0 or self._reader.within_rounds) and not self._telling:
            missing = len(self._batch.rows) - len(told)
            if self._fit_scale(told):
                self._start()
                self._go_on()
                self._answer_known()
            else:
                self._reader.take_prefix(self._scale.apply(told), missing, self._working, may_resume=False)
        if not self.done:
            self._stop_as("confident" if reason != "interrupted" and self.confident else reason)

    @front_door
    def extend(self, budget: int) -> None:
        """Continue a race that has spent its budget with a larger one, as if it had been given that from the start.

        This requires an algorithm that does not depend on the budget, whose `extendable` is true, and no `stop`.

        Parameters
        ----------
        budget
            The new budget, larger than the number spent. If a coalition counts once, it must be below 2**n, since a
            race with a budget for all coalitions enumerates them.

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
            raise RaceError(f"Only a race that has spent its budget can be extended: this one is {state}.")
        algorithm = self._setup.algorithm
        if not algorithm.extendable or self._limits.stop is not None:
            why = "it has a 'stop' criterion" if algorithm.extendable else f"{algorithm.name!r} depends on the budget"
            raise RaceError(f"This race cannot be extended: {why}.")
        high = 2**self.n_players - 1 if self.counting == "distinct" and self.deterministic else None
        budget = check_int("budget", budget, low=self._ledger.spent + 1, high=high)
        self._limits, self._ledger.budget = replace(self._limits, budget=budget), budget
        self.stopped = None
        self._batch = Batch(self._reader.resume(), self._ledger)
        self._answer_known()

    def result(self) -> TopK:
        """Return the current top k; if the race is not over, `TopK.stopped` is ``"interrupted"``.

        In a game with several outputs it is a `TopKs`, and in a race of order 2 a `TopPairs`.
        """
        standing = self.standing
        fields: dict[str, Any] = {
            "evaluations": self.evaluations,
            "calls": self.calls,
            "budget": self.budget,
            "stopped": self.stopped or "interrupted",
            "guarantee": self._limits.guarantee if self.rule is None else self.rule.guarantee,
            "history": self._recorder.history(self.evaluations, standing),
            "player_values": self.player_values,
            "usage": self.usage,
            **self._setup.result_fields(),
        }
        if self.n_outputs is None:
            fields["output_name"] = self.output_name
        may_be_rare = self.stopped not in ("exact", "confident")
        return result_of(standing, self._ends, self.k, order=self.order, may_be_rare=may_be_rare, fields=fields)

    def _answer_known(self) -> None:
        """Answer batches from the ledger until something has to be evaluated or the race is over."""
        while self.stopped is None and len(self._batch.pending) == 0:
            self._take(self._ledger.no_values)

    def _take(self, values: Values) -> None:
        """Give the algorithm the values that the budget covers, and request the next batch."""
        answer = self._batch.take(values)
        missing = len(self._batch.rows) - len(answer)
        first = self._standing is None
        if first:
            self._ends: Values = answer
            self._random_state = self._setup.rng.bit_generator.state
            if self._ledger.shape:
                self._learn_outputs(*self._ledger.shape)
        fresh = self._fit_scale(answer) or first
        exact = self._ledger.complete and (self.counting == "distinct" or self.n_players == 1)
        if first or (fresh and not exact):
            self._start()
        if exact:
            self._stop_as("exact")
        elif self.n_players == 1:  # values vary, but the only player is the top
            self._stop_as("finished")
        elif missing > 0 and not fresh:
            may_resume = self._setup.algorithm.extendable
            self._reader.take_prefix(self._scale.apply(answer), missing, self._working, may_resume=may_resume)
            self._stop_as("confident" if self.confident else "budget")
        else:
            if not fresh:
                self._reader.take(self._scale.apply(answer))
            self._go_on()

    def _check(self, values: Any, coalitions: Coalitions) -> Values:
        """Return the values of these coalitions as an array, or raise an error if they are not valid."""
        if self.done:
            raise RaceError(f"This race is over ({self.stopped}): there is nothing left to tell.")
        checked = check_values(values, coalitions, self.player_names, self._setup.n_outputs)
        if self._ledger.evaluations > 0 and checked.shape[1:] != self._ledger.shape:
            raise other_outputs(self._ledger.shape, checked.shape[1:])
        if self._limits.value_range is not None:
            check_within(checked, self._limits.value_range, coalitions, self.player_names)
        return checked

    def _learn_outputs(self, n_outputs: int) -> None:
        """Prepare for a game with several outputs, whose number is known from its first values."""
        self._setup = self._setup.for_outputs(n_outputs)
        self._limits = self._setup.limits
        self._scale = OutputScales(n_outputs, negates=self._setup.negates)

    def _fit_scale(self, values: Values) -> bool:
        """Choose the scale for these values; return whether the algorithm has to start anew because of it."""
        scale, started = self._scale, self._standing is not None
        only_zeros = isinstance(scale, Scale) and scale.largest == 0.0
        if not scale.fit(values):
            return False
        if isinstance(scale, OutputScales):
            only_zeros = scale.only_zeros_changed
        if started and only_zeros and self._limits.confidence is None and self._limits.value_range is None:
            self._standing = in_units_of_game(self._working, self._scale)
            return False  # all that the algorithm has got so far is the same in every scale
        return True

    def _go_on(self) -> None:
        """Request the next batch, or stop if the algorithm has ended or a limit is reached."""
        batch = self._reader.read()
        if batch is None:
            ended: Stopped = "budget" if self._ledger.remaining == 0 else "finished"
            self._stop_as("exact" if self.exhausted else "confident" if self.confident else ended)
            return
        self._recorder.note(self.evaluations, self.standing)
        self._batch = Batch(batch, self._ledger)
        if self._limits.may_stop_early and (verdict := self._limits.verdict(self)) is not None:
            self._stop_as(verdict)

    def _start(self) -> None:
        """Start the algorithm, now that v(empty) and v(N) are known, or anew if the scale of the values has changed.

        An algorithm that starts anew gets the values that it asks for again from the ledger.
        """
        algorithm = self._setup.algorithm
        self._setup.rng.bit_generator.state = self._random_state
        if self.deterministic:
            self._ledger.calls = min(self._ledger.calls, len(self._ends))
        problem = self._setup.problem(self._ends, self._ledger, self._scale)
        play = start(algorithm, problem, stops_by_itself=self._limits.confidence is not None)
        self.rule, self._working = play.rule, play.standing
        self._standing = in_units_of_game(self._working, self._scale)
        self._reader = RoundReader(play.rounds, one_at_a_time=self._limits.may_stop_early)

    def _stop_as(self, stopped: Stopped) -> None:
        if stopped == "exact":
            scale = self._scale.without_sign()
            table = scale.apply(self._ledger.table())
            exact = standing_of_table(table, self.standing.tie_order, self.rank_by, order=self.order)
            self._standing = in_units_of_game(exact, scale)
        self.stopped = stopped
