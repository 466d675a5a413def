"""A progress bar for a race, drawn with tqdm."""

from __future__ import annotations

from contextlib import contextmanager
from math import isnan
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.extras import import_extra
from topshap.core.outputs_standing import OutputsStanding
from topshap.show.labels import name_of, on_one_line
from topshap.show.progress_view import ProgressView
from topshap.statistics.ties import differ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.race import Race

_NAMES_SHOWN, _NAME_LENGTH = 5, 12


@contextmanager
def progress_bar(race: Race, *, clock: Callable[[], float] = monotonic) -> Iterator[ProgressBar]:
    """Show a progress bar for a race. Needs the extra ``topshap[progress]``.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, progress=True).players  # the bar is on stderr
    array([0, 2])
    """
    tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
    with tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}{postfix}") as bar:
        shown = ProgressBar(race, bar, clock)
        try:
            yield shown
        finally:
            shown.close()


class ProgressBar(ProgressView):
    """A bar with the cost so far, the confidence if the race stops by it, the time left and the current top k."""

    def __init__(self, race: Race, bar: Any, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(race, clock)
        self._bar = bar

    def _draw(self) -> None:
        self._bar.n = self._completion
        parts = [self._cost(), self._confidence(), self._ending() or self._time_left(), self._top()]
        self._bar.set_postfix_str(", ".join(part for part in parts if part), refresh=False)
        self._bar.refresh()

    def _confidence(self) -> str:
        if self._race.rule is None:
            return ""
        confidence = float(np.min(self._race.result().confidence))  # of the least certain output
        return "" if isnan(confidence) else f"{confidence:.0%} sure"

    def _top(self) -> str:
        """Return the names of the first few of the current top k; empty while nothing distinguishes the players."""
        race = self._race
        try:
            standing = race.standing
        except RaceError:  # the race has not started
            return ""
        outputs = ""
        if isinstance(standing, OutputsStanding):
            outputs, standing = f"{standing.n_outputs:,} outputs, first ", standing.of_output(0)
        if race.stopped != "exact" and not differ(standing.estimates, standing.std_errors):
            return ""
        players = standing.ranking(resolution=1e-12)[: race.k].tolist()
        names = [on_one_line(name_of(race, player))[:_NAME_LENGTH] for player in players]
        more = [f"... {len(names) - _NAMES_SHOWN} more"] if len(names) > _NAMES_SHOWN else []
        return f"{outputs}top: " + " ".join(names[:_NAMES_SHOWN] + more)
