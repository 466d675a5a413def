"""A second opinion on games whose values level off: a Gaussian process on the warped values.

A probability, an accuracy or a score between two bounds levels off near them, and so players interact who would not
otherwise. Warped,

    f(S) = logit((v(S) - low) / width),   with bounds a little beyond the values seen,

such games are smoother, often almost additive. The odd and the even part of f are predicted like those of v; their sum,
warped back, predicts v. Its Shapley values have no closed form: all coalitions are listed, so it is for small games.

Whether it helps, the pairs say: each is predicted from all others in both ways, and the two opinions are weighed so
that the errors of the weighed prediction are smallest (stacking).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from topshap import coalitions as co
from topshap.exact import shapley_from_table
from topshap.surrogates.conditioned import Conditioned
from topshap.surrogates.hyperparameters import even_kernel, fit, observe

if TYPE_CHECKING:
    from topshap.typing import Matrix, Players, Values

MARGINS = (0.005, 0.05)
"""How far beyond the values seen the bounds may lie, in parts of their range: the better of these is taken."""
MAX_PLAYERS, MAX_PAIRS = 16, 1000
"""Games that are listed, and pairs that are listened to."""
FITTED_TO, FIRST_FIT, REFIT = 100, 10, 5
"""The hyper-parameters are fitted to at most so many pairs, for so many iterations with the first margin and others."""


class Warp(NamedTuple):
    """The logistic curve between two bounds that lie beyond some values by a part of their range."""

    least: float
    spread: float
    margin: float

    @classmethod
    def around(cls, values: Values, margin: float) -> Warp:
        """Return the curve for these values."""
        return cls(float(values.min()), float(np.ptp(values)), margin)

    def warp(self, values: Values) -> Values:
        """Return f for values between the bounds."""
        # The least is taken off first: values that differ by rounding errors only are then no infinite logits.
        return np.asarray(logit(((values - self.least) / self.spread + self.margin) / (1.0 + 2.0 * self.margin)))

    def back(self, mean: Values, variance: Values | float) -> Values:
        """Return the expected value where f is normal (MacKay's approximation)."""
        between = expit(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))
        return np.asarray(self.least + self.spread * ((1.0 + 2.0 * self.margin) * between - self.margin))


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
        everyone = np.where(co.from_ids(np.arange(2**n), n), 1.0, -1.0)
        f = times_product_kernel(weights, odd.relevance) + odd.linear * (everyone @ (x.T @ self._odd.weights))
        f += even.constant * self._even.weights.sum()
        return self._warp.back(self._unit * f + self._level, variance)

    def _back(self, odd: Values, even: Values, variance: Values | float) -> tuple[Values, Values]:
        odd, even = self._unit * odd, self._unit * even + self._level
        return self._warp.back(even + odd, variance), self._warp.back(even - odd, variance)


def times_product_kernel(weights: Values, relevance: Values) -> Values:
    """Return the sum over all coalitions y of exp(sum_i a_i (x_i y_i - 1)) times the weight of y, for all x.

    The kernel is a product over the players, so it is applied player by player.

    Examples
    --------
    >>> times_product_kernel(np.array([1.0, 0.0]), np.array([np.log(2.0)]))
    array([1.  , 0.25])
    """
    result = weights
    for player, other_side in enumerate(np.exp(-2.0 * relevance)):
        without, inside = np.moveaxis(result.reshape(-1, 2, 2**player), 1, 0)
        result = np.stack([without + other_side * inside, other_side * without + inside], axis=1).ravel()
    return result


class Opinion(NamedTuple):
    """What a model says about the Shapley values, and how far off it is in pairs that it predicts from all others."""

    shapley_values: Values
    residuals: Values


def second_opinion(
    x: Matrix, values: Values, opposites: Values, left_out: Players, rng: np.random.Generator
) -> Opinion | None:
    """Return what a process on the warped values says; None where there is too much to list or nothing to learn.

    `x` are pairs as signs, the first that of the grand coalition; `left_out` are those to say the residuals of.
    """
    m, n = x.shape
    if n > MAX_PLAYERS or m > MAX_PAIRS or len(left_out) == 0 or not np.ptp([values, opposites]) > 0.0:
        return None
    odd = (values[left_out] - opposites[left_out]) / 2.0
    rows = rng.permutation(m)[:FITTED_TO]
    found, start = [], None
    for margin in MARGINS:
        warp = Warp.around(np.concatenate([values, opposites]), margin)
        process = WarpedProcess(warp, x, values, opposites, rows=rows, start=start)
        start = process.parameters if start is None else start
        predicted, variance = process.left_out(left_out)
        found.append((odd - predicted, process, float(np.median(variance))))
    residuals, best, usual = min(found, key=lambda one: float(np.mean(one[0] ** 2)))
    table = best.predict_all(usual)
    table[co.to_ids(x > 0)], table[co.to_ids(x < 0)] = values, opposites
    return Opinion(shapley_from_table(table - table[0]), residuals)


def weighed(first: Opinion, second: Opinion) -> tuple[Values, float]:
    """Return the Shapley values by both opinions, and by which factor their variance is below the first one's.

    The share of the second is the one with the smallest mean square of the residuals. Since it was fitted to them they
    fall more than the errors of the Shapley values do, and the factor is the root of theirs.

    Examples
    --------
    >>> rough = Opinion(np.array([0.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> finer = Opinion(np.array([1.0, 3.0]), np.array([0.5, -0.5, -0.5, 0.5]))
    >>> weighed(rough, finer)[0].round(6), weighed(rough, rough)[0]
    (array([0.8, 3.2]), array([0., 4.]))
    """
    change = first.residuals - second.residuals
    across = float(change @ change)
    share = float(np.clip(first.residuals @ change / across, 0.0, 1.0)) if across > 0.0 else 0.0
    if share == 0.0:
        return first.shapley_values, 1.0
    values = (1.0 - share) * first.shapley_values + share * second.shapley_values
    left_over = np.mean((first.residuals - share * change) ** 2) / np.mean(first.residuals**2)
    return values, float(np.sqrt(left_over))
