"""Combine unbiased estimates of the players' values with side information, by empirical Bayes.

In units of the standard error, and less their mean, the estimates y are modelled as

    y = slope * prior + process(features) + own + noise,    noise ~ N(0, 1), own ~ N(0, t),

with a Gaussian process of variance u per player. The prior, the process and a constant are orthogonal to each other, so
that everything is diagonal in the basis of the process. The slope is at least 0, with a flat prior. The variances t and
u are averaged over a grid with the evidence as weights, and the length scale of the process is the one with the highest
evidence. With more coalitions the noise falls, and the result tends to the unbiased estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.algorithms.player_gp.landmarks import Basis
    from topshap.core.typing import Matrix, Values

SMALLEST_VARIANCE, VARIANCES = 0.01, 16
"""The smallest variance above 0 on the grid, in units of the noise, and their number."""


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
    n, known = len(y), 1
    slope = 0.0
    if direction is not None:
        slope = float(direction @ y)
        y, known = y - slope * direction, 2
    choices: Sequence[Basis | None] = bases or [None]
    grids = [_grid(y, basis, n - known) for basis in choices]
    best = max(grids, key=lambda grid: grid.evidence)
    mean, variance = best.posterior()
    if direction is not None:
        deviation = float(np.sqrt(1.0 + best.own_variance))
        slope, spread = _positive(slope, deviation)
        mean, variance = mean + slope * direction, variance + spread**2 * direction**2
    return Posterior(mean, np.sqrt(variance))


class _Grid(NamedTuple):
    """The posterior of a process and of own parts, averaged over a grid of their variances."""

    evidence: float
    own_variance: float
    """The mean variance of the own parts."""
    basis: Basis | None
    coordinates: Values
    """The coordinates of the estimates in the basis."""
    rest: Values
    """The estimates without their part in the basis."""
    in_basis: tuple[Values, Values]
    """The mean factor of each coordinate, and the variance of the factor."""
    outside: tuple[float, float]
    """The same outside the basis."""

    def posterior(self) -> tuple[Values, Values]:
        """Return the mean and the variance of every player's value.

        With a noise of variance 1, a part with the shrinkage factor f has the posterior variance f.
        """
        outside, outside_spread = self.outside
        mean = outside * self.rest
        variance = outside_spread * self.rest**2
        if self.basis is None:
            return mean, variance + outside
        factors, spreads = self.in_basis
        squares = self.basis.directions**2
        mean += self.basis.directions @ (factors * self.coordinates)
        variance += outside * np.maximum(1.0 - squares.sum(axis=1), 0.0)
        variance += squares @ (factors + spreads * self.coordinates**2)
        return mean, variance


def _grid(y: Values, basis: Basis | None, dimensions: int) -> _Grid:
    """Average over the variances of the process and of the own parts; y has this many dimensions."""
    highest = max(1.0, 2.0 * float(y @ y) / max(dimensions, 1))
    levels = np.concatenate([[0.0], np.geomspace(SMALLEST_VARIANCE, highest, VARIANCES)])
    coordinates, rest, variances = np.empty(0), y, np.empty(0)
    if basis is not None:
        coordinates, variances = basis.directions.T @ y, basis.variances
        rest = y - basis.directions @ coordinates
    process, own = (grid.ravel() for grid in np.meshgrid(levels if basis is not None else levels[:1], levels))
    outside = max(dimensions - len(coordinates), 0)
    signal = own[:, None] + process[:, None] * variances
    evidence = -0.5 * (
        np.sum(coordinates**2 / (1.0 + signal) + np.log1p(signal), axis=1)
        + rest @ rest / (1.0 + own)
        + outside * np.log1p(own)
    )
    weights = np.exp(evidence - logsumexp(evidence))
    factors, of_rest = signal / (1.0 + signal), own / (1.0 + own)
    return _Grid(
        evidence=float(logsumexp(evidence) - np.log(len(evidence))),
        own_variance=float(weights @ own),
        basis=basis,
        coordinates=coordinates,
        rest=rest,
        in_basis=_moments(weights, factors),
        outside=tuple(float(each[0]) for each in _moments(weights, of_rest[:, None])),  # type: ignore[arg-type]
    )


def _moments(weights: Values, factors: Matrix) -> tuple[Values, Values]:
    """Return the mean and the variance of each column."""
    mean = weights @ factors
    return mean, np.maximum(weights @ factors**2 - mean**2, 0.0)


def _positive(mean: float, deviation: float) -> tuple[float, float]:
    """Return the mean and the standard deviation of a normal distribution that is cut off below 0.

    Examples
    --------
    >>> _positive(0.0, 1.0)
    (0.79..., 0.60...)
    """
    z = mean / deviation
    hazard = float(np.exp(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(z)))
    return mean + deviation * hazard, deviation * float(np.sqrt(max(1.0 - z * hazard - hazard**2, 0.0)))
