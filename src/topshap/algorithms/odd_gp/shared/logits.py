"""Shared processes on the logits of outputs that are probabilities, stacked with the process on their values.

As in `topshap.algorithms.odd_gp.stacking`: both processes predict each pair from all others, and each output gets the
convex combination with the smallest squared errors. The Shapley values of a prediction on logits have no closed form.
Where the pairs of a game can be enumerated, the difference of the two predictions is summed over all of them; otherwise
an additive game is fitted to it on a sample of pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from topshap.algorithms.odd_gp.designs import draw_pairs, drop_used
from topshap.algorithms.odd_gp.fitting import even_kernel
from topshap.algorithms.odd_gp.gp import ConditionedGP, inverse_of
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.logit_gp import FIRST_FIT
from topshap.algorithms.odd_gp.logit_warp import CLOSE, SLACK, USUAL_BOUNDS, Warp
from topshap.algorithms.odd_gp.shared.borders import output_blocks
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.shared.fitting import fit_outputs, observe_outputs
from topshap.algorithms.odd_gp.shared.least_squares import additive_fit
from topshap.algorithms.odd_gp.shared.process import rows_to_fit

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.minimise import Curvature
    from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
    from topshap.core.typing import Matrix, Players, Values

ENUMERATED_UP_TO, SAMPLED = 14, 4096
"""The largest number of players whose pairs are all enumerated, and the number of pairs in a sample beyond."""
MAX_PLAYERS, MIN_PAIRS = 200, 3
"""Logits are fitted up to this number of players, as the even part is, and from this number of pairs."""
SMALLEST_SHARE = 0.02
"""Outputs whose combination has a smaller share of the logits keep the estimate on their values."""
_BLOCK_ENTRIES = 2**21
"""The largest number of predictions computed together, which bounds memory."""


class OutputWarps(NamedTuple):
    """The outputs that look like probabilities or scores, and their warps, with one number per output in each field."""

    outputs: Players
    warp: Warp

    def part(self, chosen: Players) -> Warp:
        """Return the warps of some of these outputs."""
        return Warp(*(np.asarray(field)[chosen] for field in self.warp))


class Predictor(Protocol):
    """A model of the odd parts of all outputs, on their own scales."""

    def left_out(self) -> Matrix:
        """Return the leave-one-out residuals of all pairs but the grand coalition's."""

    def predict(self, x: Matrix, outputs: Players) -> Matrix:
        """Return the expected odd parts of some outputs in pairs that were not observed."""


def usual_warps(values: Matrix) -> OutputWarps:
    """Return the outputs whose values lie strictly inside the usual bounds and come close to one, by `candidate_warps`.

    Warps around the observed values of other outputs are not used: with kernels that outputs share, they brought
    nothing on bike (MLP) and adult (XGBoost) at 100 and 250 evaluations.

    Examples
    --------
    >>> values = np.array([[0.01, 0.0, 5.0, 0.4], [0.4, 0.4, 6.0, 0.5], [0.9, 1.0, 7.0, 0.6]])
    >>> usual_warps(values).outputs
    array([0])
    """
    smallest, largest = values.min(axis=0), values.max(axis=0)
    spread = largest - smallest
    lows, lengths = np.full(len(spread), np.nan), np.ones(len(spread))
    for low, high in reversed(USUAL_BOUNDS):  # the first bounds that apply are kept
        applies = (low < smallest) & (largest < high) & (spread > 0.0)
        applies &= np.minimum(smallest - low, high - largest) <= CLOSE * spread
        lows[applies], lengths[applies] = low, high - low
    outputs = np.flatnonzero(np.isfinite(lows))
    slack = (SLACK * spread / lengths)[outputs]
    return OutputWarps(outputs, Warp(lows[outputs], lengths[outputs], slack, slack))


class LogitStack:
    """A model of the odd parts of all outputs, stacked with a process on logits where outputs have usual bounds.

    Parameters
    ----------
    model
        The model on the values.
    pairs
        The observed pairs.
    rng
        Draws the pairs that the hyper-parameters are fitted to, and those that differences are summed over.

    Attributes
    ----------
    logits : SharedLogits or None
        The process on logits, None if no output has usual bounds. It has to be fitted, see `fit`.
    """

    def __init__(self, model: Predictor, pairs: SharedPairs, rng: np.random.Generator) -> None:
        self._model, self._pairs, self._rng = model, pairs, rng
        m, n = pairs.x.shape
        values, opposites = pairs.values, pairs.complement_values
        warps = usual_warps(np.concatenate([values, opposites]))
        self._outputs = warps.outputs if n <= MAX_PLAYERS and m >= MIN_PAIRS else warps.outputs[:0]
        """The outputs that use logits."""
        self.logits: SharedLogits | None = None
        if len(self._outputs) > 0:
            chosen = self._outputs
            self.logits = SharedLogits(warps, pairs.x, values[:, chosen], opposites[:, chosen])

    def fit(
        self, *, start: Values | None = None, curvature: Curvature | None = None, iterations: int = FIRST_FIT
    ) -> LogitStack:
        """Fit the process on logits, from given hyper-parameters if there are any, and the share of each output."""
        if self.logits is None:
            return self
        m, n = self._pairs.x.shape
        rows = rows_to_fit(m, n, self._rng)
        self.logits.fit(rows, start=start, curvature=curvature, iterations=iterations)
        self._residuals = self._model.left_out()[:, self._outputs]
        self._change = self._residuals - self.logits.left_out()[1:]
        across = np.maximum(np.sum(self._change**2, axis=0), 1e-300)
        shares = np.clip(np.sum(self._residuals * self._change, axis=0) / across, 0.0, 1.0)
        self._shares = np.where(shares >= SMALLEST_SHARE, shares, 0.0)
        return self

    def estimate(self, shared: SharedEstimate) -> SharedEstimate:
        """Return the estimate of the model, moved by the share of the logits.

        The shares are fitted to the residuals, so these shrink more than the errors of the Shapley values do: the
        variance shrinks with their root mean square, not with their mean square.
        """
        if self.logits is None:
            return shared
        x = _unobserved(self._pairs, self._rng)
        used = np.flatnonzero(self._shares)
        values, factors = shared.values.copy(), shared.factors.copy()
        for block in output_blocks(len(used), len(x), _BLOCK_ENTRIES):
            part = used[block]
            own, shares = self._outputs[part], self._shares[part]
            difference = self.logits.predict(x, part) - self._model.predict(x, own)
            moved = _shapley_values_of_difference(self._pairs.x, x, difference)
            values[own] = adding_up(values[own] + shares[:, None] * moved, shared.values[own].sum(axis=1))
            before = self._residuals[:, part]
            after = before - shares * self._change[:, part]
            factors[own] *= np.linalg.norm(after, axis=0) / np.maximum(np.linalg.norm(before, axis=0), 1e-300)
        return SharedEstimate(values, shared.covariance, factors, shared.reduction)

    def left_out(self) -> Matrix:
        """Return the leave-one-out residuals of the odd parts of all pairs but the grand coalition's."""
        residuals = self._model.left_out()
        if self.logits is not None:
            residuals[:, self._outputs] -= self._shares * self._change
        return residuals

    def predict(self, x: Matrix, outputs: Players) -> Matrix:
        """Return the expected odd parts of some outputs in pairs that were not observed."""
        found = self._model.predict(x, outputs)
        here = np.flatnonzero(np.isin(outputs, self._outputs))
        if self.logits is not None and len(here) > 0:
            part = np.searchsorted(self._outputs, outputs[here])
            found[:, here] += self._shares[part] * (self.logits.predict(x, part) - found[:, here])
        return found


