"""The Gaussian process on the odd parts of all outputs: one kernel, one factorisation, one Shapley functional.

With K the covariance of the m observed pairs and A = Cov(phi, observations), both functions of the coalitions only, the
Shapley values of all outputs are A K^-1 G, with G (m x R) their odd parts, each scaled to a root mean square of 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.algorithms.odd_gp.regime import RICH_MODEL_UP_TO
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.algorithms.odd_gp.shared.fitting import fit_outputs, kernel_with, observe_outputs
from topshap.algorithms.odd_gp.shared.least_squares import additive_fit
from topshap.algorithms.odd_gp.shared.spread import shared_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.fitting import Observations
    from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
    from topshap.core.typing import Matrix, Players, Values

MAX_PAIRS = 2000
"""The largest number of pairs the process is conditioned on, a limit on time; further pairs correct its estimate."""

ROUNDING = 1e-14
"""Odd parts below this multiple of the values are rounding errors."""


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
        self._further: tuple[Matrix, Matrix]
        self._observed: tuple[Matrix, Matrix]
        self._complete = False
        self.parameters: Values | None = None
        """The hyper-parameters of the last fit."""
        self.curvature = Curvature()
        """The curvature of the objective of the last fit."""
        self.fitted_rows: Players
        """The pairs that the hyper-parameters were fitted to."""
        self.units: Values
        """The root mean square of the odd part of each output that varies, else 1; the posterior is of g / unit."""
        self.varying: NDArray[np.bool_]
        """The outputs whose odd part is not 0 in all pairs, apart from rounding errors."""
        self.even: Matrix | None
        """The even part of the outputs that vary, centred and on the scale of the units; None if it is not used."""
        self.posterior: OddPosterior
        self.precision: Values
        """The diagonal of K^-1."""

    def learn(self, pairs: SharedPairs, *, iterations: int) -> None:
        """Fit the hyper-parameters from their present values, and condition the process on the pairs."""
        data = self.observe(pairs)
        _, parameters = fit_outputs(
            data,
            self.fitted_rows,
            own=self.even is not None,
            iterations=iterations,
            start=self.parameters,
            curvature=self.curvature,
        )
        self.condition(data, parameters)

    def observe(self, pairs: SharedPairs) -> Observations:
        """Scale the pairs of the outputs that vary, and return them as the observations of a fit."""
        x, odd, even = pairs.x[: self._max_pairs], pairs.odd, pairs.even
        self._further = pairs.x[self._max_pairs :], odd[self._max_pairs :]
        self._complete = pairs.complete
        odd, even = odd[: self._max_pairs], even[: self._max_pairs]
        rms = np.sqrt(np.mean(odd**2, axis=0))
        self.varying = rms > ROUNDING * np.max(np.abs(even), axis=0)
        self.units = np.where(self.varying, rms, 1.0)
        self._observed = x, odd / self.units
        fitted = self.varying if self.varying.any() else ~self.varying
        rich = x.shape[1] <= RICH_MODEL_UP_TO
        self.even = ((even - even.mean(axis=0)) / self.units)[:, fitted] if rich else None
        self.fitted_rows = rows_to_fit(len(x), x.shape[1], self._rng)
        return observe_outputs(x, self._observed[1][:, fitted], self.even)

    def condition(self, data: Observations, parameters: Values) -> None:
        """Condition the process with these hyper-parameters on the pairs last observed."""
        self.parameters = parameters
        self.posterior = OddPosterior(kernel_with(data, parameters), *self._observed)
        self.precision = np.diag(inverse_of(self.posterior.factor)).copy()

    @property
    def is_final(self) -> bool:
        """Whether other models cannot improve the estimate: it is exact, or corrected by further pairs."""
        return self._complete or len(self._further[0]) > 0

    def estimate(self) -> SharedEstimate:
        """Return the Shapley values of all outputs and their covariance, on the scale of the outputs."""
        posterior = self.posterior
        x, odd = posterior.x, posterior.observed
        n, gains = x.shape[1], 2.0 * odd[0] * self.units
        if self._complete and len(self._further[0]) == 0:
            values = (pair_functional(x).T @ odd).T * self.units[:, None]
            return SharedEstimate(adding_up(values, gains), np.zeros((n, n)), np.zeros(len(values)))
        values = (posterior.solved_functional.T @ odd).T
        covariance, factors = shared_spread(posterior, self.precision, values, self.varying)
        values = adding_up(values * self.units[:, None], gains)
        return self._corrected(SharedEstimate(values, covariance, factors * self.units**2))

    def left_out(self) -> Matrix:
        """Return the leave-one-out residuals of the odd parts of all pairs but the grand coalition's."""
        return np.asarray(self.posterior.weights[1:] / self.precision[1:, None] * self.units)

    def predict(self, x: Matrix, outputs: Players) -> Matrix:
        """Return the expected odd parts of some outputs in pairs that were not observed."""
        posterior = self.posterior
        return posterior.kernel.predict(x, posterior.x, posterior.weights[:, outputs]) * self.units[outputs]

    def _corrected(self, estimate: SharedEstimate) -> SharedEstimate:
        """Add additive games fitted to the residuals of the pairs beyond `max_pairs`.

        This keeps the estimates consistent for any number of pairs.
        """
        x, odd = self._further
        if len(x) == 0:
            return estimate
        residuals = odd - self.predict(x, np.arange(len(self.units)))
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
