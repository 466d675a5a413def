"""The surrogate of the odd part of a game as it learns from more and more pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.fitting import fit, observe
from topshap.algorithms.odd_gp.integrals import pair_functional, pair_prior
from topshap.algorithms.odd_gp.posterior import OddPosterior, is_perfect
from topshap.statistics.least_squares import efficient_least_squares

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values

MAX_PAIRS = 6000
"""The process is conditioned on at most this many pairs: its cost grows with their third power."""

EVEN_PART_UP_TO = 200
"""Up to this many players, each has a relevance of its own and the even part helps to learn them. Beyond, there are
more parameters than pairs to learn them from."""


class OddSurrogate:
    """The Gaussian process on the odd part, refitted whenever there are more pairs.

    Parameters
    ----------
    rng
        Chooses the pairs that the hyper-parameters are fitted to, where there are many.
    noise
        Whether values vary from call to call, so that what is left over in a pair is noise.
    max_pairs
        The process is conditioned on at most this many pairs; those beyond correct what it says.
    """

    def __init__(self, rng: np.random.Generator, *, noise: bool = False, max_pairs: int = MAX_PAIRS) -> None:
        self._rng, self._noise, self._max_pairs = rng, noise, max_pairs
        self._parameters: Values | None = None
        self.unit = 1.0
        """The root mean square of g, in which the posterior counts."""
        self._rest: tuple[Matrix, Values]
        self.posterior: OddPosterior

    def learn(self, x: Matrix, g: Values, e: Values, *, iterations: int = 25) -> None:
        """Fit the hyper-parameters for some iterations from where they are, and condition on all pairs.

        `x` are pairs as signs, `g` and `e` their odd and even parts; the first is that of the grand coalition. If there
        are more than `max_pairs`, they are to be in random order.
        """
        n = x.shape[1]
        with_even = n <= EVEN_PART_UP_TO
        most = self._max_pairs
        self._rest = x[most:], g[most:]
        x, g, e = x[:most], g[:most], e[:most]
        m = len(x)
        self.unit = float(np.sqrt(np.mean(g**2))) or 1.0
        data = observe(x, g / self.unit, (e - e.mean()) / self.unit if with_even else None)
        at_most = int(np.clip(3 * n, 150, 600))
        rows = np.arange(m)
        if m > at_most:
            rows = np.concatenate([[0], 1 + self._rng.permutation(m - 1)[: at_most - 1]])
        kernel, self._parameters = fit(data, rows, own=with_even, iterations=iterations, start=self._parameters)
        self.posterior = OddPosterior(kernel, data.x, data.g, noise=self._noise)

    def shapley_values(self) -> tuple[Values, Matrix]:
        """Return the posterior mean and covariance of the Shapley values in the units of the game.

        The mean is made to add up to v(N) - v(empty) to the last digit, unless these are noisy. The covariance is
        widened where the pairs say that the model is too sure: by the mean square of the leave-one-out residuals in
        units of their expected deviation, if that is above 1, and by 1 + 2 n / m for the hyper-parameters that were
        learned from the same pairs.
        """
        posterior, unit = self.posterior, self.unit
        m, n = posterior.x.shape
        values = posterior.shapley_values
        if not self._noise:
            values = values + (2.0 * posterior.g[0] - values.sum()) / n
        _, residuals, expected = posterior.left_out
        surprise = float(np.mean((residuals / expected) ** 2)) if m > 1 else 1.0
        covariance = posterior.covariance * (max(1.0, surprise) * (1.0 + 2.0 * n / m))
        if not self._noise and is_perfect(residuals):
            covariance = covariance + self._what_a_perfect_fit_may_hide()
        return self._corrected(values * unit, covariance * unit**2)

    def _corrected(self, values: Values, covariance: Matrix) -> tuple[Values, Matrix]:
        """Fit an additive game to what the model leaves over in the pairs it has not seen, and add that.

        So the estimate stays consistent however many pairs there are. The kernel weight of a size is shared among the
        pairs of that size.
        """
        x, g = self._rest
        rest, n = x.shape
        if rest == 0:
            return values, covariance
        left_over = g - self.unit * self.posterior.predict(x)
        inside = x > 0
        sizes = np.minimum(inside.sum(axis=1), (~inside).sum(axis=1))
        weights = np.where(2 * sizes == n, 0.5, 1.0) / (sizes * (n - sizes) * np.bincount(sizes)[sizes])
        coefficients, spread = efficient_least_squares(
            np.concatenate([inside, ~inside]),
            np.concatenate([left_over, -left_over]),
            np.concatenate([weights, weights]),
            0.0,
            np.tile(np.arange(rest), 2),
        )
        share = rest / (rest + len(self.posterior.x))
        return values + share * coefficients, (1.0 - share) ** 2 * covariance + share**2 * spread

    def _what_a_perfect_fit_may_hide(self) -> Matrix:
        """Return the covariance if every unseen pair might be off by what one more pair in m + 1 may bring.

        A perfect fit is not certainty. The jump that is allowed for is the largest Shapley value, as for other
        algorithms (see `MeanStanding`).
        """
        posterior = self.posterior
        m, n = posterior.x.shape
        seen = pair_functional(posterior.x)
        unseen = pair_prior(np.ones(n + 1)) - seen.T @ seen
        return float(np.max(posterior.shapley_values**2)) / (4.0 * (m + 1)) * unseen
