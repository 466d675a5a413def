"""The fit of the hyper-parameters of the even part, given relevances of the players.

The relevances come from the joint fit of the odd and the even part (`topshap.algorithms.odd_gp.fitting`), where the
larger odd part informs them most. Here they are adapted to the even part, which also gets a quadratic part and a slope
of its residual: log a_i = log(relevance_i) + common + own_i. The fit is maximum a posteriori.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.even.kernel import InteractionKernel, quadratic_products
from topshap.algorithms.odd_gp.fitting import MAX_RELEVANCE, TOLERANCE
from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.minimise import Curvature, minimise
from topshap.algorithms.odd_gp.odd_kernel import exponentials, extremeness

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

SMOOTH, QUADRATIC, RESIDUAL, SLOPE, COMMON, OWN = range(6)
"""The positions of the parameters in the vector; from OWN on, there is one number per player."""
CONSTANT = 10.0
"""The prior variance of the constant, relative to the variance of the even part."""
QUADRATIC_SHARE = 0.03
"""The prior median of the variance of the quadratic part, relative to that of the even part.

Flat but small, since small budgets have fewer complement pairs than there are pairs of players.
"""
DEVIATION_OF_COMMON, DEVIATION_OF_OWN = 0.3, 0.3
"""The prior deviations of the logarithm of a relevance from that of the joint fit: common to all players, and own."""


class EvenObjective:
    """The negative log posterior of the parameters, with its gradient.

    Parameters
    ----------
    x
        Complement pairs as signs.
    e
        Their even parts, centred and scaled to a variance of 1.
    relevance
        The relevances of the joint fit.
    """

    def __init__(self, x: Matrix, e: Values, relevance: Values) -> None:
        n = x.shape[1]
        self._x, self._e, self._relevance = x, e, relevance
        self._extremeness = extremeness(x)
        self._products = quadratic_products(x, x, 1.0)
        share = np.log(QUADRATIC_SHARE / max(1.0, n * (n - 1) / 2.0))
        wide = (np.log(1e-9), np.log(1e3))
        rows = [
            (0.0, 3.0, wide),
            (share, 2.0, (share - 20.0, share + 10.0)),
            (np.log(1.0 / 20.0), 1.0, wide),
            (0.0, 0.5, (-2.0, 2.0)),
            (0.0, DEVIATION_OF_COMMON, (-2.0, 2.0)),
            *[(0.0, DEVIATION_OF_OWN, (-2.0, 2.0))] * n,
        ]
        means, deviations, bounds = zip(*rows, strict=True)
        self.prior_mean, self.prior_deviation = np.array(means), np.array(deviations)
        self.low, self.high = np.array(bounds).T

    def kernel(self, parameters: Values) -> InteractionKernel:
        """Return the kernel with these parameters."""
        variances = np.exp(parameters[:SLOPE])
        return InteractionKernel(
            relevance=np.minimum(self._relevance * np.exp(parameters[COMMON] + parameters[OWN:]), MAX_RELEVANCE),
            smooth=float(variances[SMOOTH]),
            quadratic=float(variances[QUADRATIC]),
            constant=CONSTANT,
            residual_level=float(variances[RESIDUAL]),
            residual_slope=float(parameters[SLOPE]),
        )

    def __call__(self, parameters: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        kernel, x, e = self.kernel(parameters), self._x, self._e
        a, end = kernel.relevance, float(np.exp(-2.0 * kernel.relevance.sum()))
        rising, falling = exponentials(x, x, a)
        smooth = (kernel.smooth / (1.0 + end)) * (rising + falling)  # smooth cosh(u) / cosh(total)
        by_exponent = (kernel.smooth / (1.0 + end)) * (rising - falling)  # its derivative by u
        quadratic, residual = kernel.quadratic * self._products, kernel.residual(x)
        covariance = smooth + quadratic + kernel.constant
        covariance[np.diag_indices(len(x))] += residual
        factor, failed = linalg.lapack.dpotrf(covariance, lower=1, clean=1, overwrite_a=1)
        if failed:
            return 1e10, np.zeros_like(parameters)
        solved, _ = linalg.lapack.dpotrs(factor, e, lower=1)
        slope = (inverse_of(factor) - np.outer(solved, solved)) / 2.0  # the derivative by the covariance
        on_diagonal, by_smooth = np.diag(slope) * residual, float(np.vdot(slope, smooth))
        moments = np.einsum("mi,mi->i", x, (slope * by_exponent) @ x)
        by_relevance = (moments - by_smooth * (1.0 - end) / (1.0 + end)) * a * (a < MAX_RELEVANCE)
        gradient = np.concatenate(
            [
                [by_smooth, np.vdot(slope, quadratic), on_diagonal.sum(), on_diagonal @ self._extremeness],
                [by_relevance.sum()],
                by_relevance,
            ]
        )
        z = (parameters - self.prior_mean) / self.prior_deviation
        value = e @ solved / 2.0 + np.log(np.diag(factor)).sum() + z @ z / 2.0
        return float(value), gradient + z / self.prior_deviation


def fit_even(
    x: Matrix,
    e: Values,
    relevance: Values,
    rows: Players,
    *,
    iterations: int,
    start: Values | None = None,
    curvature: Curvature | None = None,
) -> tuple[InteractionKernel, Values]:
    """Return the kernel with the most probable parameters, and the parameters, which later fits may start from.

    Parameters
    ----------
    x, e, relevance
        See `EvenObjective`.
    rows
        The complement pairs to fit to.
    iterations
        The largest number of iterations.
    start, curvature
        The parameters to start from, and the curvature of an earlier fit, which is continued.
    """
    objective = EvenObjective(x[rows], e[rows], relevance)
    curvature = curvature or Curvature()
    parameters = np.clip(objective.prior_mean if start is None else start, objective.low, objective.high)
    if iterations > 0:
        inverse_hessian = curvature.at_start(objective.prior_deviation, len(rows))
        parameters, curvature.inverse_hessian = minimise(
            objective,
            parameters,
            objective.low,
            objective.high,
            inverse_hessian,
            iterations=iterations,
            tolerance=TOLERANCE,
        )
        curvature.n_pairs = len(rows)
    return objective.kernel(parameters), parameters
