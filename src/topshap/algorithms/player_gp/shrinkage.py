"""Combine unbiased estimates of the players' values with side information, by empirical Bayes.

In units of the standard error, and less their mean, the estimates y are modelled as

    y = slope * prior + process(features) + own + noise,    noise ~ N(0, 1),

where the values, all but the noise, have the variance T per player. The prior, the process and the own parts have
shares of T: the slope is half-normal (at least 0), the process is Gaussian, and own parts are normal and independent.
The prior, the process and a constant are orthogonal to each other, so that everything is diagonal in the basis of the
process. T, the odds of the shares and the length scale of the process are averaged with the evidence as weights.

Because the parts share T, estimates that are mostly noise leave the prior as it is: the slope is of the order of
sqrt(n T) while the other parts are of the order of T times the noise, so the prior prevails as T falls. With more
coalitions the noise falls, and the result tends to the unbiased estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp

from topshap.algorithms.player_gp.landmarks import Basis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.core.typing import Matrix, Values

ODDS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0)
"""The share of T of the prior, and of the process, over that of the own parts. All are equally likely."""
LOWEST, LEVELS = 0.1, 16
"""The smallest norm squared of the values, n T, in units of the noise, and the number of levels of T above it."""


class Posterior(NamedTuple):
    """The mean and the standard deviation of every player's value."""

    mean: Values
    deviation: Values


def combine(y: Values, direction: Values | None, bases: Sequence[Basis]) -> Posterior:
    """Return the posterior of values with the mean 0, given estimates with noise of variance 1.

    Parameters
    ----------
    y
        The estimates; their mean is 0.
    direction
        The prior, less its mean and with a norm of 1; None without a prior.
    bases
        The bases of the process to choose from, empty without features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(scale=0.5, size=1000)
    >>> noisy = truth + rng.normal(size=1000)
    >>> posterior = combine(noisy - noisy.mean(), None, [])
    >>> bool(np.mean((posterior.mean - truth) ** 2) < 0.3 * np.mean((noisy - truth) ** 2))
    True
    """
    n, grid = len(y), _grid(y, prior=direction is not None, process=len(bases) > 0)
    none = Basis(np.empty((n, 0)), np.empty(0))
    along, fixed = None, np.zeros((n, 0))
    if direction is not None:
        along, fixed = _along_prior(float(direction @ y), grid), direction[:, None]
    rest = y - fixed @ (fixed.T @ y)
    fits = [_fit(rest, basis, grid, n - 1 - fixed.shape[1]) for basis in bases or [none]]
    evidence = np.array([fit.evidence for fit in fits]) + (0.0 if along is None else along.evidence)
    weights = np.exp(evidence - logsumexp(evidence))
    mean, square = np.zeros(n), np.zeros(n)
    for fit, weight in zip(fits, weights, strict=True):
        share = weight.sum()
        if share == 0.0:
            continue
        each, variance = fit.posterior(weight / share, grid)
        if direction is not None and along is not None:
            centre, spread = _mixture(weight / share, along.mean, along.variance)
            each, variance = each + centre * direction, variance + spread * direction**2
        mean, square = mean + share * each, square + share * (variance + each**2)
    return Posterior(mean, np.sqrt(np.maximum(square - mean**2, 0.0)))


class _Grid(NamedTuple):
    """Variances per player of the parts, in units of the noise: one entry per point of the grid."""

    own: Values
    process: Values
    prior: Values
    """The variance of the slope; the prior has a norm of 1."""


def _grid(y: Values, *, prior: bool, process: bool) -> _Grid:
    n = len(y)
    highest = max(1.0, 2.0 * float(y @ y) / n)
    levels = np.geomspace(LOWEST / n, highest, LEVELS)
    odds = np.meshgrid(levels, ODDS if prior else (0.0,), ODDS if process else (0.0,))
    total, of_prior, of_process = (each.ravel() for each in odds)
    own = total / (1.0 + of_prior + of_process)
    return _Grid(own, of_process * own, n * of_prior * own)


class _AlongPrior(NamedTuple):
    """The value along the prior at every point of the grid: the slope, and the own part in its direction."""

    evidence: Values
    mean: Values
    variance: Values


def _along_prior(y: float, grid: _Grid) -> _AlongPrior:
    """Return the posterior of slope + own, given y = slope + own + noise with a half-normal slope."""
    noise, total = 1.0 + grid.own, 1.0 + grid.own + grid.prior
    centre, deviation = grid.prior / total * y, np.sqrt(grid.prior * noise / total)
    slope, spread = _positive(centre, deviation)
    evidence = log_ndtr(centre / deviation) - 0.5 * (y**2 / total + np.log(total))
    factor = grid.own / noise
    return _AlongPrior(evidence, slope + factor * (y - slope), factor + (spread / noise) ** 2)


class _Fit(NamedTuple):
    """The parts of the estimates inside and outside the basis of a process."""

    evidence: Values
    """One entry per point of the grid."""
    basis: Basis
    coordinates: Values
    """The coordinates of the estimates in the basis."""
    rest: Values
    """The estimates without their part in the basis."""

    def posterior(self, weights: Values, grid: _Grid) -> tuple[Values, Values]:
        """Return the mean and the variance of every player's value.

        With a noise of variance 1, a part with the shrinkage factor f has the posterior variance f.
        """
        outside, spread = _factors(weights, grid.own[:, None])
        squares = self.basis.directions**2
        mean = outside * self.rest
        variance = spread * self.rest**2 + outside * np.maximum(1.0 - squares.sum(axis=1), 0.0)
        factors, spreads = _factors(weights, _signal(self.basis, grid))
        mean += self.basis.directions @ (factors * self.coordinates)
        variance += squares @ (factors + spreads * self.coordinates**2)
        return mean, variance


def _fit(y: Values, basis: Basis, grid: _Grid, dimensions: int) -> _Fit:
    """Return the evidence of the grid; y has this many dimensions."""
    coordinates = basis.directions.T @ y
    rest, signal = y - basis.directions @ coordinates, _signal(basis, grid)
    outside = max(dimensions - len(coordinates), 0)
    evidence = -0.5 * (
        np.sum(coordinates**2 / (1.0 + signal) + np.log1p(signal), axis=1)
        + rest @ rest / (1.0 + grid.own)
        + outside * np.log1p(grid.own)
    )
    return _Fit(evidence, basis, coordinates, rest)


def _signal(basis: Basis, grid: _Grid) -> Matrix:
    """Return the variance of each coordinate in the basis, without noise, at every point of the grid."""
    signal: Matrix = grid.own[:, None] + grid.process[:, None] * basis.variances
    return signal


def _factors(weights: Values, signal: Matrix) -> tuple[Values, Values]:
    """Return the mean shrinkage factor of each column, and its variance."""
    factors = signal / (1.0 + signal)
    mean = weights @ factors
    return mean, np.maximum(weights @ factors**2 - mean**2, 0.0)


def _mixture(weights: Values, means: Values, variances: Values) -> tuple[float, float]:
    """Return the mean and the variance of a mixture."""
    mean = weights @ means
    return float(mean), float(weights @ (variances + (means - mean) ** 2))


def _positive(mean: Values, deviation: Values) -> tuple[Values, Values]:
    """Return the mean and the standard deviation of normal distributions that are cut off below 0.

    Examples
    --------
    >>> _positive(np.zeros(1), np.ones(1))
    (array([0.79...]), array([0.60...]))
    """
    z = mean / deviation
    hazard = np.exp(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(z))
    return mean + deviation * hazard, deviation * np.sqrt(np.maximum(1.0 - z * hazard - hazard**2, 0.0))
