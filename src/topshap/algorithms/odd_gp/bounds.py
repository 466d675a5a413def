"""Lower bounds of the differences phi_i - phi_j across the border of the top k."""

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
    """Estimates of phi_i - phi_j for players i in the top k (rows) and j in the rest (columns)."""

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

    def lower_bounds(self, epsilon: float, level: float, unseen_level: float) -> Matrix:
        """Return lower bounds of all differences, of which any is wrong with probability `level` asymptotically.

        The level is allocated so that all bounds are above -epsilon as soon as possible, see
        `topshap.statistics.error_allocation`.

        The bounds also leave room for jumps that were not observed. A set of complement pairs with exposure e contains
        no drawn pair with probability exp(-e), which is at most `unseen_level` for every set that the bounds leave no
        room for. That is one event for all differences, and if it holds at one analysis it held at all earlier ones, so
        this level is not divided among differences or analyses.
        """
        return self.gaps - self.widths(levels_by_tails(self.tails(epsilon), level), unseen_level)

    def widths(self, levels: Matrix, unseen_level: float) -> Matrix:
        """Return the widths of lower bounds with these levels, and with room for jumps that were not observed."""
        width = -stdtrit(self.degrees, levels) * self.deviations
        max_exposure = math.log(1.0 / unseen_level)
        share = max_exposure / np.maximum(self.exposure, max_exposure)
        return np.maximum(width, share * self.unseen)
