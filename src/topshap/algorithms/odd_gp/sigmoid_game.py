"""Shapley values of the sigmoid of an additive game in closed form, up to quadrature.

Let v(x) = expit(c + sum_j b_j x_j) with signs x_j. The Shapley value of a player is the integral over t in [0, 1] of
its mean contribution if every other player is present with probability t. The sigmoid is a sum of sines,

    expit(z) = 1/2 + integral over w > 0 of sin(w z) / sinh(pi w),

and the mean of exp(i w z) is a product over the players. So the sum over all coalitions becomes a two-dimensional
integral of a product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.integrals import unit_nodes

if TYPE_CHECKING:
    from topshap.core.typing import Values

HIGHEST_FREQUENCY = 9.0
"""Higher frequencies have a weight below 1e-12."""
LEAST_FREQUENCIES = 24
"""The number of nodes for a constant game; the integrand turns faster the larger the values of c and b are.

Fitted logits vary by about 10, so that the magnitudes of b add up to at most a few hundred and few nodes are added."""
MOST_PROBABILITIES = 40
"""Quadrature with this many nodes is exact for up to twice as many players."""


def sigmoid_shapley_values(constant: float, effects: Values) -> Values:
    """Return the Shapley values of expit(constant + effects @ x), with x = 1 for players inside and -1 for others.

    Parameters
    ----------
    constant
        The constant.
    effects
        The effect of each player.

    Examples
    --------
    >>> sigmoid_shapley_values(0.0, np.array([1.0, 1.0])).round(4)  # expit(2) - expit(-2), divided equally
    array([0.3808, 0.3808])
    """
    n, extent = len(effects), abs(constant) + np.abs(effects).sum()
    nodes, weights = unit_nodes(LEAST_FREQUENCIES + int(HIGHEST_FREQUENCY * extent / 2.0))
    frequencies = HIGHEST_FREQUENCY * nodes
    weights = HIGHEST_FREQUENCY * weights / np.sinh(np.pi * frequencies)
    cosines, sines = np.cos(np.outer(frequencies, effects)), np.sin(np.outer(frequencies, effects))
    weighted = 2.0j * weights * np.exp(1.0j * frequencies * constant)
    values = np.zeros(n)
    # An even number of nodes: none is t = 1/2, where the factor of a player can be 0.
    for probability, weight in zip(*unit_nodes(2 * min((n + 3) // 4, MOST_PROBABILITIES // 2)), strict=True):
        factors = cosines + 1.0j * (2.0 * probability - 1.0) * sines
        everyone = weighted * np.prod(factors, axis=1)
        values += weight * np.imag(everyone @ (sines / factors))
    return values
