"""Rounds of one comparison from every stratum, each an unbiased estimate given those before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.differences import Population
    from topshap.core.typing import Values

_LEAST_OPEN_WEIGHT = 1e-12
"""Rounds with less than this fraction of all comparisons left contain no information."""


def balanced_rounds(
    comparisons: Values, strata: NDArray[np.intp], population: Population, largest: float
) -> tuple[Values, Values, Values]:
    """Return one estimate of phi_i - phi_j per round, and the interval it lies in given the rounds before.

    In round r a pair draws one more comparison x from each stratum. Of the N comparisons of a stratum, with mean mu,
    r - 1 with sum T are known. The expectation of x is then (N mu - T) / (N - r + 1), so

        z_r = sum over strata of w ((1 - (r - 1) / N) x + T / N)

    has the expectation phi_i - phi_j whatever was drawn before, and lies in an interval whose width falls to zero as
    the strata are exhausted.

    Parameters
    ----------
    comparisons, strata
        The comparisons of a pair in the order in which they were drawn, and the stratum of each.
    population
        The weights and sizes of the strata.
    largest
        An upper bound of the absolute value of a comparison.

    Returns
    -------
    tuple
        The estimates, the lower ends of their intervals and the widths of these. The number of rounds is the smallest
        number of comparisons in a stratum that is not exhausted.

    Examples
    --------
    >>> from topshap.algorithms.swap.differences import Population
    >>> population = Population(weights=np.array([0.5, 0.5]), sizes=np.array([1.0, 2.0]), least_jump=0.0)
    >>> balanced_rounds(np.array([3.0, 1.0, 5.0]), np.array([0, 1, 1]), population, largest=10.0)
    (array([2., 3.]), array([-10.  ,  -0.75]), array([20.,  5.]))
    """
    sizes, weights = population.sizes, population.weights
    counts = np.bincount(strata, minlength=len(sizes))
    left = counts < sizes
    rounds = int(counts[left].min()) if left.any() else int(counts.max())
    drawn = np.zeros((len(sizes), rounds))
    for g, count in enumerate(counts.tolist()):
        used = min(count, rounds)
        drawn[g, :used] = comparisons[strata == g][:used]
    before = np.arange(rounds)
    known = np.minimum(before / sizes[:, None], 1.0)
    sums = np.cumsum(drawn, axis=1) - drawn
    expected = weights @ (sums / sizes[:, None])
    open_weight = weights @ (1.0 - known)
    estimates = weights @ ((1.0 - known) * drawn) + expected
    informative = open_weight > _LEAST_OPEN_WEIGHT
    lows, widths = expected - largest * open_weight, 2.0 * largest * open_weight
    return estimates[informative], lows[informative], widths[informative]
