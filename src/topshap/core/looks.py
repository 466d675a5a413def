"""Looks at the time limit and the callback of a run, after every batch and within large ones."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.race import Race

EarlyEnd: TypeAlias = Literal["interrupted", "time", "cost"]
"""Why a run ends within a batch; one of `topshap.core.result.Stopped`."""
SECONDS_BETWEEN = 1.0
"""The least number of seconds between two calls of the callback within a batch."""


class RunEndedError(Exception):
    """A time limit, a cost limit or the callback ends the run.

    Attributes
    ----------
    reason
        The `stopped` of the race.
    """

    def __init__(self, reason: EarlyEnd) -> None:
        super().__init__(reason)
        self.reason = reason


class Looks:
    """Checks after every batch, and occasionally within one, whether the time limit or the callback ends the run.

    `within_batch` and `after_batch` raise a `RunEndedError` if the run has to end.

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
        """Whether a look within a batch is due."""
        return self._clock() - self._last >= SECONDS_BETWEEN or self._race.out_of_time

    def within_batch(self) -> None:
        """Check the time limit and, if a look is due, call the callback."""
        if self._race.out_of_time:
            raise RunEndedError("time")
        if self.due:
            self.after_batch()

    def after_batch(self) -> None:
        """Call the callback; only the value True ends the run."""
        if self._callback is not None:
            answer = self._callback(self._race)
            if isinstance(answer, bool | np.bool_) and answer:
                raise RunEndedError("interrupted")
        self._last = self._clock()
