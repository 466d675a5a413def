"""The base of the displays of a running race: it counts values, limits the drawing rate and predicts the time left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic
from typing import TYPE_CHECKING

from topshap.show.wording import how_it_ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.race import Race

SECONDS_BETWEEN = 0.1
"""The minimum time between two drawings."""
SHARE = 0.05
"""The maximum share of the run time that drawing takes: computing the confidence of a race may be slow."""


class ProgressView(ABC):
    """A display of a race while it runs. Its completion never goes back, and is 1 at the end unless interrupted."""

    def __init__(self, race: Race, clock: Callable[[], float] = monotonic) -> None:
        self._race, self._clock = race, clock
        self._started = clock()
        self._next_draw = self._started + SECONDS_BETWEEN
        self._at_start: tuple[int, float] | None = None  # spent and completed before the first fresh value
        self._arrived = 0
        self._completion = 0.0
        self._closed = False

    def arrived(self, values: int, fresh: bool = True) -> None:
        """Count values that have arrived while the race waits for its batch; those from a store are not `fresh`."""
        if fresh and self._at_start is None:  # the speed is measured on fresh values only
            self._started, self._at_start = self._clock(), (self._spent(), self._completed())
        self._arrived += values
        self._draw_if_due()

    def told(self) -> None:
        """Count the batch as told to the race."""
        self._arrived = 0
        self._draw_if_due()

    def draw(self) -> None:
        """Draw the current state."""
        start = self._clock()
        self._completion = max(self._completion, min(1.0, self._completed()))
        self._draw()
        end = self._clock()
        self._next_draw = end + max(SECONDS_BETWEEN, (end - start) / SHARE)

    def close(self) -> None:
        """Draw the state at the end of the run, whether or not the race is over."""
        self._closed = True
        self.draw()

    @abstractmethod
    def _draw(self) -> None:
        """Draw the current state, with `_completion` up to date."""

    def _draw_if_due(self) -> None:
        if self._race.done or self._clock() >= self._next_draw:
            self.draw()

    def _completed(self) -> float:
        """Return the completion of the race, with values of the current batch counted towards a budget."""
        race = self._race
        completion = race.completion
        return max(completion, self._spent() / race.budget) if race.budget and self._arrived else completion

    def _spent(self) -> int:
        return self._race.spent + self._arrived

    def _cost(self) -> str:
        """Return the evaluations spent in words, such as "20 of 300 evaluations", and what they cost, if known."""
        race = self._race
        of_budget = "" if race.budget is None else f" of {race.budget:,}"
        unit = "calls" if race.counting == "calls" else "evaluations"
        paid = "" if race.usage is None else f", {race.usage.brief}"
        return f"{self._spent():,}{of_budget} {unit}{paid}"

    def _seconds(self) -> float:
        return self._clock() - self._started

    def _per_second(self) -> float:
        """Return the speed so far; 0 if nothing fresh has arrived."""
        before = 0 if self._at_start is None else self._at_start[0]
        seconds = self._seconds()
        return (self._spent() - before) / seconds if seconds > 0 else 0.0

    def _ending(self) -> str:
        """Return how the run ended, such as "the budget was spent"; empty while it goes on."""
        return how_it_ended(self._race) if self._race.done or self._closed else ""

    def _time_left(self) -> str:
        """Return the time left at the current speed, such as "1:15 left"; empty if unknown or if the race is done."""
        before = 0.0 if self._at_start is None else self._at_start[1]
        done = self._completion - before
        if self._race.done or done <= 0.0:
            return ""
        return f"{format_seconds(self._seconds() * (1.0 - self._completion) / done)} left"


def format_seconds(seconds: float) -> str:
    """Return a time as minutes and seconds, or hours and minutes.

    Examples
    --------
    >>> format_seconds(75), format_seconds(7500)
    ('1:15', '2 h 05')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d}"
