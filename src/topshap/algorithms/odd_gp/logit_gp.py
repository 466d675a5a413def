"""Gaussian processes on the logits of bounded values.

The odd and the even part of the logits are predicted like those of the values; their sum, transformed back, predicts
the value of a coalition. The Shapley values of that prediction have no closed form: in small games all coalitions are
enumerated, in others pairs are sampled (`stacking`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.fitting import even_kernel, fit, observe
from topshap.algorithms.odd_gp.gp import BLOCK, ConditionedGP
from topshap.algorithms.odd_gp.odd_kernel import exponentials
from topshap.algorithms.odd_gp.regime import RICH_MODEL_UP_TO
from topshap.core import coalitions as co

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even_kernel import EvenKernel
    from topshap.algorithms.odd_gp.logit_warp import Warp
    from topshap.algorithms.odd_gp.minimise import Curvature
    from topshap.algorithms.odd_gp.odd_kernel import OddKernel
    from topshap.core.typing import Matrix, Players, Values

FIRST_FIT, REFIT = 20, 5
"""BFGS iterations for the first warp, and for further warps, which start from its hyper-parameters."""


class LogitGP:
    """Gaussian processes on the odd and the even part of the warped values of complement pairs.

    Parameters
    ----------
    warp
        The warp.
    x
        The observed pairs as signs.
    values, complement_values
        The values of both coalitions of each pair.
    rows
        The pairs that the hyper-parameters are fitted to.
    start, curvature
        Hyper-parameters to start from, those of another warp, and the curvature of their fit.
    """

    def __init__(
        self,
        warp: Warp,
        x: Matrix,
        values: Values,
        complement_values: Values,
        *,
        rows: Players,
        start: Values | None = None,
        curvature: Curvature | None = None,
    ) -> None:
        self.warp = warp
        f, opposite = warp.forward(values), warp.forward(complement_values)
        odd, even = (f - opposite) / 2.0, (f + opposite) / 2.0
        self._scale, self._level = float(np.sqrt(np.mean(odd**2))) or 1.0, float(even.mean())
        self._centred_even = (even - self._level) / self._scale
        data = observe(x, odd / self._scale, self._centred_even)
        iterations = FIRST_FIT if start is None else REFIT
        own = x.shape[1] <= RICH_MODEL_UP_TO
        kernel, self.parameters = fit(data, rows, own=own, iterations=iterations, start=start, curvature=curvature)
        self._x, self._data, self._kernel = x, data, kernel

    @cached_property
    def _odd(self) -> ConditionedGP[OddKernel]:
        return self._odd_given(slice(None))

    @cached_property
    def _even(self) -> ConditionedGP[EvenKernel]:
        return self._even_given(slice(None))

    def _odd_given(self, rows: Players | slice) -> ConditionedGP[OddKernel]:
        return ConditionedGP(self._kernel, self._x[rows], self._data.g[rows])

    def _even_given(self, rows: Players | slice) -> ConditionedGP[EvenKernel]:
        return ConditionedGP(even_kernel(self._data, self.parameters), self._x[rows], self._centred_even[rows])

    def leave_one_out(self, rows: Players, *, even: bool = False) -> tuple[Values, Values]:
        """Return the leave-one-out predictions of the odd or even part of some pairs, and the variances of f."""
        return self._leave_one_out(self._odd, self._even, rows, -1.0 if even else 1.0)

    def leave_one_out_among(self, rows: Players, *, even: bool = False) -> Values:
        """Return the predictions of the odd or even part of some pairs, each from the others of them only."""
        parts = self._odd_given(rows), self._even_given(rows)
        return self._leave_one_out(*parts, np.arange(len(rows)), -1.0 if even else 1.0)[0]

    def _leave_one_out(
        self, odd: ConditionedGP[OddKernel], even: ConditionedGP[EvenKernel], rows: Players, sign: float
    ) -> tuple[Values, Values]:
        (odd_residuals, odd_deviation), (even_residuals, even_deviation) = (
            part.leave_one_out(rows) for part in (odd, even)
        )
        variance = self._scale**2 * (odd_deviation**2 + even_deviation**2)
        parts = odd.observed[rows] - odd_residuals, even.observed[rows] - even_residuals
        return self.warp.expected_part(*self._on_scale(*parts), variance, sign), variance

    def predict(self, x: Matrix, variance: float, *, even: bool = False) -> Values:
        """Return the expected odd or even part of any pairs, if f has this variance."""
        return self.warp.expected_part(*self.logits(x), variance, -1.0 if even else 1.0)

    def logits(self, x: Matrix) -> tuple[Values, Values]:
        """Return the posterior means of the odd and the even part of f."""
        sinh, cosh, seen = self._odd.kernel, self._even.kernel, self._odd.x
        end = np.exp(-2.0 * sinh.relevance.sum())
        weights = np.stack(
            [sinh.smooth / (1.0 - end) * self._odd.weights, cosh.smooth / (1.0 + end) * self._even.weights]
        )
        linear, constant = sinh.linear * (seen.T @ self._odd.weights), cosh.constant * self._even.weights.sum()
        odd, even = [np.empty(0)], [np.empty(0)]
        for part in np.array_split(x, len(x) // BLOCK + 1):  # bounds memory
            rising, falling = (each @ weights.T for each in exponentials(part, seen, sinh.relevance))
            odd.append(rising[:, 0] - falling[:, 0] + part @ linear)
            even.append(rising[:, 1] + falling[:, 1] + constant)
        return self._on_scale(np.concatenate(odd), np.concatenate(even))

    def predict_all(self, variance: float) -> Values:
        """Return the expected values of all coalitions in the order of their ids, if f has this variance."""
        odd, even, x = self._odd.kernel, self._even.kernel, self._odd.x
        n, end = x.shape[1], np.exp(-2.0 * odd.relevance.sum())
        sinh = odd.smooth / (1.0 - end) * self._odd.weights
        cosh = even.smooth / (1.0 + end) * self._even.weights
        weights = np.zeros(2**n)
        weights[co.to_ids(x > 0)], weights[co.to_ids(x < 0)] = cosh + sinh, cosh - sinh
        f = times_product_kernel(weights, odd.relevance) + signed_sums(odd.linear * (x.T @ self._odd.weights))
        f += even.constant * self._even.weights.sum()
        return self.warp.expected(self._scale * f + self._level, variance)

    def _on_scale(self, odd: Values, even: Values) -> tuple[Values, Values]:
        """Return standardised odd and even parts on the scale of f."""
        return self._scale * odd, self._scale * even + self._level


def times_product_kernel(weights: Values, relevance: Values) -> Values:
    """Return, for every coalition x, the sum over all coalitions y of exp(sum_i a_i (x_i y_i - 1)) weights[y].

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
    n = len(relevance)
    signs = np.where(co.from_ids(np.arange(2**n), n), 1.0, -1.0)
    return np.exp((signs * relevance) @ signs.T - relevance.sum())


def signed_sums(effects: Values) -> Values:
    """Return, for every coalition, the sum of the effects of its members minus that of all other players.

    Examples
    --------
    >>> signed_sums(np.array([1.0, 3.0]))
    array([-4., -2.,  2.,  4.])
    """
    sums = np.array([-effects.sum()])
    for effect in effects:
        sums = np.concatenate([sums, sums + 2.0 * effect])
    return sums
