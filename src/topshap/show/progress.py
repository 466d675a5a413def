"""A progress bar for a race, driven by how much of it is done."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import isnan
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topshap.core.errors import RaceError
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.race import Race

Progress: TypeAlias = bool | Literal["live"]

SECONDS_BETWEEN = 0.1
"""The bar is redrawn at most this often."""
SHARE = 0.05
"""And takes at most this part of the time: saying how sure a race is may take longer than a batch."""
_NAMES_SHOWN, _NAME_LENGTH = 5, 12


class ProgressBar:
    """A bar that never goes back, and is full when the race is done.

    It shows what is spent, of which budget or how confident the race is, how long it may still take, and the top k at
    the moment.
    """

    def __init__(self, race: Race, bar: Any, clock: Callable[[], float]) -> None:
        self._race, self._bar, self._clock = race, bar, clock
        self._started = clock()
        self._next_draw = self._started + SECONDS_BETWEEN
        self._done_at_start: float | None = None
        self._arrived = 0

    def arrived(self, values: int, fresh: bool = True) -> None:
        """Take note of values that have arrived, `fresh` or known before, while the race waits for its batch."""
        if fresh and self._done_at_start is None:  # from here on time tells how long the rest may take
            self._started, self._done_at_start = self._clock(), self._completion()
        self._arrived += values
        self._draw_if_it_is_time()

    def told(self) -> None:
        """Take note that the race has been told all that it asked for."""
        self._arrived = 0
        self._draw_if_it_is_time()

    def draw(self) -> None:
        """Draw the bar as things stand."""
        race, bar = self._race, self._bar
        start = self._clock()
        bar.n = max(bar.n, min(1.0, self._completion()))
        parts = [self._spent(), self._sure(), self._time_left(), _top(race)]
        bar.set_postfix_str(", ".join(part for part in parts if part), refresh=False)
        bar.refresh()
        end = self._clock()
        self._next_draw = end + max(SECONDS_BETWEEN, (end - start) / SHARE)

    def _draw_if_it_is_time(self) -> None:
        if self._race.done or self._clock() >= self._next_draw:
            self.draw()

    def _completion(self) -> float:
        """Return how much is done; of a budget, also the values count that are still to be told."""
        race = self._race
        completion = race.completion
        return max(completion, self._waiting(race.spent) / race.budget) if race.budget and self._arrived else completion

    def _waiting(self, told: int) -> int:
        return told + self._arrived

    def _spent(self) -> str:
        race = self._race
        of = "" if race.budget is None else f" of {race.budget}"
        return f"{self._waiting(race.evaluations)}{of} evaluations"

    def _sure(self) -> str:
        """Return how sure the race is of its set, if that is what it waits for."""
        if self._race.rule is None:
            return ""
        confidence = self._race.result().confidence
        return "" if isnan(confidence) else f"{confidence:.0%} sure"

    def _time_left(self) -> str:
        """Return how long it may still take, if it goes on as it has so far."""
        done = self._bar.n - (self._done_at_start or 0.0)
        if self._race.done or done <= 0.0:
            return ""
        left = (self._clock() - self._started) * (1.0 - self._bar.n) / done
        return f"{in_words(left)} left"


@contextmanager
def progress_bar(race: Race, *, clock: Callable[[], float] = monotonic) -> Iterator[ProgressBar]:
    """Show a bar for a race.

    Needs the extra ``topshap[progress]``.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, progress=True).players  # the bar is on stderr
    array([0, 2])
    """
    tqdm = _import_tqdm()
    with tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}{postfix}") as bar:
        progress = ProgressBar(race, bar, clock)
        try:
            yield progress
        finally:
            progress.draw()


def view(race: Race, progress: Any) -> AbstractContextManager[Any]:
    """Return what is shown of a race while it runs: a bar, a live leaderboard, or nothing (None)."""
    if progress == "live":
        from topshap.show.terminal import live_leaderboard  # noqa: PLC0415 - an extra, imported where it is used

        return live_leaderboard(race)
    if isinstance(progress, str):
        refuse("progress", progress, must_be="a bool or 'live'")
    return progress_bar(race) if progress else nullcontext()


def in_words(seconds: float) -> str:
    """Return a time as minutes and seconds, or hours and minutes.

    Examples
    --------
    >>> in_words(75), in_words(7500)
    ('1:15', '2 h 05')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d}"


def _top(race: Race) -> str:
    """Return the names of the top k at the moment, the first of them if they are many."""
    try:
        players = race.standing.ranking(resolution=1e-12)[: race.k].tolist()
    except RaceError:  # nothing is known yet
        return ""
    names = [str(i) if race.player_names is None else race.player_names[i][:_NAME_LENGTH] for i in players]
    more = [f"... {len(names) - _NAMES_SHOWN} more"] if len(names) > _NAMES_SHOWN else []
    return "top: " + " ".join(names[:_NAMES_SHOWN] + more)


def _import_tqdm() -> Any:
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - an extra, imported where it is used
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'topshap[progress]'") from error
    return tqdm
