"""The weights of strata in the next block of odd-gp@k: more where differences across the border are uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.strata import contrast_weights, overall_weights

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.control_variate import CorrectedEstimate
    from topshap.algorithms.odd_gp.poisson import PoissonDesign
    from topshap.core.algorithm import Problem
    from topshap.core.standing import Standing
    from topshap.core.typing import Matrix, Values

OVERALL_SHARE_AT_FIRST, OVERALL_SHARE = 0.3, 0.1
"""The share of a block that is drawn for the differences between all players, below and from `FEW_PAIRS` on."""
FEW_PAIRS = 8
"""The number of pairs per player below which the sample is small. These three numbers are those of the prototype."""


def border_priorities(standing: Standing, estimate: CorrectedEstimate, problem: Problem) -> Matrix:
    """Return a symmetric matrix with the priority of every player pair across the border; the priorities add up to 2.

    The priority is V / (gap + epsilon)^4: the derivative of 1 / z^2 = V / gap^2 with respect to V, times 1 / z^2
    itself, so that the least certain differences come first.
    """
    n = problem.n
    priorities = np.zeros((n, n))
    top, rest = standing.partition(problem.k)
    if len(rest) == 0:
        return priorities
    border = np.ix_(top, rest)
    deviation = np.sqrt(estimate.variances[border])
    urgency = np.isinf(deviation).astype(np.float64)  # unknown differences come first
    if not urgency.any():
        gaps = np.maximum(estimate.estimates[top][:, None] - estimate.estimates[rest], 0.0) + (problem.epsilon or 0.0)
        gaps = np.maximum(gaps, 0.25 * deviation)
        gaps = np.maximum(gaps, 1e-9 * gaps.max() or 1.0)
        urgency = (deviation / gaps) ** 2 * (gaps.min() / gaps) ** 2
    priorities[border] = urgency / (urgency.sum() or 1.0)
    return priorities + priorities.T


def block_weights(design: PoissonDesign, priorities: Matrix, estimate: CorrectedEstimate, pairs: int) -> Values:
    """Return the weights of all strata in the next block: the contribution of their pairs to the uncertain variances.

    A complement pair contributes the variance of its residual times its squared weight in the differences of the
    players it separates. Player pairs that the design is not stratified by are separated with the probability given by
    the size. A share of the block is for all differences equally, so that no player is neglected.
    """
    strata, n = design.strata, design.n
    s = strata.sizes
    stratified = priorities[np.ix_(strata.players, strata.players)]
    other = max(priorities.sum() - stratified.sum(), 0.0) / 2.0
    separated = np.maximum(strata.separated(stratified), 0.0) + other * 2.0 * s * (n - s) / (n * (n - 1.0))
    deviation = np.sqrt(estimate.mean_squares[s])
    border, overall = contrast_weights(n)[s] * np.sqrt(separated) * deviation, overall_weights(n)[s] * deviation
    share = OVERALL_SHARE_AT_FIRST if pairs < FEW_PAIRS * n else OVERALL_SHARE
    undrawn = design.undrawn
    totals = (border * undrawn).sum(), (overall * undrawn).sum()
    if min(totals) <= 0.0:
        return overall_weights(n)[s]
    return (1.0 - share) * border / totals[0] + share * overall / totals[1]