def _shapley_values_of_difference(observed: Matrix, x: Matrix, difference: Matrix) -> Matrix:
    """Return the Shapley values of the difference between two predictions, which is 0 in the observed pairs."""
    if x.shape[1] <= ENUMERATED_UP_TO:
        return np.asarray((pair_functional(x).T @ difference).T)
    none = np.zeros((len(observed) - 1, difference.shape[1]))
    return additive_fit(np.concatenate([observed[1:], x]), np.concatenate([none, difference]))[0]


def _unobserved(pairs: SharedPairs, rng: np.random.Generator) -> Matrix:
    """Return all pairs that have not been observed, or a sample of them, as signs."""
    n = pairs.x.shape[1]
    if n <= ENUMERATED_UP_TO:
        return pairs.unobserved()
    return np.where(drop_used(draw_pairs(n, SAMPLED, 0.0, rng), pairs.keys()), 1.0, -1.0)


class SharedLogits:
    """Gaussian processes on the odd and the even part of the logits of some outputs, with shared hyper-parameters.

    Parameters
    ----------
    warps
        The outputs and their warps.
    x
        The observed pairs as signs.
    values, complement_values
        The values of both coalitions of each pair and output.

    Attributes
    ----------
    data : Observations
        The observations of the fit.
    """

    def __init__(self, warps: OutputWarps, x: Matrix, values: Matrix, complement_values: Matrix) -> None:
        self._warps = warps
        f, opposite = warps.warp.forward(values), warps.warp.forward(complement_values)
        odd, even = (f - opposite) / 2.0, (f + opposite) / 2.0
        self._odd_part = (values - complement_values) / 2.0
        rms = np.sqrt(np.mean(odd**2, axis=0))
        self._units, self._levels = np.where(rms > 0.0, rms, 1.0), even.mean(axis=0)
        odd, even = odd / self._units, (even - self._levels) / self._units
        self._even_observed = even
        self.data = observe_outputs(x, odd, even)

    def fit(self, rows: Players, *, start: Values | None, curvature: Curvature | None, iterations: int) -> None:
        """Fit the hyper-parameters to some of the pairs, and condition the processes on all of them."""
        x, data = self.data.x, self.data
        kernel, parameters = fit_outputs(data, rows, own=True, iterations=iterations, start=start, curvature=curvature)
        self._odd = ConditionedGP(kernel, x, data.g)
        self._even = ConditionedGP(even_kernel(data, parameters), x, self._even_observed)
        self._odd_precision, self._even_precision = (
            np.diag(inverse_of(part.factor))[:, None] for part in (self._odd, self._even)
        )
        self._variances = (1.0 / self._odd_precision + 1.0 / self._even_precision) * self._units**2

    def left_out(self) -> Matrix:
        """Return the leave-one-out residuals of (v(x) - v(-x)) / 2 of all pairs and outputs."""
        odd = self._odd.observed - self._odd.weights / self._odd_precision
        even = self._even.observed - self._even.weights / self._even_precision
        return self._odd_part - self._expected(odd, even, self._variances, np.arange(len(self._units)))

    def predict(self, x: Matrix, outputs: Players) -> Matrix:
        """Return the expected odd parts of the values of some outputs in other pairs."""
        odd = self._odd.kernel.predict(x, self._odd.x, self._odd.weights[:, outputs])
        even = self._even.kernel.covariance(x, self._even.x) @ self._even.weights[:, outputs]
        return self._expected(odd, even, np.median(self._variances, axis=0)[outputs], outputs)

    def _expected(self, odd: Matrix, even: Matrix, variances: Matrix | Values, outputs: Players) -> Matrix:
        """Return the expected (v(x) - v(-x)) / 2 for the odd and even parts of logits."""
        units, levels = self._units[outputs], self._levels[outputs]
        warp = self._warps.part(outputs)
        return warp.expected_part(units * odd, units * even + levels, variances)
