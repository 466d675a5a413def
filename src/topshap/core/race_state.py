"""The state of a race, which can be read at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.core.clear_gap import chosen_size
from topshap.core.errors import RaceError
from topshap.core.history import LARGEST_MOMENT, Recorder
from topshap.core.pairs import n_candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.player_values import PlayerValue
    from topshap.core.result import Stopped
    from topshap.core.setup import Setup
    from topshap.core.standing import Standing
    from topshap.core.stopping import StoppingRule
    from topshap.core.usage import Usage

NOT_STARTED = "This race has not started: tell it the values of the first coalitions it asks for."


class RaceState:
    """The players, the limits, the spending and the standing of a race."""

    def __init__(self, setup: Setup, clock: Callable[[], float]) -> None:
        self._setup = setup
        self.n_players, self.player_names = setup.n, setup.player_names
        self.deterministic, self.counting, self.rank_by = setup.deterministic, setup.counting, setup.rank_by
        self.order, self.n_candidates = setup.order, n_candidates(setup.n, setup.order)
        self._limits, self._ledger = setup.limits, setup.ledger()
        self._recorder = Recorder(most=None if setup.order == 1 else LARGEST_MOMENT)
        self._clock, self._start_time = clock, clock()
        self._standing: Standing | None = None
        self.stopped: Stopped | None = None
        """Why the race ended, None while it is not over; see `TopK.stopped`."""
        self.rule: StoppingRule | None = None
        """The rule that decides when the race is confident; None before it starts, or without a confidence to reach."""
        self._working: Standing
        self.player_values: tuple[PlayerValue, ...] | None = None
        """The value of each player in the explained input, for the result; see `TopK.player_values`."""
        self.output_name: str | None = None
        """What the value of a coalition is, for the result; see `TopK.output_name`."""
        self.usage: Usage | None = None
        """The requests, tokens and cost of the evaluations, for displays and the result; see `TopK.usage`."""

    @property
    def k(self) -> int:
        """The number of players to find; with ``k="clear"``, the one that the race has chosen so far."""
        if not self._limits.clear_gap or self._standing is None:
            return self._setup.k
        return chosen_size(self._standing if self.stopped == "exact" else self._working)

    @property
    def done(self) -> bool:
        """Whether the race is over."""
        return self.stopped is not None

    @property
    def evaluations(self) -> int:
        """The number of evaluations; in a deterministic game the number of distinct coalitions."""
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
        """The seconds since the race was created."""
        return self._clock() - self._start_time

    @property
    def out_of_time(self) -> bool:
        """Whether a time limit of `stop` is reached; it may end the race within a batch."""
        return self._standing is not None and self._limits.time_is_up(self)

    @property
    def confident(self) -> bool:
        """Whether the current top k satisfies `epsilon` and `delta` by the race's rule, or is exact."""
        if self.stopped is not None:
            return self.stopped in ("confident", "exact")
        return self.rule is not None and self.rule(self._working, self.k)

    @property
    def rule_completion(self) -> float:
        """The estimated fraction of the evaluations that the race's rule requires, from 0 to 1; 0 without a rule."""
        return 0.0 if self.rule is None else self.rule.completion(self._working, self.k)

    @property
    def completion(self) -> float:
        """The estimated completion of the race, from 0 to 1, by the limit that is closest."""
        if self._standing is None or (self.done and self.stopped != "interrupted"):
            return float(self.done)
        return self._limits.completion(self)

    @property
    def standing(self) -> Standing:
        """The current estimates, standard errors and ranking."""
        if self._standing is None:
            raise RaceError(NOT_STARTED)
        return self._standing

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The lowest and the highest value that a coalition may have, None without limits."""
        return self._limits.value_range

    @property
    def n_outputs(self) -> int | None:
        """The number of outputs, None for one number per coalition; None as well if it is not known yet."""
        return self._setup.n_outputs

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """One name per output, None if they have none."""
        return self._setup.output_names
