"""Looks at the limits of a run while it waits for a batch: its time limit and its callback."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.race import Race

SECONDS_BETWEEN = 1.0
"""Within a batch, the callback is called at most this often."""


class RunEndedError(Exception):
    """A time limit or the callback ends the run.

    Attributes
    ----------
    reason
        The `stopped` of the race.
    """

    def __init__(self, reason: Literal["interrupted", "time"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Looks:
    """The moments at which a run may end other than by its race: after every batch, and now and then within one.

    Each method raises a `RunEndedError` if the run is to end.

    Parameters
    ----------
    race
        The race of the run.
    callback
        A function of the race that ends the run if it returns True, or None.
    clock
        A function that returns the time in seconds.
    """

    def __init__(
        self, race: Race, callback: Callable[[Race], object] | None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._race, self._callback, self._clock = race, callback, clock
        self._last = clock()

    @property
    def due(self) -> bool:
        """Whether to look now, within a batch."""
        return self._clock() - self._last >= SECONDS_BETWEEN or self._race.out_of_time

    def within_batch(self) -> None:
        """Look at the time limit and, if the last call is some time ago, call the callback."""
        if self._race.out_of_time:
            raise RunEndedError("time")
        if self.due:
            self.after_batch()

    def after_batch(self) -> None:
        """Call the callback; only True ends the run, not any true value."""
        if self._callback is not None:
            answer = self._callback(self._race)
            if isinstance(answer, bool | np.bool_) and answer:
                raise RunEndedError("interrupted")
        self._last = self._clock()
