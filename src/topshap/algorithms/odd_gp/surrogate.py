"""The surrogate of the odd part of a game, refitted as pairs are observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.caution import cautious_covariance
from topshap.algorithms.odd_gp.fitting import fit, observe
from topshap.algorithms.odd_gp.integrals import pair_functional, pair_prior
from topshap.algorithms.odd_gp.posterior import MAX_LEFT_OUT, OddPosterior, is_perfect
from topshap.algorithms.odd_gp.rare_jumps import may_be_missed
from topshap.algorithms.odd_gp.regime import FITTED_PER_PLAYER, FITTED_TO, MAX_PAIRS, RICH_MODEL_UP_TO
from topshap.statistics.least_squares import efficient_least_squares

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.minimise import Curvature
    from topshap.core.typing import Matrix, Players, Values


class OddSurrogate:
    """A Gaussian process on the odd part, with fitted hyper-parameters and a widened posterior.

    Parameters
    ----------
    rng
        Draws the pairs that the hyper-parameters are fitted to, where there are many.
    noise
        Whether values vary from call to call, so that the residual of a pair is noise.
    max_pairs
        The largest number of pairs the process is conditioned on; further pairs correct its estimate.
    curvature
        Continued from fit to fit, which takes fewer steps; None for fits that start anew, see `fit`.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        noise: bool = False,
        max_pairs: int = MAX_PAIRS,
        curvature: Curvature | None = None,
    ) -> None:
        self._rng, self._noise, self._max_pairs = rng, noise, max_pairs
        self._parameters: Values | None = None
        self._curvature = curvature
        self.scale = 1.0
        """The root mean square of g; the posterior is that of g / scale."""
        self._further: tuple[Matrix, Values]
        self.posterior: OddPosterior

    def learn(
        self,
        x: Matrix,
        g: Values,
        e: Values,
        *,
        iterations: int = 25,
        fitted_to: tuple[int, int] = FITTED_TO,
        left_out: int = MAX_LEFT_OUT,
    ) -> None:
        """Fit the hyper-parameters from their present values, and condition the process on the pairs.

        Parameters
        ----------
        x
            Pairs as signs, the first that of the grand coalition; in random order if there are more than `max_pairs`.
        g, e
            Their odd and even parts.
        iterations
            The largest number of iterations of the fit; with 0, the hyper-parameters are kept.
        fitted_to
            The smallest and the largest number of pairs that the hyper-parameters are fitted to, if there are more.
        left_out
            The largest number of pairs, the last ones, that leave-one-out residuals are computed of.
        """
        n = x.shape[1]
        rich = n <= RICH_MODEL_UP_TO
        self._further = x[self._max_pairs :], g[self._max_pairs :]
        x, g, e = x[: self._max_pairs], g[: self._max_pairs], e[: self._max_pairs]
        m = len(x)
        self.scale = float(np.sqrt(np.mean(g**2))) or 1.0
        data = observe(x, g / self.scale, (e - e.mean()) / self.scale if rich else None)
        count = int(np.clip(FITTED_PER_PLAYER * n, *fitted_to))
        rows = np.arange(m)
        if m > count:
            rows = np.concatenate([[0], 1 + self._rng.permutation(m - 1)[: count - 1]])
        kernel, self._parameters = fit(
            data, rows, own=rich, iterations=iterations, start=self._parameters, curvature=self._curvature
        )
        self.posterior = OddPosterior(kernel, data.x, data.g, noise=self._noise, left_out=left_out)

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of g on the scale of the game."""
        return self.scale * self.posterior.predict(x)

    def leave_one_out_among(self, rows: Players) -> Values:
        """Return the residuals of some pairs on the scale of the game, each predicted from the others of them only."""
        posterior = self.posterior
        alone = OddPosterior(posterior.kernel, posterior.x[rows], posterior.g[rows])
        return self.scale * alone.leave_one_out(np.arange(len(rows)))[0]

    def shapley_values(self, *, cautious: bool = False) -> tuple[Values, Matrix]:
        """Return the posterior mean and covariance of the Shapley values on the scale of the game.

        The mean is adjusted to add up to v(N) - v(empty) to the last digit, unless values are noisy. The covariance is
        widened by the mean square of the standardised leave-one-out residuals, if that is above 1, and by 1 + 2 n / m
        for the hyper-parameters, which were fitted to the same pairs. Rare jumps and a perfect fit add to it.

        Parameters
        ----------
        cautious
            Whether to allow for relevances that are too small, see `cautious_covariance`; not if values are noisy.
        """
        posterior, scale = self.posterior, self.scale
        m, n = posterior.x.shape
        values = posterior.shapley_values
        if not self._noise:
            values = values + (2.0 * posterior.g[0] - values.sum()) / n
        _, residuals, deviations = posterior.left_out
        if cautious and not self._noise and n <= RICH_MODEL_UP_TO and m > 1:
            covariance = cautious_covariance(posterior)
        else:
            misfit = float(np.mean((residuals / deviations) ** 2)) if m > 1 else 1.0
            covariance = posterior.covariance * max(1.0, misfit)
        covariance = covariance * (1.0 + 2.0 * n / m)
        if not self._noise:
            covariance = covariance + (
                self.unseen_jump_covariance() if is_perfect(residuals) else posterior.jump_covariance
            )
        return self._corrected(values * scale, covariance * scale**2)

    @property
    def rare_contributions(self) -> bool:
        """Whether contributions may be rare and large, so that intervals may be too narrow."""
        posterior = self.posterior
        residuals = posterior.left_out.residuals
        return self.unobserved and may_be_missed(residuals, posterior.jump_covariance, posterior.shapley_values)

    @property
    def unobserved(self) -> bool:
        """Whether there may be jumps in pairs that were not observed; noise is not a jump."""
        m, n = self.posterior.x.shape
        return not self._noise and m < 2 ** (n - 1)

    @property
    def further_pairs(self) -> int:
        """The number of pairs that the process is not conditioned on."""
        return len(self._further[0])

    def _corrected(self, values: Values, covariance: Matrix) -> tuple[Values, Matrix]:
        """Add an additive game fitted to the residuals of the pairs beyond `max_pairs`.

        This keeps the estimate consistent for any number of pairs.
        """
        further = self.further_pairs
        if further == 0:
            return values, covariance
        x, g = self._further
        coefficients, spread = additive_fit(x, g - self.predict(x))
        share = further / (further + len(self.posterior.x))
        return values + share * coefficients, (1.0 - share) ** 2 * covariance + share**2 * spread

    def unseen_jump_covariance(self) -> Matrix:
        """Return the covariance that a perfect fit may hide, on the scale of the posterior: a jump in 1 of m + 1 pairs.

        A perfect fit is not certainty. The jump is as large as the largest Shapley value, as for other algorithms (see
        `MeanStanding`), and may be in any pair that was not observed.
        """
        posterior = self.posterior
        m, n = posterior.x.shape
        seen = pair_functional(posterior.x)
        unseen = pair_prior(np.ones(n + 1)) - seen.T @ seen
        return float(np.max(posterior.shapley_values**2)) / (4.0 * (m + 1)) * unseen


def additive_fit(x: Matrix, g: Values, gain: float = 0.0) -> tuple[Values, Matrix]:
    """Return the Shapley values of the additive game closest to g, and the covariance due to the sampled pairs.

    The pairs must be distinct, and random within each size. The Shapley values add up to `gain`.
    """
    weights, inside = kernel_weights(x), x > 0
    return efficient_least_squares(
        np.concatenate([inside, ~inside]),
        gain / 2.0 + np.concatenate([g, -g]),
        np.concatenate([weights, weights]),
        gain,
        np.tile(np.arange(len(x)), 2),
    )


def kernel_weights(x: Matrix) -> Values:
    """Return the kernel weights of sampled pairs: that of a size is divided among the pairs of that size."""
    n = x.shape[1]
    inside = np.count_nonzero(x > 0, axis=1)
    sizes = np.minimum(inside, n - inside)
    return np.where(2 * sizes == n, 0.5, 1.0) / (sizes * (n - sizes) * np.bincount(sizes)[sizes])
