"""The posterior of the odd part of a game and of its Shapley values, given observed complement pairs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.gp import BLOCK, FunctionalGP
from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.rare_jumps import jump_covariance

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


PERFECT_FIT = 1e-10
"""A fit is perfect if all squared residuals are below this multiple of the mean square of g; that is not certainty."""
MAX_LEFT_OUT = 512
"""The largest number of pairs that leave-one-out residuals are computed of, which bounds time."""


class LeaveOneOut(NamedTuple):
    """Leave-one-out residuals of some pairs, on the scale on which g has a mean square of 1."""

    rows: Players
    residuals: Values
    deviations: Values
    """The standard deviations of the residuals under the model."""


class OddPosterior(FunctionalGP[OddKernel]):
    """A Gaussian process on g(x) = (v(x) - v(-x)) / 2, conditioned on observed pairs.

    With K the covariance of the observations and A = Cov(phi, observations), the Shapley values have the posterior mean
    A K^-1 g and covariance prior - A K^-1 A'. The residual of the smooth part in an observed pair is part of the game
    and enters with its exact Shapley weight, so the values add up to v(N) - v(empty) and are exact once all pairs are
    observed.

    Parameters
    ----------
    kernel
        The prior covariance.
    x
        The observed pairs as signs, one row per pair.
    g
        Their odd parts.
    noise
        Whether the residual is noise of the value function and not part of the game.
    left_out
        The largest number of pairs that leave-one-out residuals are computed of.
    """

    def __init__(
        self, kernel: OddKernel, x: Matrix, g: Values, *, noise: bool = False, left_out: int = MAX_LEFT_OUT
    ) -> None:
        super().__init__(kernel, x, g)
        self._noise, self._left_out = noise, left_out

    @property
    def g(self) -> Values:
        """The odd parts of the observed pairs."""
        return self.observed

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of g."""
        parts = np.array_split(x, len(x) // BLOCK + 1)  # bounds memory
        return np.concatenate([self.kernel.predict(part, self.x, self.weights) for part in parts])

    @cached_property
    def left_out(self) -> LeaveOneOut:
        """The leave-one-out residuals of all pairs but the grand coalition's, or of the last ones of many."""
        m = len(self.x)
        rows = np.arange(max(1, m - self._left_out), m)
        return LeaveOneOut(rows, *self.leave_one_out(rows))

    @cached_property
    def jump_covariance(self) -> Matrix:
        """The covariance of the Shapley values due to jumps in unobserved pairs."""
        return jump_covariance(self.x, self.left_out.rows, self.left_out.residuals)

    def functional_of(self, x: Matrix) -> Matrix:
        """Return the prior Cov(g(x), phi) of any pairs."""
        return self.kernel.functional(x, residual=not self._noise)

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
    """Return whether residuals are a perfect fit, on the scale on which g has a mean square of 1."""
    return bool(np.max(residuals**2, initial=0.0) <= PERFECT_FIT)
