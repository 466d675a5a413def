"""The displays of a running race that `progress` selects."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topshap.core.validation import refuse
from topshap.show.progress_bar import progress_bar
from topshap.show.terminal import live_leaderboard

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.show.progress_view import ProgressView

Progress: TypeAlias = bool | Literal["live"]
"""``True``: a progress bar. ``"live"``: a leaderboard in the terminal."""


def view(race: Race, progress: Any) -> AbstractContextManager[ProgressView | None]:
    """Return a context manager that shows a race while it runs: as a bar, as a live leaderboard, or not at all."""
    if progress == "live":
        return live_leaderboard(race)
    if isinstance(progress, str):
        refuse("progress", progress, must_be="a bool or 'live'")
    return progress_bar(race) if progress else nullcontext()
