"""Lower bounds of the contrasts that have to be shown, such as phi_i - phi_j across the border of the top k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from topshap.statistics.error_allocation import levels_by_tails

if TYPE_CHECKING:
    from topshap.core.typing import Matrix


@dataclass(frozen=True, eq=False)
class BorderDifferences:
    """Estimates of contrasts, see `topshap.statistics.contrasts`: arrays of the same shape."""

    gaps: Matrix
    """The estimates."""
    deviations: Matrix
    """Their standard deviations."""
    degrees: Matrix
    """The degrees of freedom of the deviations."""
    unseen: Matrix
    """The total contribution of jumps, if all complement pairs that were not drawn had one."""
    exposure: Matrix
    """The expected number of these complement pairs in a sample drawn in the same way."""

    def tails(self, epsilon: float) -> Matrix:
        """Return the probability of estimates at least this far above -epsilon, if the true difference is -epsilon."""
        beyond = self.gaps + epsilon
        known = self.deviations == 0.0
        multiples = np.where(known, np.inf, beyond) / np.where(known, 1.0, self.deviations)
        return np.where(known, beyond < 0.0, stdtr(self.degrees, -multiples))

    def lower_bounds(self, epsilon: float, level: float, unseen_level: float, most: int | None = None) -> Matrix:
        """Return lower bounds of all contrasts, of which any is wrong with probability `level` asymptotically.

        The level is allocated so that all bounds are above -epsilon as soon as possible, see
        `topshap.statistics.error_allocation`. If epsilon is 0 and all bounds are above 0, then one of at most `most`
        contrasts is wrong if the result is, see `topshap.statistics.contrasts.most_errors`.

        The bounds also leave room for jumps that were not observed. A set of complement pairs with exposure e contains
        no drawn pair with probability exp(-e), which is at most `unseen_level` for every set that the bounds leave no
        room for. That is one event for all contrasts, and if it holds at one analysis it held at all earlier ones, so
        this level is not divided among contrasts or analyses.
        """
        if epsilon == 0.0 and most is not None:
            bounds = self._bounds(levels_by_tails(self.tails(epsilon), level, most), unseen_level)
            if (bounds > 0.0).all():
                return bounds
        return self._bounds(levels_by_tails(self.tails(epsilon), level), unseen_level)

    def _bounds(self, levels: Matrix, unseen_level: float) -> Matrix:
        return self.gaps - self.widths(levels, unseen_level)

    def widths(self, levels: Matrix, unseen_level: float) -> Matrix:
        """Return the widths of lower bounds with these levels, and with room for jumps that were not observed."""
        width = -stdtrit(self.degrees, levels) * self.deviations
        max_exposure = math.log(1.0 / unseen_level)
        share = max_exposure / np.maximum(self.exposure, max_exposure)
        return np.maximum(width, share * self.unseen)
