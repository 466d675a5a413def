"""What players are ranked by: their Shapley values, or how large these are whichever sign they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import scipy

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values

RankBy: TypeAlias = Literal["value", "magnitude"]
"""``"value"``: the highest first. ``"magnitude"``: the furthest from 0 first."""
RANK_BY: tuple[RankBy, ...] = get_args(RankBy)
IN_WORDS: dict[RankBy, str] = {"value": "", "magnitude": " by magnitude"}
"""What is added to "the top k" for people; what is usual is not said."""

NODES = 64
"""With so many nodes the integral below is right to three digits even where two sums are almost the same."""
CERTAIN = 40.0
"""So many standard deviations are as good as infinitely many."""


def merit(values: Values, rank_by: RankBy) -> Values:
    """Return what the highest of is looked for.

    Examples
    --------
    >>> merit(np.array([1.0, -3.0]), "magnitude")
    array([1., 3.])
    """
    return np.abs(values) if rank_by == "magnitude" else values


def probability_of_larger_magnitude(estimates: Values, covariance: Matrix) -> Matrix:
    """Return for all i and j the probability that |phi_i| > |phi_j|, if the values are normal around the estimates.

    That is so if phi_i - phi_j and phi_i + phi_j have the same sign. With h and k their means in units of their
    deviations, and r their correlation, Plackett's formula for the normal distribution of two numbers gives

        F(h) F(k) + F(-h) F(-k) + 1/pi * integral over [0, asin r] of exp(-(h^2 + k^2 - 2 h k sin t) / (2 cos^2 t)) dt.

    Examples
    --------
    >>> probability_of_larger_magnitude(np.array([-3.0, 1.0]), np.eye(2)).round(2)
    array([[0.5 , 0.92],
           [0.08, 0.5 ]])
    """
    variances, shared = np.diag(covariance), covariance + covariance.T
    together = variances[:, None] + variances
    deviations = [np.sqrt(np.maximum(together - shared, 0.0)), np.sqrt(np.maximum(together + shared, 0.0))]
    means = [estimates[:, None] - estimates, estimates[:, None] + estimates]
    h, k = (_standardised(mean, deviation) for mean, deviation in zip(means, deviations, strict=True))
    product = deviations[0] * deviations[1]
    correlation = np.divide(variances[:, None] - variances, product, out=np.zeros_like(product), where=product > 0.0)
    end = np.arcsin(np.clip(correlation, -1.0, 1.0) * (1.0 - 1e-9))
    ndtr = scipy.special.ndtr
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros_like(end)
    for node, weight in zip(((nodes + 1.0) / 2.0).tolist(), (weights / 2.0).tolist(), strict=True):
        sine, cosine = np.sin(node * end), np.cos(node * end)
        total += weight * end * np.exp(-(h**2 + k**2 - 2.0 * h * k * sine) / (2.0 * cosine**2))
    return np.clip(ndtr(h) * ndtr(k) + ndtr(-h) * ndtr(-k) + total / np.pi, 0.0, 1.0)


def _standardised(means: Matrix, deviations: Matrix) -> Matrix:
    """Return the means in units of their deviations; 0 where these are not known."""
    certain = np.sign(means) * CERTAIN
    z = np.divide(means, deviations, out=certain, where=deviations != 0.0)
    return np.where(np.isnan(z), 0.0, np.clip(z, -CERTAIN, CERTAIN))
