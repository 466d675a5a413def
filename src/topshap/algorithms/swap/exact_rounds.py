"""Rounds of one unit from every stratum, each an unbiased estimate given all before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.differences import Population
    from topshap.core.typing import Values


def balanced_rounds(
    units: Values, strata: NDArray[np.intp], population: Population, largest: float
) -> tuple[Values, Values, Values]:
    """Return estimates of phi_i - phi_j, one a round, and the interval that each lies in, given those before.

    In round r a pair draws one more unit x from each stratum, which has N units of mean mu and of which r - 1 with sum
    T are known. The expectation of x is then (N mu - T) / (N - r + 1), so

        z_r = sum over strata of w ((1 - (r - 1) / N) x + T / N)

    has the expectation phi_i - phi_j whatever was drawn before, and it lies in an interval whose width falls to zero
    as the strata are exhausted.

    Parameters
    ----------
    units, strata
        The units of a pair in the order in which they were drawn, and the stratum of each.
    population
        The weights and sizes of the strata.
    largest
        No unit is larger than this in absolute value.

    Returns
    -------
    tuple
        The estimates, the lower ends of their intervals and the widths of these. As many rounds as every stratum that
        is not exhausted has units.

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
        there = min(count, rounds)
        drawn[g, :there] = units[strata == g][:there]
    before = np.arange(rounds)
    known = np.minimum(before / sizes[:, None], 1.0)
    sums = np.cumsum(drawn, axis=1) - drawn
    expected = weights @ (sums / sizes[:, None])
    open_part = weights @ (1.0 - known)
    estimates = weights @ ((1.0 - known) * drawn) + expected
    there = open_part > NEXT_TO_NO_WIDTH
    return estimates[there], (expected - largest * open_part)[there], (2.0 * largest * open_part)[there]


NEXT_TO_NO_WIDTH = 1e-12
"""Rounds in which less than this part of all units is left say nothing new."""
