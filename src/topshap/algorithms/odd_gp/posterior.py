"""The posterior of the odd part of a game, and of its Shapley values, after observing complement pairs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.gp import AT_ONCE, Conditioned
from topshap.algorithms.odd_gp.odd_kernel import OddKernel

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


PERFECT_FIT = 1e-10
"""Residuals whose squares are all below this part of the mean square of g are a perfect fit, which is not certainty."""
LEFT_OUT = 512
"""At most as many pairs are left out, one at a time, to see how well the others predict them."""


class LeftOut(NamedTuple):
    """How far off pairs are, in units in which g has a mean square of 1, if each is predicted from all others."""

    rows: Players
    residuals: Values
    deviations: Values
    """How far off they are expected to be."""


class OddPosterior(Conditioned[OddKernel]):
    """A Gaussian process on g(x) = (v(x) - v(-x)) / 2, conditioned on observed pairs.

    With K the covariance of the observations and A = Cov(phi, observations), the Shapley values have the posterior mean
    A K^-1 g and covariance prior - A K^-1 A'. What the smooth part leaves over in an observed pair is real and counts
    with its exact Shapley weight, so the values add up to v(N) - v(empty) and become exact as the table fills.

    Parameters
    ----------
    kernel
        The prior covariance.
    x
        Observed pairs as signs, one of each two complements a row.
    g
        Their odd values.
    noise
        Leave the residual out of the game: it is noise of the value function.
    """

    def __init__(self, kernel: OddKernel, x: Matrix, g: Values, *, noise: bool = False) -> None:
        super().__init__(kernel, x, g)
        self._noise = noise

    @property
    def g(self) -> Values:
        """The odd values of the observed pairs."""
        return self.observed

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of g."""
        parts = np.array_split(x, len(x) // AT_ONCE + 1)  # so that memory stays bounded
        return np.concatenate([self.kernel.predict(part, self.x, self.weights) for part in parts])

    @cached_property
    def left_out(self) -> LeftOut:
        """What becomes of all pairs but that of the grand coalition, or of some of them if there are many."""
        m = len(self.x)
        rows = np.arange(1, m, max(1, -(-(m - 1) // LEFT_OUT)))
        return LeftOut(rows, *self.leave_one_out(rows))

    @cached_property
    def functional(self) -> Matrix:
        """Cov(observation, phi), one observation a row."""
        return self.functional_of(self.x)

    def functional_of(self, x: Matrix) -> Matrix:
        """Return Cov(g(x), phi) in the prior, for any pairs."""
        return self.kernel.functional(x, residual=not self._noise)

    @cached_property
    def solved_functional(self) -> Matrix:
        """K^-1 A', one observation a row."""
        return self.solve(self.functional)

    @cached_property
    def shapley_values(self) -> Values:
        """The posterior mean of the Shapley values."""
        return self.weights @ self.functional

    @cached_property
    def covariance(self) -> Matrix:
        """The posterior covariance of the Shapley values; singular, since they add up to a known number."""
        prior = self.kernel.prior_without_residual if self._noise else self.kernel.prior
        covariance = prior - self.functional.T @ self.solved_functional
        return (covariance + covariance.T) / 2.0


def is_perfect(residuals: Values) -> bool:
    """Return whether residuals, in units in which g has a mean square of 1, are a perfect fit."""
    return bool(np.max(residuals**2, initial=0.0) <= PERFECT_FIT)
