"""Further opinions on games whose values level off: Gaussian processes on the warped values.

A probability, an accuracy or a score between two bounds levels off near them, and so players interact who would not
otherwise. Warped,

    f(S) = logit((v(S) - low) / width),

such games are smoother, often almost additive. The bounds are those of a probability, or of a score between -1 and 1,
where all values lie between them and some come close; then the smallest tell as much as those in the middle. A value on
a bound says that it is none of these: what a model is sure of has no logit, but a game may be made to begin at 0 and to
end at 1. Elsewhere the bounds lie beyond the values seen: a little, or far where nothing levels off.

The odd and the even part of f are predicted like those of v; their sum, warped back, predicts v. Its Shapley values
have no closed form: all coalitions are listed, so it is for small games.

Whether it helps, the pairs say: each is predicted from all others in every way, and the opinions are weighed so that
the errors of the weighed prediction are small (stacking).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from topshap.algorithms.odd_gp.fitting import even_kernel, fit, observe
from topshap.algorithms.odd_gp.gp import Conditioned
from topshap.core import coalitions as co
from topshap.core.tables import shapley_from_table

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

MARGINS = ((0.005, 0.005), (0.01, 1.0), (1.0, 0.01))
"""How far below and above the values seen the bounds lie, in parts of their range: values may level off at both ends,
at the lower one, or at the upper one."""
USUAL_BOUNDS = ((0.0, 1.0), (-1.0, 1.0))
"""Of probabilities and of scores."""
CLOSE, SLACK = 0.1, 1e-4
"""Usual bounds are taken for those of a game if a value is so close to one of them; and they are moved out by so much,
since values next to them differ by rounding errors. Both in parts of the range of the values seen."""
MAX_PLAYERS, MAX_PAIRS = 16, 1000
"""Games that are listed, and pairs that are listened to."""
FITTED_TO, FIRST_FIT, REFIT = 100, 20, 5
"""The hyper-parameters are fitted to at most so many pairs, for so many iterations for the first curve and for
others."""


class Warp(NamedTuple):
    """The logistic curve between two bounds that lie beyond an interval by parts of its length."""

    least: float
    spread: float
    below: float
    above: float

    @classmethod
    def around(cls, values: Values, margins: tuple[float, float]) -> Warp:
        """Return the curve for these values."""
        return cls(float(values.min()), float(np.ptp(values)), *margins)

    @property
    def _width(self) -> float:
        """The distance of the bounds, in units of the spread."""
        return 1.0 + self.below + self.above

    def warp(self, values: Values) -> Values:
        """Return f for values between the bounds."""
        # The least is taken off first: values that differ by rounding errors only are then no infinite logits.
        return np.asarray(logit(((values - self.least) / self.spread + self.below) / self._width))

    def back(self, mean: Values, variance: Values | float) -> Values:
        """Return the expected value where f is normal (MacKay's approximation)."""
        between = expit(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))
        return np.asarray(self.least + self.spread * (self._width * between - self.below))


def curves(values: Values) -> list[Warp]:
    """Return the curves that the values of a game may follow, the most likely first.

    Examples
    --------
    >>> [warp.least for warp in curves(np.array([0.01, 0.4, 0.9]))]
    [0.0, 0.01]
    """
    around = [Warp.around(values, margins) for margins in MARGINS]
    least, largest = float(values.min()), float(values.max())
    spread = largest - least
    for low, high in USUAL_BOUNDS:
        if low < least and largest < high and min(least - low, high - largest) <= CLOSE * spread:
            slack = SLACK * spread / (high - low)
            return [Warp(low, high - low, slack, slack), around[0]]
    return around


