"""The surrogate of the even part of a game, refitted as complement pairs are observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.even.fitting import fit_even
from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
from topshap.algorithms.odd_gp.even.spread import (
    Spread,
    shares_of_others,
    spread_of_jumps,
    sum_of_squares,
    total_interactions,
)
from topshap.algorithms.odd_gp.even.strong_pairs import SPARSE_ABOVE, with_strong_pairs
from topshap.algorithms.odd_gp.even.weights import residual_prior, residual_prior_by_overlap
from topshap.algorithms.odd_gp.fitting import fit, observe, relevances
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import OddPosterior, is_perfect
from topshap.algorithms.odd_gp.rare_jumps import may_be_missed
from topshap.algorithms.odd_gp.regime import MAX_PAIRS

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.odd_kernel import OddKernel
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

FITTED_PER_PLAYER = 6
"""The number of complement pairs per player that hyper-parameters are fitted to, if there are more."""
FITTED_TO = (200, 600)
"""Its smallest and its largest value."""


class Interactions(NamedTuple):
    """The interactions of all pairs of players, in lexicographic order."""

    estimates: Values
    """The estimates, one per pair of players."""
    std_errors: Values
    """Their standard errors."""
    watched: Players
    """The indices of the pairs whose joint covariance is known: all, or those ranked first if there are many."""
    covariance: Matrix
    """The covariance of the estimates of the watched pairs."""


class EvenSurrogate:
    """A Gaussian process on the even part, with fitted hyper-parameters and a widened posterior.

    Parameters
    ----------
    rng
        Draws the complement pairs that the hyper-parameters are fitted to, where there are many.
    rank_by
        The order in which pairs of players are ranked.
    noise
        Whether values vary from call to call, so that the residual of a complement pair is noise.
    max_pairs
        The largest number of complement pairs the process is conditioned on; further ones correct its estimate.

    Examples
    --------
    >>> from topshap.core.coalitions import from_ids
    >>> x = 2.0 * from_ids(np.arange(15, 7, -1), 4) - 1.0
    >>> surrogate = EvenSurrogate(np.random.default_rng(0))
    >>> surrogate.learn(x, g=x @ [3.0, 1.0, 2.0, 0.0], e=x[:, 0] * x[:, 1], iterations=5)
    >>> abs(surrogate.interactions().estimates.round(6))
    array([4., 0., 0., 0., 0., 0.])
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        rank_by: RankBy = "magnitude",
        noise: bool = False,
        max_pairs: int = MAX_PAIRS,
    ) -> None:
        self._rng, self._rank_by, self._noise, self._max_pairs = rng, rank_by, noise, max_pairs
        self._joint: Values | None = None
        self._own: Values | None = None
        self._curvature, self._own_curvature = Curvature(), Curvature()
        self._odd: OddKernel
        self._g: Values
        self.scale = 1.0
        """The standard deviation of e; the posterior is that of (e - mean) / scale."""
        self._mean = 0.0
        self._further: tuple[Matrix, Values]
        self.posterior: EvenPosterior

    def learn(self, x: Matrix, g: Values, e: Values, *, iterations: int = 25) -> None:
        """Fit the hyper-parameters from their present values, and condition the process on the complement pairs.

        Parameters
        ----------
        x
            Complement pairs as signs, the first that of the grand coalition; in random order if there are more than
            `max_pairs`.
        g, e
            Their odd and even parts.
        iterations
            The largest number of iterations of the fit.
        """
        learned, unit = slice(self._max_pairs), float(np.sqrt(np.mean(g**2))) or 1.0
        data = observe(x[learned], g[learned] / unit, self._scaled(e[learned]))
        rows = self._fitted_rows(*data.x.shape)
        kernel, self._joint = fit(
            data, rows, own=True, iterations=iterations, start=self._joint, curvature=self._curvature
        )
        self._odd, self._g = kernel, g
        self.adapt(x, e, relevances(self._joint, data.main_effects), rows, iterations=iterations)

    def adapt(self, x: Matrix, e: Values, relevance: Values, rows: Players | None = None, *, iterations: int) -> None:
        """Fit the hyper-parameters of the even part only, given relevances, and condition the process; see `learn`."""
        self._further = x[self._max_pairs :], e[self._max_pairs :]
        x, e = x[: self._max_pairs], e[: self._max_pairs]
        rows = self._fitted_rows(*x.shape) if rows is None else rows
        scaled = self._scaled(e)
        kernel, self._own = fit_even(
            x, scaled, relevance, rows, iterations=iterations, start=self._own, curvature=self._own_curvature
        )
        self.posterior = EvenPosterior(kernel, x, scaled, rank_by=self._rank_by, noise=self._noise)

    def emphasise_strong_pairs(self) -> None:
        """Give the pairs of players that interact most variances of their own, in games with many players."""
        m, n = self.posterior.x.shape
        if n > SPARSE_ABOVE and m > n:
            self.posterior = with_strong_pairs(self.posterior)

    def condition(self, x: Matrix, g: Values, e: Values) -> None:
        """Condition the process on complement pairs with the present hyper-parameters, the grand coalition's first.

        The unit is that of the last fit, and e is centred by its value in the grand coalition, which is always known:
        neither depends on which complement pairs were drawn.
        """
        self._g, self._mean, learned = g, float(e[0]), slice(self._max_pairs)
        self._further = x[self._max_pairs :], e[self._max_pairs :]
        scaled = (e[learned] - self._mean) / self.scale
        kernel = self.posterior.kernel
        self.posterior = EvenPosterior(kernel, x[learned], scaled, rank_by=self._rank_by, noise=self._noise)

    def _scaled(self, e: Values) -> Values:
        """Centre and scale the even part."""
        self.scale, self._mean = float(e.std()) or 1.0, float(e.mean())
        return (e - self._mean) / self.scale

    def _fitted_rows(self, m: int, n: int) -> Players:
        """Return the complement pairs that hyper-parameters are fitted to, the grand coalition's first."""
        count = int(np.clip(FITTED_PER_PLAYER * n, *FITTED_TO))
        if m <= count:
            return np.arange(m)
        return np.concatenate([[0], 1 + self._rng.permutation(m - 1)[: count - 1]])

    def shapley_values(self) -> Values:
        """Return the Shapley values of the players, by the process on the odd part that was fitted as well."""
        x, g = self.posterior.x, self._g[: len(self.posterior.x)]
        unit = float(np.sqrt(np.mean(g**2))) or 1.0
        values = unit * OddPosterior(self._odd, x, g / unit, noise=self._noise).shapley_values
        return values if self._noise else values + (2.0 * g[0] - values.sum()) / len(values)

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of e on the scale of the game."""
        return self._mean + self.scale * self.posterior.predict(x)

    def interactions(self) -> Interactions:
        """Return the posterior mean and spread of the interactions on the scale of the game.

        The spread is widened by the mean square of the standardised leave-one-out residuals, if that is above 1, and by
        1 + 2 n / m for the hyper-parameters, which were fitted to the same complement pairs. Rare jumps and a perfect
        fit add to it.
        """
        posterior = self.posterior
        m, n = posterior.x.shape
        _, residuals, deviations = posterior.left_out
        misfit = float(np.mean((residuals / deviations) ** 2)) if m > 1 else 1.0
        spread = Spread(posterior.variances, posterior.covariance).times(max(1.0, misfit) * (1.0 + 2.0 * n / m))
        unseen = None if self._noise else self._spread_of_jumps()
        spread = spread if unseen is None else spread.plus(unseen)
        return self._corrected(self.scale * posterior.interactions, spread.times(self.scale**2))

    @property
    def rare_contributions(self) -> bool:
        """Whether contributions may be rare and large, so that intervals may be too narrow."""
        posterior = self.posterior
        m, n = posterior.x.shape
        if self._noise or m >= 2.0 ** (n - 1):
            return False
        jumps = spread_of_jumps(posterior.x, posterior.left_out, posterior.pairs, posterior.watched)
        covariance = np.zeros((1, 1)) if jumps is None else jumps.covariance
        return may_be_missed(posterior.left_out.residuals, covariance, posterior.interactions)

    def _spread_of_jumps(self) -> Spread | None:
        """Return the spread that outliers suggest, or that a perfect fit may hide."""
        posterior = self.posterior
        if is_perfect(posterior.left_out.residuals):
            return self._spread_of_one_jump()
        return spread_of_jumps(posterior.x, posterior.left_out, posterior.pairs, posterior.watched)

    def _spread_of_one_jump(self) -> Spread:
        """Return the spread that a perfect fit may hide: one more complement pair in m + 1 with a jump.

        A perfect fit is not certainty. The jump is as large as the largest interaction, and may be in any complement
        pair that was not observed.
        """
        posterior = self.posterior
        x, pairs, watched = posterior.x, posterior.pairs, posterior.watched
        m, n = x.shape
        ones = np.ones(n + 1)
        every = Spread(
            np.full(len(pairs.i), residual_prior_by_overlap(ones)[2]), residual_prior(ones, pairs.chosen(watched))
        )
        unseen = every.plus(sum_of_squares(x, np.full(m, -1.0), pairs, watched))
        return unseen.times(float(np.max(posterior.interactions**2, initial=0.0)) / (4.0 * (m + 1)))

    def _corrected(self, estimates: Values, spread: Spread) -> Interactions:
        """Add the interactions of the residuals of the complement pairs beyond `max_pairs`.

        Their share in the estimate is that with the smallest variance: it grows with their number, and the estimate is
        exact once all complement pairs are known.
        """
        (x, e), posterior = self._further, self.posterior
        if len(x) > 0:
            shares = shares_of_others(x, posterior.x)
            residuals = e - self.predict(x)
            correction, own = total_interactions(x, residuals, shares, posterior.pairs, posterior.watched)
            model, sampling = float(spread.variances.mean()), float(own.variances.mean())
            share = model / max(model + sampling, 1e-300)
            estimates = estimates + share * correction
            spread = spread.times((1.0 - share) ** 2).plus(own.times(share**2))
        std_errors = np.sqrt(np.maximum(spread.variances, 0.0))
        return Interactions(estimates, std_errors, posterior.watched, spread.covariance)
