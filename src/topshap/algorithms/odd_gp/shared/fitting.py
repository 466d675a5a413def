"""The fit of hyper-parameters that all outputs share.

The kernel depends on the coalitions only, so R outputs with the odd parts G (m x R) can share it. Their mean negative
log likelihood needs G only through its second moment S = G G' / R:

    mean over outputs of -log p(g) = (tr(K^-1 S) + log det K) / 2 + constant,

and its cost does not depend on R. Outputs are similar to each other, so R of them are not worth R independent ones: the
mean is multiplied by the participation ratio tr(S)^2 / tr(S^2), the number of independent outputs with the same spread
of the spectrum of S. With one output, this is the fit of `topshap.algorithms.odd_gp.fitting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.fitting import (
    BASE,
    EVEN_RESIDUAL,
    EVEN_SMOOTH,
    HEREDITY,
    LINEAR,
    MAX_RELEVANCE,
    OWN,
    RESIDUAL,
    SLOPE,
    SMOOTH,
    TOLERANCE,
    Observations,
    constant_variance,
    priors,
    relevances,
)
from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.minimise import Curvature, minimise
from topshap.algorithms.odd_gp.odd_kernel import OddKernel, extremeness

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

MAX_WEIGHT = 50.0
"""The largest number of independent outputs that the likelihood counts.

