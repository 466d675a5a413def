"""The orders that players can be ranked in: sort keys, border positions, pairwise probabilities and words.

Everything that depends on `rank_by` is in one table, so that a new order is added in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import scipy

from topshap.statistics.partial_covariance import covariance_among

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Values
    from topshap.statistics.partial_covariance import Covariance

RankBy: TypeAlias = Literal["value", "magnitude", "lowest"]
"""``"value"``: the highest first. ``"magnitude"``: the furthest from 0 first. ``"lowest"``: the lowest first."""
RANK_BY: tuple[RankBy, ...] = get_args(RankBy)

_NODES = 64
"""The number of quadrature nodes: accurate to three digits even where two sums are almost equal."""
_CERTAIN = 40.0
"""Standardised differences are clipped to this many standard deviations."""


def rank_key(values: Values, rank_by: RankBy) -> Values:
    """Return the values that players are ranked by; the highest comes first.

    Examples
    --------
    >>> rank_key(np.array([1.0, -3.0]), "magnitude")
    array([1., 3.])
    """
    return _ORDERS[rank_by].key(values)


def rank_signs(values: Values, rank_by: RankBy) -> Values:
    """Return the signs s such that players are ranked by s * values.

    Examples
    --------
    >>> rank_signs(np.array([1.0, -3.0]), "magnitude")
    array([ 1., -1.])
    """
    return _ORDERS[rank_by].signs(values)


def border_lines(between: float, rank_by: RankBy) -> list[float]:
    """Return the values at which the sort key equals `between`.

    Examples
    --------
    >>> border_lines(2.5, "value"), border_lines(2.5, "magnitude")
    ([2.5], [2.5, -2.5])
    """
    return [sign * between for sign in _ORDERS[rank_by].border_signs]


def probability_before(estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy) -> Matrix:
    """Return for all i and j the probability that player i is ranked before player j.

    The values are assumed to be normally distributed around the estimates, and independent if the covariance is None.
    The probability is 1/2 on the diagonal, for equal estimates, and where the standard errors are unknown.

    Examples
    --------
    >>> probability_before(np.array([-3.0, 1.0]), np.array([1.0, 1.0]), None, "value").round(3)
    array([[0.5  , 0.002],
           [0.998, 0.5  ]])
    """
    if not isinstance(covariance, np.ndarray):
        covariance = covariance_among(covariance, std_errors, np.arange(len(estimates)))
    return _ORDERS[rank_by].probability(estimates, std_errors, covariance)


def order_of_negated(rank_by: RankBy) -> RankBy:
    """Return the order in which the negated values are ranked as `rank_by` ranks the values.

    Examples
    --------
    >>> order_of_negated("lowest"), order_of_negated("magnitude")
    ('value', 'magnitude')
    """
    return _ORDERS[rank_by].of_negated


def order_phrase(rank_by: RankBy) -> str:
    """Return the words that follow "the top k of n players"; empty for the usual order.

    Examples
    --------
    >>> order_phrase("value"), order_phrase("magnitude")
    ('', ' by magnitude')
    """
    return _ORDERS[rank_by].phrase


def comparison(rank_by: RankBy) -> str:
    """Return the words that compare a player with one that is ranked after it.

    Examples
    --------
    >>> comparison("value"), comparison("magnitude")
    ('a higher value', 'a larger magnitude')
    """
    return _ORDERS[rank_by].comparison


def probability_of_higher_value(estimates: Values, std_errors: Values, covariance: Matrix) -> Matrix:
    """Return for all i and j the probability that phi_i > phi_j, for values that are normal around the estimates."""
    ahead = estimates[:, None] - estimates
    variances = std_errors**2
    # Rounding makes a covariance slightly asymmetric; with its transpose, pairs known exactly have no variance left.
    deviation = np.sqrt(np.maximum(variances[:, None] + variances - (covariance + covariance.T), 0.0))
    certain = np.where(ahead == 0, 0.0, np.copysign(np.inf, ahead))
    z = np.divide(ahead, deviation, out=certain, where=deviation != 0)
    probability: Matrix = scipy.special.ndtr(np.where(np.isnan(z), 0.0, z))
    return probability


def probability_of_larger_magnitude(estimates: Values, covariance: Matrix) -> Matrix:
    """Return for all i and j the probability that |phi_i| > |phi_j|, for values that are normal around the estimates.

    This is the probability that phi_i - phi_j and phi_i + phi_j have the same sign. With h and k their means in units
    of their standard deviations, and r their correlation, Plackett's formula for the bivariate normal distribution is

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
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    total = np.zeros_like(end)
    for node, weight in zip(((nodes + 1.0) / 2.0).tolist(), (weights / 2.0).tolist(), strict=True):
        sine, cosine = np.sin(node * end), np.cos(node * end)
        total += weight * end * np.exp(-(h**2 + k**2 - 2.0 * h * k * sine) / (2.0 * cosine**2))
    return np.clip(ndtr(h) * ndtr(k) + ndtr(-h) * ndtr(-k) + total / np.pi, 0.0, 1.0)


def _standardised(means: Matrix, deviations: Matrix) -> Matrix:
    """Return the means in units of their standard deviations; 0 where these are unknown."""
    certain = np.sign(means) * _CERTAIN
    z = np.divide(means, deviations, out=certain, where=deviations != 0.0)
    return np.where(np.isnan(z), 0.0, np.clip(z, -_CERTAIN, _CERTAIN))


@dataclass(frozen=True)
class _Order:
    """One way to rank players."""

    key: Callable[[Values], Values]
    """The values that players are ranked by, the highest first."""
    signs: Callable[[Values], Values]
    """The sign of the key's derivative at each value."""
    border_signs: tuple[float, ...]
    """The signs of the values that have the same positive key."""
    probability: Callable[[Values, Values, Matrix], Matrix]
    """The pairwise probabilities, from estimates, standard errors and covariance."""
    of_negated: RankBy
    """The order that ranks the negated values the same way."""
    phrase: str
    comparison: str


_ORDERS: dict[RankBy, _Order] = {
    "value": _Order(
        key=lambda values: values,
        signs=np.ones_like,
        border_signs=(1.0,),
        probability=probability_of_higher_value,
        of_negated="lowest",
        phrase="",
        comparison="a higher value",
    ),
    "magnitude": _Order(
        key=np.abs,
        signs=lambda values: np.where(values < 0.0, -1.0, 1.0),
        border_signs=(1.0, -1.0),
        probability=lambda estimates, _, covariance: probability_of_larger_magnitude(estimates, covariance),
        of_negated="magnitude",
        phrase=" by magnitude",
        comparison="a larger magnitude",
    ),
    "lowest": _Order(
        key=np.negative,
        signs=lambda values: -np.ones_like(values),
        border_signs=(-1.0,),
        probability=lambda estimates, *errors: probability_of_higher_value(-estimates, *errors),
        of_negated="value",
        phrase=" from the lowest",
        comparison="a lower value",
    ),
}
