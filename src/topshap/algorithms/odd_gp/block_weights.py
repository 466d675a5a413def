"""The weights of strata in the next block of odd-gp@k: more where contrasts are uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from topshap.algorithms.odd_gp.strata import contrast_weights

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.bounds import BorderDifferences
    from topshap.algorithms.odd_gp.control_variate import CorrectedEstimate
    from topshap.algorithms.odd_gp.poisson import PoissonDesign
    from topshap.algorithms.odd_gp.strata import PairStrata
    from topshap.core.typing import Matrix, Values
    from topshap.statistics.contrasts import Contrasts

OVERALL_SHARE_AT_FIRST, OVERALL_SHARE = 0.3, 0.1
"""The share of a block that is drawn for the differences between all players, below and from `FEW_PAIRS` on."""
FEW_PAIRS = 8
"""The number of pairs per player below which the sample is small. These three numbers are those of the prototype."""


class Aims(Protocol):
    """The priorities of contrasts, from which the weights of complement pairs in the next block follow."""

    @property
    def of_players(self) -> Values:
        """The total priority of the contrasts that each player is part of."""

    def roots(self, strata: PairStrata) -> Values:
        """Return, for each stratum, the root of the mean square of its pairs' weights in the contrasts."""


class PlayerAims(NamedTuple):
    """The priorities of contrasts of two players: two symmetric matrices, whose elements add up to 2."""

    differences: Matrix
    """The priority of phi_i - phi_j for all i and j."""
    sums: Matrix
    """The priority of phi_i + phi_j for all i and j; zero unless players are ranked by magnitude."""

    @property
    def of_players(self) -> Values:
        """The total priority of the contrasts of each player."""
        return (self.differences + self.sums).sum(axis=1)

    @classmethod
    def of(cls, contrasts: Contrasts, border: BorderDifferences, epsilon: float, n: int) -> PlayerAims:
        """Return the priorities of the contrasts that have to be shown in a game of n players."""
        urgency = urgencies(border, epsilon)
        is_sum = contrasts.sign_ahead * contrasts.sign_behind > 0.0
        found = []
        for chosen in (~is_sum, is_sum):
            matrix = np.zeros((n, n))
            matrix[contrasts.ahead[chosen], contrasts.behind[chosen]] = urgency[chosen]
            found.append(matrix + matrix.T)
        return cls(*found)

    def roots(self, strata: PairStrata) -> Values:
        """Return, for each stratum, the root of the mean square of its pairs' weights in the contrasts.

        A complement pair has a weight in the differences of the players it separates, and in sums of all players.
        Player pairs that the design is not stratified by are separated with the probability given by the size.
        """
        s, n = strata.sizes, strata.n
        stratified = self.differences[np.ix_(strata.players, strata.players)]
        other = max(self.differences.sum() - stratified.sum(), 0.0) / 2.0
        separated = np.maximum(strata.separated(stratified), 0.0) + other * 2.0 * s * (n - s) / (n * (n - 1.0))
        roots = contrast_weights(n)[s] * np.sqrt(separated)
        if self.sums.any():
            roots = np.sqrt(roots**2 + np.maximum(strata.mean_squares_of_sums(self.sums), 0.0))
        return np.asarray(roots)


def urgencies(border: BorderDifferences, epsilon: float) -> Values:
    """Return the priority of each contrast; they add up to 1, unless there are no contrasts.

    The priority is V / (gap + epsilon)^4: the derivative of 1 / z^2 = V / gap^2 with respect to V, times 1 / z^2
    itself, so that the least certain contrasts come first.
    """
    deviation = border.deviations
    urgency = np.isinf(deviation).astype(np.float64)  # unknown contrasts come first
    if not urgency.any() and urgency.size > 0:
        gaps = np.maximum(border.gaps, 0.0) + epsilon
        gaps = np.maximum(gaps, 0.25 * deviation)
        gaps = np.maximum(gaps, 1e-9 * gaps.max() or 1.0)
        urgency = (deviation / gaps) ** 2 * (gaps.min() / gaps) ** 2
    return np.asarray(urgency / (urgency.sum() or 1.0))


def block_weights(
    design: PoissonDesign, aims: Aims, estimate: CorrectedEstimate, overall: Values, pairs: int
) -> Values:
    """Return the weights of all strata in the next block: the contribution of their pairs to the uncertain variances.

    A complement pair contributes the variance of its residual times its squared weight in the contrasts. A share of the
    block is for all candidates equally, so that none is neglected: `overall` is the weight of a pair in them, by size.
    """
    s = design.strata.sizes
    deviation = np.sqrt(estimate.mean_squares[s])
    border, alike = aims.roots(design.strata) * deviation, overall[s] * deviation
    share = OVERALL_SHARE_AT_FIRST if pairs < FEW_PAIRS * design.n else OVERALL_SHARE
    undrawn = design.undrawn
    totals = (border * undrawn).sum(), (alike * undrawn).sum()
    if min(totals) <= 0.0:
        return overall[s]
    return (1.0 - share) * border / totals[0] + share * alike / totals[1]
