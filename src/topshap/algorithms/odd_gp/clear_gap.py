"""odd-gp@k for ``k="clear"``: bounds at the borders of all sizes, of which the one closest to a clear gap is chosen.

A gap after the leading k players is clear if phi_i - phi_j has a lower bound of at least epsilon, and above 0, for all
i among them and j among the others. All n (n - 1) one-sided bounds have the same level alpha / (2 (n - 1)), where alpha
is the share of delta of this analysis. This is enough although k and the players are chosen by the same data.

Proof. Sort the players by their true values; a set is wrong if it is not ahead of all others by epsilon, or by more
than 0. Either the set is not the first k in this order. Then one of two neighbours in it, the first, is outside and the
other inside, and the bound of their difference is above 0 although the difference is not. Or the set is the first k,
and the gap between the neighbours k and k + 1 is too small, so that the bound of their difference is wrong. In both
cases one of 2 (n - 1) bounds is wrong: those of the n - 1 pairs of neighbours in either direction.

The size that is closest to a clear gap is the one whose largest ratio of the width of a bound to gap - epsilon is the
smallest: the evaluations that are still needed grow with its square. The next block is drawn for the border of this
size. So the race ends at the first gap that becomes clear, which is not always the widest one, but not before there are
enough pairs to have observed jumps if these may be rare (see `rare_jumps`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.interim import (
    DEFAULT_DELTA,
    UNSEEN_SHARE,
    BoundedFit,
    InterimAnalyses,
    growth,
    share_of_delta,
)
from topshap.algorithms.odd_gp.player_model import PlayerModel
from topshap.statistics.contrasts import Contrasts, contrasts_to_show
from topshap.statistics.ties import ROUNDING

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.bounds import BorderDifferences
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy


class ClearFit(BoundedFit):
    """Estimates with the size whose gap is the closest to being clear, and a lower bound of this gap."""

    def __init__(self, tie_order: Players, estimates: Values, *, rank_by: RankBy = "value") -> None:
        super().__init__(tie_order, estimates, rank_by=rank_by)
        self.size = 1
        """The number of players before the gap."""


class ClearGapAnalyses(InterimAnalyses[PlayerModel]):
    """The analyses of a race that ends at the first clear gap; see `InterimAnalyses`."""

    _standing: ClearFit

    @property
    def tolerance(self) -> float:
        """Minus epsilon: contrasts across a clear gap are at least epsilon."""
        return -(self._problem.epsilon or 0.0)

    def _bound(self) -> None:
        """Choose the size that is closest to a clear gap, and bound the differences across its border."""
        self._analyses += 1
        problem, standing = self._problem, self._standing
        delta = problem.delta or DEFAULT_DELTA
        ranking = standing.ranking()
        level = share_of_delta(self._analyses) * (1.0 - UNSEEN_SHARE) * delta / (2.0 * (problem.n - 1.0))
        pairs = self.estimate.border(all_differences(ranking))
        widths = pairs.widths(np.full_like(pairs.gaps, level), UNSEEN_SHARE * delta)
        k = standing.size = closest_to_clear(pairs, widths, -self.tolerance)
        gaps, bounds = pairs.gaps[:k, k:], (pairs.gaps - widths)[:k, k:]
        self.contrasts = contrasts_to_show(ranking, k, standing.live_estimates)
        self.border = self.estimate.border(self.contrasts)
        lowest = float(bounds.min())
        is_gap = lowest > ROUNDING * float(np.abs(self.estimate.estimates).max())
        # The widest gap of all sizes often looks clear before any jump was observed, and no tolerance makes up for it.
        stops = is_gap and self._posterior_agrees(self.tolerance, delta) and not self.model.has_few_pairs
        standing.bound = lowest if stops else min(lowest, 0.0)
        self.growth = growth(gaps, bounds, self.tolerance)
        if problem.guarantee == "credible":
            self.model.show_posterior(standing)


def all_differences(ranking: Players) -> Contrasts:
    """Return the contrasts phi_i - phi_j of all players, in the order of the ranking: a square of them.

    Examples
    --------
    >>> all_differences(np.array([1, 0])).of(np.array([2.0, 5.0])).tolist()
    [[0.0, 3.0], [-3.0, 0.0]]
    """
    n = len(ranking)
    ahead, behind = np.repeat(ranking, n).reshape(n, n), np.tile(ranking, n).reshape(n, n)
    return Contrasts(ahead, behind, np.ones((n, n)), np.full((n, n), -1.0))


def closest_to_clear(pairs: BorderDifferences, widths: Matrix, epsilon: float) -> int:
    """Return the size whose gap is the closest to being clear; of several with no uncertainty, the widest gap.

    Parameters
    ----------
    pairs
        The differences of all players, best first.
    widths
        The widths of their bounds.
    epsilon
        The smallest gap that counts.
    """
    beyond = pairs.gaps - epsilon
    certain = np.where(beyond > 0.0, np.inf, -np.inf)
    closeness = np.divide(beyond, widths, out=certain, where=widths > 0.0)
    closeness[np.tri(len(closeness), dtype=np.bool_)] = np.inf  # only pairs in the order of the ranking
    after = np.minimum.accumulate(closeness[:, ::-1], axis=1)[:, ::-1]
    of_border = np.diagonal(np.minimum.accumulate(after, axis=0), 1)
    return int(np.lexsort((np.diagonal(pairs.gaps, 1), of_border))[-1]) + 1