On tables of 100 to 200 rows the participation ratio is 2 to 10; weights of 1 and 50 changed errors by at most 12%.
"""
_RELATIVE_ZERO = 1e-13
"""Directions of the second moment below this share of its trace are rounding errors."""


def observe_outputs(x: Matrix, odd: Matrix, even: Matrix | None) -> Observations:
    """Fit a linear game to every output by ridge regression, and pool what the fits say over the outputs.

    Parameters
    ----------
    x
        The pairs as signs.
    odd, even
        The scaled odd and even parts of all outputs, of shape (m, R); `even` is None where it is not used.
    """
    m, n = x.shape
    normal = x.T @ x
    normal[np.diag_indices(n)] += (1e-3 if m >= 2 * n else 1e-2) * m
    effects = linalg.solve(normal, x.T @ odd, assume_a="pos")
    residual_variance = max(float(np.mean(np.var(odd - x @ effects, axis=0))) * m / max(m - n, m / 4), 1e-7)
    size = np.sqrt(np.mean(effects**2, axis=1))
    strength = np.log(size + 0.1 * size.mean() + 1e-9)
    return Observations(
        x=x,
        g=odd,
        e=None if even is None else even - even.mean(axis=0),
        residual_variance=residual_variance,
        main_effects=strength - strength.mean(),
    )


def second_moment_root(observed: Matrix) -> Matrix:
    """Return F with F F' = G G' / R, with as few columns as G has directions.

    Examples
    --------
    >>> root = second_moment_root(np.array([[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]))
    >>> root.shape, (root @ root.T).round(6).tolist()
    ((2, 1), [[2.5, 2.5], [2.5, 2.5]])
    """
    m, outputs = observed.shape
    if outputs == 1:
        return observed
    if outputs <= m // 4:
        return observed / np.sqrt(outputs)
    values, vectors = linalg.eigh(observed @ observed.T / outputs, check_finite=False)
    kept = values > _RELATIVE_ZERO * max(float(values.sum()), 1e-300)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def independent_outputs(root: Matrix) -> float:
    """Return how many independent outputs the second moment F F' is worth: its participation ratio, within limits.

    Examples
    --------
    >>> float(independent_outputs(np.eye(3))), float(independent_outputs(np.ones((3, 5))))
    (3.0, 1.0)
    """
    gram = root.T @ root
    square = float(np.vdot(gram, gram))
    return float(np.clip(np.trace(gram) ** 2 / square, 1.0, MAX_WEIGHT)) if square > 0.0 else 1.0


class SharedObjective:
    """The negative log posterior of shared parameters given some of the observations, with its gradient.

    Parameters
    ----------
    data
        The observations.
    rows
        The pairs that the parameters are fitted to.
    own
        Whether every player has its own relevance.
    weight
        The number of independent outputs; None for the participation ratio of the odd part.
    """

    def __init__(self, data: Observations, rows: Players, *, own: bool, weight: float | None = None) -> None:
        self.prior_mean, self.prior_deviation, self.bounds = priors(data, own=own)
        self._main_effects = data.main_effects
        self._x = data.x[rows]
        self._extremeness = extremeness(self._x)
        self._products = self._x @ self._x.T
        self._constant = constant_variance(data)
        root = second_moment_root(data.g[rows])
        self._weight = independent_outputs(root) if weight is None else weight
        self._parts: list[tuple[Matrix, int, int, int]] = [(root, 1, SMOOTH, RESIDUAL)]
        if data.e is not None:
            self._parts.append((second_moment_root(data.e[rows]), -1, EVEN_SMOOTH, EVEN_RESIDUAL))

    def __call__(self, parameters: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        value, gradient = self.misfit(parameters)
        z = (parameters - self.prior_mean) / self.prior_deviation
        return float(value + z @ z / 2.0), gradient + z / self.prior_deviation

    def misfit(self, parameters: Values) -> tuple[float, Values]:
        """Return the negative log likelihood and its gradient."""
        x, gradient = self._x, np.zeros_like(parameters)
        a = relevances(parameters, self._main_effects)
        total = a.sum()
        exponent = (x * a) @ x.T
        grow, shrink = np.exp(exponent - total), np.exp(-exponent - total)
        sinh, cosh = grow - shrink, grow + shrink  # times 2 exp(-total), which avoids overflow
        end = np.exp(-2.0 * total)
        noise = np.exp(parameters[SLOPE] * self._extremeness)
        value, by_relevance = 0.0, np.zeros(len(a))
        linear = np.exp(parameters[LINEAR])
        for root, sign, scale_at, residual_at in self._parts:
            # sinh(u) / sinh(total) for the odd part, cosh(u) / cosh(total) for the even one; `other` is the derivative.
            kernel, other = (sinh, cosh) if sign > 0 else (cosh, sinh)
            norm, other_norm = 1.0 - sign * end, 1.0 + sign * end
            scale, residual = np.exp(parameters[scale_at]), np.exp(parameters[residual_at]) * noise
            covariance = (scale / norm) * kernel + (linear * self._products if sign > 0 else self._constant)
            covariance[np.diag_indices(len(x))] += residual
            likelihood, slope = _mean_gaussian(covariance, root)
            if slope is None:
                return 1e10, np.zeros_like(parameters)
            value += self._weight * likelihood
            slope *= self._weight
            with_kernel, on_diagonal = np.vdot(slope, kernel), np.diag(slope) * residual
            if sign > 0:
                gradient[LINEAR] += linear * np.vdot(slope, self._products)
            gradient[scale_at] += scale / norm * with_kernel
            gradient[residual_at] += on_diagonal.sum()
            gradient[SLOPE] += on_diagonal @ self._extremeness
            moments = np.einsum("mi,mi->i", x, (slope * other) @ x)
            by_relevance += scale * (moments / norm - with_kernel * other_norm / norm**2)
        by_relevance *= a * (a < MAX_RELEVANCE)
        gradient[BASE] += by_relevance.sum()
        gradient[HEREDITY] += by_relevance @ self._main_effects
        if len(parameters) > OWN:
            gradient[OWN:] += by_relevance
        return value, gradient


def fit_outputs(
    data: Observations,
    rows: Players,
    *,
    own: bool,
    iterations: int,
    start: Values | None = None,
    curvature: Curvature | None = None,
    weight: float | None = None,
) -> tuple[OddKernel, Values]:
    """Return the kernel with the most probable parameters, and the parameters, which later fits may start from.

    Later fits that start from the same parameters also save iterations if they get the same `curvature`.
    """
    objective = SharedObjective(data, rows, own=own, weight=weight)
    low, high = np.array(objective.bounds).T
    parameters = np.clip(objective.prior_mean if start is None else start, low, high)
    if iterations > 0:
        curvature = Curvature() if curvature is None else curvature
        inverse_hessian = curvature.at_start(objective.prior_deviation, len(rows))
        parameters, curvature.inverse_hessian = minimise(
            objective, parameters, low, high, inverse_hessian, iterations=iterations, tolerance=TOLERANCE
        )
        curvature.n_pairs = len(rows)
    return kernel_with(data, parameters), parameters


def kernel_with(data: Observations, parameters: Values) -> OddKernel:
    """Return the kernel of the odd part with these parameters."""
    return OddKernel(
        relevance=relevances(parameters, data.main_effects),
        smooth=float(np.exp(parameters[SMOOTH])),
        linear=float(np.exp(parameters[LINEAR])),
        residual_level=float(np.exp(parameters[RESIDUAL])),
        residual_slope=float(parameters[SLOPE]),
    )


def _mean_gaussian(covariance: Matrix, root: Matrix) -> tuple[float, Matrix | None]:
    """Return the mean negative log density over outputs with the second moment F F', and its derivative.

    The derivative is that by the covariance, None if the covariance is not positive definite.
    """
    factor, failed = linalg.lapack.dpotrf(covariance, lower=1, clean=1)
    if failed:
        return np.inf, None
    solved, _ = linalg.lapack.dpotrs(factor, root, lower=1)
    slope = inverse_of(factor)
    slope -= solved @ solved.T
    slope /= 2.0
    return float(np.vdot(root, solved)) / 2.0 + np.log(np.diag(factor)).sum(), slope
