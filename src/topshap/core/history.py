"""The history of a race: its estimates at a few moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.standing import Standing
    from topshap.core.typing import Matrix, Values

LARGEST_MOMENT = 4096
"""The largest number of estimates of several outputs, or of pairs, that are recorded."""
GROWTH = 1.05
"""A moment is recorded when the evaluations have grown by this factor since the last one."""


@dataclass(frozen=True, eq=False)
class History:
    """The estimates of a race at a few moments, at growing distances.

    In a game with R outputs, the arrays of estimates have the shape (m, R, n). They are recorded only if R * n is at
    most 4096, so that the memory is bounded. So are those of pairs, in a race of order 2.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    >>> history = topshap.identify(game, k=2, budget=200, random_state=0).history
    >>> int(history.evaluations[-1]), history.estimates.shape == (len(history.evaluations), 10)
    (200, True)
    """

    evaluations: NDArray[np.intp]
    """The number of evaluations at each moment, in increasing order, shape (m,)."""
    estimates: Matrix
    """The estimates at each moment, shape (m, n)."""
    std_errors: Matrix
    """Their standard errors, nan where not known, shape (m, n)."""

    def __post_init__(self) -> None:
        for array in (self.evaluations, self.estimates, self.std_errors):
            array.flags.writeable = False


class Recorder:
    """Records moments of a race while it runs: about 50 for every tenfold increase of the evaluations.

    Parameters
    ----------
    most
        The largest number of candidates whose estimates are recorded, None for any.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._moments: list[tuple[int, Values, Values]] = []

    def note(self, evaluations: int, standing: Standing) -> None:
        """Record this moment if it is far enough from the last one."""
        if self._is_too_large(standing):
            return
        if not self._moments or evaluations >= GROWTH * self._moments[-1][0]:
            self._moments.append(_moment(evaluations, standing))

    def history(self, evaluations: int, standing: Standing) -> History | None:
        """Return the moments that were recorded, with the current one at the end; None if they are too large."""
        if self._is_too_large(standing):
            return None
        before = [moment for moment in self._moments if moment[0] < evaluations]
        spent, estimates, std_errors = zip(*before, _moment(evaluations, standing), strict=True)
        return History(np.array(spent), np.array(estimates), np.array(std_errors))

    def _is_too_large(self, standing: Standing) -> bool:
        if self._most is not None and standing.n_players > self._most:
            return True
        return getattr(standing, "n_outputs", 0) * standing.n_players > LARGEST_MOMENT


def _moment(evaluations: int, standing: Standing) -> tuple[int, Values, Values]:
    return evaluations, standing.estimates.copy(), standing.std_errors.copy()
