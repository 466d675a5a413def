"""The Gaussian process on the odd parts of all outputs: one kernel, one factorisation, one Shapley functional.

With K the covariance of the m observed pairs and A = Cov(phi, observations), both functions of the coalitions only, the
Shapley values of all outputs are A K^-1 G, with G (m x R) their odd parts, each scaled to a root mean square of 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.integrals import pair_functional, pair_prior
from topshap.algorithms.odd_gp.posterior import PERFECT_FIT, OddPosterior
from topshap.algorithms.odd_gp.rare_jumps import OUTLIER, shares_of_sizes
from topshap.algorithms.odd_gp.regime import RICH_MODEL_UP_TO
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.shared.fitting import fit_outputs, observe_outputs
from topshap.algorithms.odd_gp.shared.least_squares import additive_fit

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
    from topshap.core.typing import Matrix, Players, Values

MAX_PAIRS = 2000
"""The largest number of pairs the process is conditioned on, a limit on time; further pairs correct its estimate."""
PRIOR_PAIRS = 4.0
"""The number of pairs that the mean surprise of all outputs counts as in the surprise of each output."""


class SharedProcess:
    """A Gaussian process for all outputs, with fitted hyper-parameters.

    Parameters
    ----------
    rng
        Draws the pairs that the hyper-parameters are fitted to, where there are many.
    max_pairs
        The largest number of pairs the process is conditioned on; further pairs correct its estimate.
    """

    def __init__(self, rng: np.random.Generator, *, max_pairs: int = MAX_PAIRS) -> None:
        self._rng, self._max_pairs = rng, max_pairs
        self._parameters: Values | None = None
        self._further: tuple[Matrix, Matrix]
        self.complete = False
        """Whether all pairs of the game have been observed."""
        self.units: Values
        """The root mean square of the odd part of each output, 1 where that is 0; the posterior is that of g / unit."""
        self.constant: np.ndarray
        """Whether the odd part of an output is 0 in all pairs."""
        self.posterior: OddPosterior
        self.precision: Values
        """The diagonal of K^-1."""

    def learn(self, pairs: SharedPairs, *, iterations: int) -> None:
        """Fit the hyper-parameters from their present values, and condition the process on the pairs."""
        x, odd, even = pairs.x[: self._max_pairs], pairs.odd, pairs.even
        self._further = pairs.x[self._max_pairs :], odd[self._max_pairs :]
        odd, even = odd[: self._max_pairs], even[: self._max_pairs]
        n = x.shape[1]
        rich = n <= RICH_MODEL_UP_TO
        rms = np.sqrt(np.mean(odd**2, axis=0))
        self.constant = rms == 0.0
        self.units = np.where(self.constant, 1.0, rms)
        odd = odd / self.units
        self.complete = pairs.complete
        varying = slice(None) if self.constant.all() else ~self.constant
        scaled_even = ((even - even.mean(axis=0)) / self.units)[:, varying] if rich else None
        data = observe_outputs(x, odd[:, varying], scaled_even)
        rows = rows_to_fit(len(x), n, self._rng)
        kernel, self._parameters = fit_outputs(data, rows, own=rich, iterations=iterations, start=self._parameters)
        self.posterior = OddPosterior(kernel, x, odd)
        self.precision = np.diag(inverse_of(self.posterior.factor)).copy()

    def estimate(self) -> SharedEstimate:
        """Return the Shapley values of all outputs and their covariance, on the scale of the outputs.

        Cov(phi_r) = c_r C, with C the posterior covariance that all outputs share. c_r is the mean square of the
        output's standardised leave-one-out residuals, times 1 + 2 n / m for the hyper-parameters, which were fitted to
        the same pairs. This assumes that the errors of an output are distributed over the players like those of the
        process. Outliers among the residuals count as jumps that may be missing from the pairs not observed, and a
        perfect fit leaves room for one: both are added to c_r.
        """
        posterior = self.posterior
        x, odd = posterior.x, posterior.observed
        gains = 2.0 * odd[0] * self.units
        n = x.shape[1]
        if self.complete and len(self._further[0]) == 0:
            values = (pair_functional(x).T @ odd).T * self.units[:, None]
            return SharedEstimate(adding_up(values, gains), np.zeros((n, n)), np.zeros(len(values)))
        values = (posterior.solved_functional.T @ odd).T * self.units[:, None]
        covariance, factors = self._spread(values)
        estimate = SharedEstimate(adding_up(values, gains), covariance, factors)
        return self._corrected(estimate)

    def left_out(self) -> Matrix:
        """Return the leave-one-out residuals of all pairs but the grand coalition's, on the scale of the units."""
        return np.asarray(self.posterior.weights[1:] / self.precision[1:, None])

    def surprises(self) -> Values:
        """Return the mean square of the standardised leave-one-out residuals of each output.

        It is that of m - 1 pairs, and of a few more with the mean over all outputs.
        """
        if len(self.precision) == 1:
            return np.ones(len(self.units))
        squares = np.einsum("mr,m,mr->r", self.posterior.weights[1:], 1.0 / self.precision[1:], self.posterior.weights[1:])
        varying = ~self.constant
        mean = float(squares[varying].mean()) / (len(self.precision) - 1) if varying.any() else 0.0
        return np.asarray((squares + PRIOR_PAIRS * mean) / (len(self.precision) - 1 + PRIOR_PAIRS))

    def _spread(self, values: Matrix) -> tuple[Matrix, Values]:
        """Return the shared covariance and the factor of each output."""
        posterior = self.posterior
        m, n = posterior.x.shape
        residuals = self.left_out()
        seen = pair_functional(posterior.x)
        unseen = pair_prior(np.ones(n + 1)) - seen.T @ seen
        hidden = np.max(values**2, axis=1) / (4.0 * (m + 1))
        perfect = np.max(residuals**2, axis=0, initial=0.0) <= PERFECT_FIT
        if perfect.all():
            return unseen, hidden
        covariance = posterior.covariance
        trace = max(float(np.trace(covariance)), 1e-300)
        factors = self.surprises() * (1.0 + 2.0 * n / m) + jump_traces(posterior.x, residuals) / trace
        factors = np.where(self.constant, 0.0, factors * self.units**2)
        return covariance, np.where(perfect, np.maximum(factors, hidden * float(np.trace(unseen)) / trace), factors)

    def _corrected(self, estimate: SharedEstimate) -> SharedEstimate:
        """Add additive games fitted to the residuals of the pairs beyond `max_pairs`.

        This keeps the estimates consistent for any number of pairs.
        """
        x, odd = self._further
        if len(x) == 0:
            return estimate
        residuals = odd - self.posterior.predict(x) * self.units
        coefficients, spread = additive_fit(x, residuals)
        share = len(x) / (len(x) + len(self.posterior.x))
        varying = estimate.factors > 0.0
        relative = np.mean(residuals**2, axis=0)[varying] / estimate.factors[varying]
        level = float(relative.mean()) if varying.any() else 0.0
        return SharedEstimate(
            estimate.values + share * coefficients,
            (1.0 - share) ** 2 * estimate.covariance + share**2 * level * spread,
            estimate.factors,
        )


def rows_to_fit(m: int, n: int, rng: np.random.Generator) -> Players:
    """Return the pairs that hyper-parameters are fitted to: all of them, or the first and a sample of the others."""
    limit = int(np.clip(3 * n, 150, 600))
    if m <= limit:
        return np.arange(m)
    return np.concatenate([[0], 1 + rng.permutation(m - 1)[: limit - 1]])


def jump_traces(x: Matrix, residuals: Matrix) -> Values:
    """Return, for each output, the trace of the covariance due to jumps in unobserved pairs.

    It is estimated from the outliers among the residuals of all pairs but the first, as in `rare_jumps`.
    """
    if len(residuals) == 0:
        return np.zeros(residuals.shape[1])
    magnitudes = np.abs(residuals)
    outliers = magnitudes > OUTLIER * np.median(magnitudes, axis=0)
    probabilities = shares_of_sizes(x)[1:]
    estimates = pair_functional(x[1:]) / probabilities[:, None]
    estimates -= estimates.mean(axis=1, keepdims=True)
    traces = np.sum(estimates**2, axis=1) * (1.0 - probabilities)
    return np.asarray(np.einsum("m,mr->r", traces, np.where(outliers, residuals, 0.0) ** 2))
