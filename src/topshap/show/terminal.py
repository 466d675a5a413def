"""The race while it runs: a leaderboard in the terminal that reorders as evidence comes in."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.extras import import_extra
from topshap.show.labels import shorten_all, shown_ranks
from topshap.show.numbers import short_number
from topshap.show.progress import SECONDS_BETWEEN, SHARE, in_words, progress_bar
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from topshap.core.race import Race
    from topshap.core.typing import Matrix, Players

MOST_ROWS = 16
INSIDE, OUTSIDE, BORDER = "bold dodger_blue1", "dim", "dark_orange"
_BAR_WIDTH = 30


@contextmanager
def live_leaderboard(
    race: Race, *, console: Console | None = None, clock: Callable[[], float] = monotonic
) -> Iterator[Any]:
    """Show a race as a leaderboard with intervals that is brought up to date while it runs.

    Where standard error is no terminal, it is the plain progress bar. Needs the extra ``topshap[live]``.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, progress="live").players  # it is on stderr
    array([0, 2])
    """
    console = _rich("console").Console(stderr=True) if console is None else console
    if not console.is_terminal or console.is_dumb_terminal or console.is_jupyter:
        with progress_bar(race) as bar:
            yield bar
        return
    with _rich("live").Live(console=console, auto_refresh=False) as live:
        shown = LiveLeaderboard(race, live, clock)
        try:
            yield shown
        finally:
            shown.draw()


class LiveLeaderboard:
    """What is shown of a race while it runs; it takes a small part of the time only."""

    def __init__(self, race: Race, live: Live, clock: Callable[[], float]) -> None:
        self._race, self._live, self._clock = race, live, clock
        self._start_time = self._next_draw = clock()
        self._start: tuple[int, float] | None = None  # what was spent and done before the first fresh value
        self._arrived = 0
        self._completion = 0.0

    def arrived(self, values: int, fresh: bool = True) -> None:
        """Take note of values that have arrived, `fresh` or known before, while the race waits for its batch."""
        if fresh and self._start is None:  # from here on time tells how fast it is and how long the rest may take
            self._start_time, self._start = self._clock(), (self._race.spent + self._arrived, self._race.completion)
        self._arrived += values
        self._draw_if_it_is_time()

    def told(self) -> None:
        """Take note that the race has been told all that it asked for."""
        self._arrived = 0
        self._draw_if_it_is_time()

    def draw(self) -> None:
        """Draw the leaderboard as things stand."""
        start = self._clock()
        headline = self._headline()
        try:
            picture = _rich("console").Group(headline, _table(self._race, self._live.console))
        except RaceError:  # nothing is known yet
            picture = headline
        self._live.update(picture, refresh=True)
        end = self._clock()
        self._next_draw = end + max(SECONDS_BETWEEN, (end - start) / SHARE)

    def _draw_if_it_is_time(self) -> None:
        if self._race.done or self._clock() >= self._next_draw:
            self.draw()

    def _headline(self) -> Text:
        """Return what is spent of what, how fast, and how long it may still take."""
        race, seconds = self._race, self._clock() - self._start_time
        spent_before, done_before = self._start or (0, 0.0)
        spent = race.spent + self._arrived
        done = max(race.completion, spent / race.budget) if race.budget and self._arrived else race.completion
        self._completion = max(self._completion, min(1.0, done))
        unit = "calls" if race.counting == "calls" else "evaluations"
        of_budget = "" if race.budget is None else f" of {race.budget:,}"
        parts = [f"Top {race.k} of {race.n_players:,} after {spent:,}{of_budget} {unit}"]
        if seconds > 0 and spent > spent_before:
            rate = (spent - spent_before) / seconds
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
        if race.done:
            parts.append(f"done in {in_words(seconds)}")
        elif self._completion > done_before:
            left = seconds * (1.0 - self._completion) / (self._completion - done_before)
            parts.append(f"{self._completion:.0%}, {in_words(left)} left")
        text: Text = _text(" · ".join(parts), "bold")
        return text


def _table(race: Race, console: Console) -> RenderableType:
    """Return the players by estimate, with intervals as bars and a line at the border."""
    standing = race.standing
    table = _rich("table").Table(box=None, pad_edge=False)
    for heading, justify in (("", "right"), ("player", "left"), ("interval of 95%", "left"), ("estimate", "right")):
        table.add_column(heading, justify=justify, no_wrap=True, header_style="dim")
    ranks = shown_ranks(race.n_players, race.k, max(4, min(MOST_ROWS, console.height - 6)))
    players = standing.ranking(resolution=1e-12)[ranks]
    half_widths = two_sided_quantile(0.05) * standing.std_errors[players]
    estimates = standing.estimates[players]
    bars = interval_bars(np.stack([estimates - half_widths, estimates, estimates + half_widths]), _ink(console))
    scale = float(np.abs(estimates).max())
    names = shorten_all(str(i) if race.player_names is None else race.player_names[i] for i in players)
    for row, (rank, name) in enumerate(zip(ranks.tolist(), names, strict=True)):
        style = INSIDE if rank < race.k else OUTSIDE
        if row > 0 and rank > ranks[row - 1] + 1:
            table.add_row("", _text(f"{rank - ranks[row - 1] - 1:,} more", "dim"))
        if rank == race.k:
            line = "-" * 8
            table.add_row("", _text(line, BORDER), _text("-" * _BAR_WIDTH, BORDER), _text(line, BORDER))
        error = "" if np.isnan(half_widths[row]) else f" ± {half_widths[row]:.2g}"
        cells = (f"{rank + 1}", name, bars[row], short_number(estimates[row], scale) + error)
        table.add_row(*(_text(cell, style) for cell in cells))
    return _with_rest(table, race.n_players, ranks)


def interval_bars(intervals: Matrix, ink: tuple[str, str, str] = ("─", "●", "│")) -> list[str]:
    """Return a line of characters for each interval: its ends, the estimate in it, and zero.

    Parameters
    ----------
    intervals
        Low ends, estimates and high ends, shape (3, m); ends that are not known are nan.
    ink
        What an interval, an estimate and zero are drawn with.

    Examples
    --------
    >>> for bar in interval_bars(np.array([[1.0, -1.0], [2.0, 0.5], [3.0, 2.0]])):
    ...     print(f"[{bar}]")
    [       │      ────────●───────]
    [───────│───●───────────       ]
    """
    known = np.where(np.isfinite(intervals), intervals, intervals[1])
    low, high = min(0.0, known.min()), max(0.0, known.max())
    places = ((known - low) / (high - low or 1.0) * (_BAR_WIDTH - 1)).round().astype(int)
    zero = round(-low / (high - low or 1.0) * (_BAR_WIDTH - 1))
    bars = []
    for left, middle, right in places.T:
        bar = [" "] * _BAR_WIDTH
        bar[left : right + 1] = ink[0] * (right + 1 - left)
        bar[zero], bar[middle] = ink[2], ink[1]
        bars.append("".join(bar))
    return bars


def _with_rest(table: Any, n_players: int, ranks: Players) -> RenderableType:
    if ranks[-1] < n_players - 1:
        table.add_row("", _text(f"{n_players - 1 - ranks[-1]:,} more", "dim"))
    return table


def _ink(console: Console) -> tuple[str, str, str]:
    return ("-", "o", "|") if console.options.ascii_only else ("─", "●", "│")


def _text(text: str, style: str) -> Any:
    """Return a text that is shown as it is, whatever brackets are in it."""
    return _rich("text").Text(text, style=style)


def _rich(module: str) -> Any:
    return import_extra(f"rich.{module}", extra="live", needed_by="progress='live'")
