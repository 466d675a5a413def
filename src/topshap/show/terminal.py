"""The leaderboard of a running race in the terminal, drawn with rich."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from topshap.core.errors import RaceError
from topshap.core.extras import import_extra
from topshap.core.results import TopKs
from topshap.show.board import INTERVAL_NOTE, Leaderboard
from topshap.show.labels import shown_ranks
from topshap.show.progress_bar import progress_bar
from topshap.show.progress_view import ProgressView, format_seconds
from topshap.show.wording import NOTHING_LEARNED, title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, RenderableType
    from rich.live import Live

    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.show.board import Row

_MOST_ROWS, _BAR_WIDTH = 16, 30
_INSIDE, _OUTSIDE, _BORDER, _HEAD = "bold dodger_blue1", "dim", "dark_orange", "bold"


@contextmanager
def live_leaderboard(
    race: Race, *, console: Console | None = None, clock: Callable[[], float] = monotonic
) -> Iterator[ProgressView]:
    """Show a race as a leaderboard that is updated while it runs. Needs the extra ``topshap[live]``.

    A progress bar is shown instead if standard error is not a terminal.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, progress="live").players  # the leaderboard is on stderr
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
            shown.close()


class LiveLeaderboard(ProgressView):
    """A headline with cost, speed and time left above the current leaderboard."""

    def __init__(self, race: Race, live: Live, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(race, clock)
        self._live = live

    def _draw(self) -> None:
        race, console = self._race, self._live.console
        picture = _text(self._headline(), _HEAD)
        try:
            ranks = shown_ranks(race.n_candidates, race.k, max(4, min(_MOST_ROWS, console.height - 7)))
            found: TopK | TopKs = race.result()
            board = Leaderboard.of(found[0] if isinstance(found, TopKs) else found, ranks)
            table = _below_headline(board, ascii_only=console.options.ascii_only)
            picture = _rich("console").Group(picture, table)
        except RaceError:  # the race has not started
            pass
        self._live.update(picture, refresh=True)

    def _headline(self) -> str:
        outputs = self._race.n_outputs
        first = "" if outputs is None else f" for the first of {outputs:,} outputs"
        parts = [f"{title(self._race)}{first} after {self._cost()}"]
        if (rate := self._per_second()) > 0:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
        if ending := self._ending():
            parts.append(f"{ending} after {format_seconds(self._seconds())}")
        elif left := self._time_left():
            parts.append(f"{self._completion:.0%}, {left}")
        return " · ".join(parts)


def _below_headline(board: Leaderboard, *, ascii_only: bool) -> RenderableType:
    """Return the leaderboard with the explanation of its intervals, or that there is no ranking yet."""
    if not board.learned:
        return _text(f"No ranking: {NOTHING_LEARNED}.", "dim")
    table = _table(board, ascii_only=ascii_only)
    if not board.has_intervals:
        return table
    group: RenderableType = _rich("console").Group(table, _text(INTERVAL_NOTE, "dim"))
    return group


def _table(board: Leaderboard, *, ascii_only: bool) -> RenderableType:
    table = _rich("table").Table(box=None, pad_edge=False)
    for heading, justify in (("", "right"), (board.candidate, "left"), ("95% interval", "left"), ("estimate", "right")):
        table.add_column(heading, justify=justify, no_wrap=True, header_style="dim")
    ink = "-o|" if ascii_only else "─●│"
    for row in board.rows:
        number = board.estimate(row) + board.uncertainty(row) + ("  tied" if row.tied else "")
        cells = (str(row.rank), row.label, interval_bar(row, board.limits, ink), number)
        table.add_row(*(_text(cell, _INSIDE if row.in_top else _OUTSIDE) for cell in cells))
        if row.rank == board.border:
            table.add_row("", *(_text("-" * width, _BORDER) for width in (8, _BAR_WIDTH, 8)))
        if row.hidden:
            table.add_row("", _text(f"{row.hidden:,} more", "dim"))
    return table


def interval_bar(row: Row, limits: tuple[float, float], ink: str = "─●│") -> str:
    """Return a line of characters with the interval of a row, its estimate and zero, each drawn with its `ink`.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([2.0, -1.0]), k=1)
    >>> [f"[{interval_bar(row, (-1.0, 2.0))}]" for row in Leaderboard.of(top, np.arange(2)).rows]
    ['[          │                  ●]', '[●         │                   ]']
    """
    low, high = limits
    left, middle, right, zero = (
        round((x - low) / (high - low or 1.0) * (_BAR_WIDTH - 1))
        for x in (row.interval[0], row.estimate, row.interval[1], 0.0)
    )
    bar = [" "] * _BAR_WIDTH
    bar[left : right + 1] = ink[0] * (right + 1 - left)
    bar[zero], bar[middle] = ink[2], ink[1]
    return "".join(bar)


def _text(text: str, style: str) -> Any:
    """Return a text that is shown as it is, without markup."""
    return _rich("text").Text(text, style=style)


def _rich(module: str) -> Any:
    return import_extra(f"rich.{module}", extra="live", needed_by="progress='live'")
