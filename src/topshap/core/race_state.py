"""The state of a race, to be read at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.core.errors import RaceError
from topshap.core.history import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.result import Stopped
    from topshap.core.setup import Setup
    from topshap.core.standing import Standing
    from topshap.core.stopping import StoppingRule

NOT_STARTED = "This race has not started: tell it the values of the first coalitions it asks for."


class RaceState:
    """The players, the limits, what is spent, and the standing of a race."""

    def __init__(self, setup: Setup, clock: Callable[[], float]) -> None:
        self._setup = setup
        self.n_players, self.k, self.player_names = setup.n, setup.k, setup.player_names
        self.deterministic, self.counting, self.rank_by = setup.deterministic, setup.counting, setup.rank_by
        self._limits, self._ledger = setup.limits, setup.ledger()
        self._recorder = Recorder()
        self._clock, self._start_time = clock, clock()
        self._standing: Standing | None = None
        self.stopped: Stopped | None = None
        """Why the race ended, None while it has not: see `TopK.stopped`."""
        self.rule: StoppingRule | None = None
        """The rule that says when it is confident, None before the first answer and where nothing is promised."""
        self._working: Standing

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
        """The completed part of the evaluations that the race's rule takes, from 0 to 1; 0 without a rule."""
        return 0.0 if self.rule is None else self.rule.completion(self._working, self.k)

    @property
    def completion(self) -> float:
        """The completed part of the race, from 0 to 1: that of the limit which is closest."""
        if self._standing is None or (self.done and self.stopped != "interrupted"):
            return float(self.done)
        return self._limits.completion(self)

    @property
    def standing(self) -> Standing:
        """Estimates, standard errors and ranking at the moment."""
        if self._standing is None:
            raise RaceError(NOT_STARTED)
        return self._standing

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The lowest and the highest value that a coalition may have, None without limits."""
        return self._limits.value_range