class WarpedProcess:
    """Gaussian processes on the odd and the even part of the warped values of complement pairs.

    Parameters
    ----------
    warp
        The curve.
    x
        Observed pairs as signs.
    values, opposites
        The values of both halves of each pair.
    rows
        The pairs that the hyper-parameters are fitted to.
    start
        Hyper-parameters to start from, those of another curve.
    """

    def __init__(
        self, warp: Warp, x: Matrix, values: Values, opposites: Values, *, rows: Players, start: Values | None = None
    ) -> None:
        self._warp = warp
        f, opposite = warp.warp(values), warp.warp(opposites)
        odd, even = (f - opposite) / 2.0, (f + opposite) / 2.0
        self._unit, self._level = float(np.sqrt(np.mean(odd**2))) or 1.0, float(even.mean())
        even = (even - self._level) / self._unit
        data = observe(x, odd / self._unit, even)
        iterations = FIRST_FIT if start is None else REFIT
        kernel, self.parameters = fit(data, rows, own=True, iterations=iterations, start=start)
        self._odd = Conditioned(kernel, x, data.g)
        self._even = Conditioned(even_kernel(data, self.parameters), x, even)

    def left_out(self, rows: Players) -> tuple[Values, Values]:
        """Return (v(x) - v(-x)) / 2 of some of the pairs, each predicted from all others, and the variances of f."""
        (odd, odd_deviation), (even, even_deviation) = (part.leave_one_out(rows) for part in (self._odd, self._even))
        variance = self._unit**2 * (odd_deviation**2 + even_deviation**2)
        values, opposites = self._back(self._odd.observed[rows] - odd, self._even.observed[rows] - even, variance)
        return (values - opposites) / 2.0, variance

    def predict_all(self, variance: float) -> Values:
        """Return the expected values of all coalitions, numbered by their members' bits, if f has this variance."""
        odd, even, x = self._odd.kernel, self._even.kernel, self._odd.x
        n, end = x.shape[1], np.exp(-2.0 * odd.relevance.sum())
        sinh = odd.smooth / (1.0 - end) * self._odd.weights
        cosh = even.smooth / (1.0 + end) * self._even.weights
        weights = np.zeros(2**n)
        weights[co.to_ids(x > 0)], weights[co.to_ids(x < 0)] = cosh + sinh, cosh - sinh
        f = times_product_kernel(weights, odd.relevance) + signed_sums(odd.linear * (x.T @ self._odd.weights))
        f += even.constant * self._even.weights.sum()
        return self._warp.back(self._unit * f + self._level, variance)

    def _back(self, odd: Values, even: Values, variance: Values | float) -> tuple[Values, Values]:
        odd, even = self._unit * odd, self._unit * even + self._level
        return self._warp.back(even + odd, variance), self._warp.back(even - odd, variance)


def times_product_kernel(weights: Values, relevance: Values) -> Values:
    """Return the sum over all coalitions y of exp(sum_i a_i (x_i y_i - 1)) times the weight of y, for all x.

    The kernel is a product over the players, so it is applied to one half of them after the other.

    Examples
    --------
    >>> times_product_kernel(np.array([1.0, 0.0]), np.array([np.log(2.0)]))
    array([1.  , 0.25])
    """
    half = len(relevance) // 2
    first, others = product_kernel(relevance[:half]), product_kernel(relevance[half:])
    return np.asarray(others @ weights.reshape(len(others), len(first)) @ first).ravel()


def product_kernel(relevance: Values) -> Matrix:
    """Return exp(sum_i a_i (x_i y_i - 1)) for all coalitions x and y.

    Examples
    --------
    >>> product_kernel(np.array([np.log(2.0)]))
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """
    kernel = np.ones((1, 1))
    for other_side in np.exp(-2.0 * relevance):
        kernel = np.kron([[1.0, other_side], [other_side, 1.0]], kernel)
    return kernel


def signed_sums(effects: Values) -> Values:
    """Return the sum of the effects of all members less that of all others, for all coalitions.

    Examples
    --------
    >>> signed_sums(np.array([1.0, 3.0]))
    array([-4., -2.,  2.,  4.])
    """
    sums = np.array([-effects.sum()])
    for effect in effects:
        sums = np.concatenate([sums, sums + 2.0 * effect])
    return sums


class Opinion(NamedTuple):
    """What a model says about the Shapley values, and how far off it is in pairs that it predicts from all others."""

    shapley_values: Values
    residuals: Values


def warped_opinions(
    x: Matrix, values: Values, opposites: Values, left_out: Players, rng: np.random.Generator
) -> list[Opinion]:
    """Return what processes on the warped values say; nothing where there is too much to list or nothing to learn.

    `x` are pairs as signs, the first that of the grand coalition; `left_out` are those to say the residuals of.
    """
    m, n = x.shape
    if n > MAX_PLAYERS or m > MAX_PAIRS or len(left_out) == 0 or not np.ptp([values, opposites]) > 0.0:
        return []
    odd = (values[left_out] - opposites[left_out]) / 2.0
    rows = rng.permutation(m)[:FITTED_TO]
    opinions, start = [], None
    for warp in curves(np.concatenate([values, opposites])):
        process = WarpedProcess(warp, x, values, opposites, rows=rows, start=start)
        start = process.parameters if start is None else start
        predicted, variance = process.left_out(left_out)
        table = process.predict_all(float(np.median(variance)))
        table[co.to_ids(x > 0)], table[co.to_ids(x < 0)] = values, opposites
        opinions.append(Opinion(shapley_from_table(table - table[0]), odd - predicted))
    return opinions


def weighed(first: Opinion, second: Opinion) -> Opinion:
    """Return the opinion between two with the smallest mean square of the residuals.

    Examples
    --------
    >>> rough = Opinion(np.array([0.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> finer = Opinion(np.array([1.0, 3.0]), np.array([0.5, -0.5, -0.5, 0.5]))
    >>> weighed(rough, finer).shapley_values.round(6), weighed(rough, rough).shapley_values
    (array([0.8, 3.2]), array([0., 4.]))
    """
    change = first.residuals - second.residuals
    across = float(change @ change)
    share = float(np.clip(first.residuals @ change / across, 0.0, 1.0)) if across > 0.0 else 0.0
    values = (1.0 - share) * first.shapley_values + share * second.shapley_values
    return Opinion(values, first.residuals - share * change)
