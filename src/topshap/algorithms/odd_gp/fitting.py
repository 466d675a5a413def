"""The fit of the hyper-parameters to observed pairs: maximum a posteriori.

The relevances follow heredity, players with strong main effects interact more:

    log a_i = base + heredity * h_i + own_i,   h_i the centred log main effect of a ridge regression.

The likelihood is that of the odd part, whose kernel is a sinh, and of the even part, whose kernel is a cosh with the
same relevances but its own scale and residual. Values are scaled so that g has a mean square of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from topshap.algorithms.odd_gp.even_kernel import EvenKernel
from topshap.algorithms.odd_gp.minimise import minimise
from topshap.algorithms.odd_gp.odd_kernel import SAFE_EXPONENT, OddKernel, extremeness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.algorithms.odd_gp.minimise import Curvature
    from topshap.core.typing import Matrix, Values

MAX_RELEVANCE = 3.0
"""The largest relevance: tanh(3) is above 0.995, so larger ones hardly change the kernel."""
BASE, LINEAR, SMOOTH, RESIDUAL, EVEN_SMOOTH, EVEN_RESIDUAL, HEREDITY, SLOPE, OWN = range(9)
"""The positions of the parameters in the vector; from OWN on, there is one number per player."""
TOLERANCE = 0.1
"""A fit by BFGS ends when an iteration gains less than this in log posterior: far less than the pairs tell."""
SHARED_TOLERANCE = 0.3
"""The same for fits to several outputs. For one output it would save time as well, but errors are a little larger on
the tuning games."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Complement pairs, scaled so that g has a mean square of 1, and a linear fit to them."""

    x: Matrix
    g: Values
    e: Values | None
    """The even part, centred; None where it is not used."""
    residual_variance: float
    """The residual variance of the linear fit to g."""
    main_effects: Values
    """h: the centred logarithm of the main effects."""

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self.x.shape[1]


def observe(x: Matrix, g: Values, e: Values | None) -> Observations:
    """Fit a linear game by ridge regression to scaled observations."""
    m, n = x.shape
    plenty = m >= 2 * n
    normal = x.T @ x
    normal[np.diag_indices(n)] += (1e-3 if plenty else 1e-2) * m
    _, effects, _ = linalg.lapack.dposv(normal, x.T @ g)
    residual_variance = max(float(np.var(g - x @ effects)) * m / max(m - n, m / 4), 1e-7)
    strength = np.log(np.abs(effects) + 0.1 * np.abs(effects).mean() + 1e-9)
    return Observations(
        x=x,
        g=g,
        e=None if e is None else e - e.mean(),
        residual_variance=residual_variance,
        main_effects=strength - strength.mean(),
    )


class Objective:
    """The negative log posterior of the parameters given some of the observations, with its gradient.

    All matrices are computed in the same memory in every call: fresh memory for matrices of 200 rows took a third of
    the time.

    Parameters
    ----------
    data
        The observations.
    rows
        The pairs that the parameters are fitted to.
    own
        Whether every player has its own relevance.
    roots, weight
        For several outputs, see `topshap.algorithms.odd_gp.shared.fitting`: the roots of the second moments of the odd
        and the even part over the outputs, and the number of independent outputs.
    """

    def __init__(
        self,
        data: Observations,
        rows: np.ndarray,
        *,
        own: bool,
        roots: Sequence[Matrix] | None = None,
        weight: float = 1.0,
    ) -> None:
        self.prior_mean, self.prior_deviation, self.bounds = priors(data, own=own)
        self._main_effects, self._weight = data.main_effects, weight
        self._x = data.x[rows]
        self._transposed = np.ascontiguousarray(self._x.T)
        self._extremeness = extremeness(self._x)
        self._products = self._x @ self._transposed
        self._constant = constant_variance(data)
        if roots is None:
            roots = [data.g[rows]] if data.e is None else [data.g[rows], data.e[rows]]
        signs = ((1, SMOOTH, RESIDUAL), (-1, EVEN_SMOOTH, EVEN_RESIDUAL))
        self._parts = [(root, *sign) for root, sign in zip(roots, signs, strict=False)]
        self._work = np.empty((5, len(rows), len(rows)))
        self._weighted = np.empty_like(self._x)

    def __call__(self, parameters: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        value, gradient = self.misfit(parameters)
        z = (parameters - self.prior_mean) / self.prior_deviation
        return float(value + z @ z / 2.0), gradient + z / self.prior_deviation

    def misfit(self, parameters: Values) -> tuple[float, Values]:
        """Return the negative log likelihood and its gradient."""
        gradient = np.zeros(len(parameters))
        a = relevances(parameters, self._main_effects)
        sinh, cosh, covariance, spare, by_exponent = self._work
        np.multiply(self._x, a, out=self._weighted)
        np.matmul(self._weighted, self._transposed, out=cosh)
        end = _sinh_and_cosh(cosh, sinh, spare, float(a.sum()))
        variances = np.exp(parameters[:SLOPE]).tolist()
        noise = np.exp(parameters[SLOPE] * self._extremeness)
        value, by_total = 0.0, 0.0
        by_exponent.fill(0.0)  # the derivative by sum_i a_i x_i y_i, its upper triangle
        for root, sign, scale_at, residual_at in self._parts:
            # sinh(u) / sinh(total) for the odd part, cosh(u) / cosh(total) for the even one; `other` is the derivative.
            kernel, other = (sinh, cosh) if sign > 0 else (cosh, sinh)
            scale, residual = variances[scale_at] / (1.0 - sign * end), variances[residual_at] * noise
            np.multiply(kernel, scale, out=covariance)
            covariance += np.multiply(self._products, variances[LINEAR], out=spare) if sign > 0 else self._constant
            likelihood, slope = gaussian(covariance, root, residual)
            if slope is None:
                return 1e10, np.zeros(len(parameters))
            value += self._weight * likelihood
            if self._weight != 1.0:
                slope *= self._weight
            diagonal = diagonal_of(slope)
            with_kernel = np.vdot(slope, kernel) - diagonal @ diagonal_of(kernel) / 2.0
            if sign > 0:
                with_products = np.vdot(slope, self._products) - diagonal.sum() * len(a) / 2.0
                gradient[LINEAR] = variances[LINEAR] * with_products
            gradient[scale_at] = scale * with_kernel
            on_diagonal = diagonal * residual / 2.0
            gradient[residual_at] = on_diagonal.sum()
            gradient[SLOPE] += on_diagonal @ self._extremeness
            by_total += scale * with_kernel * (1.0 + sign * end) / (1.0 - sign * end)
            slope *= other
            slope *= scale
            by_exponent += slope
        self._add_relevances(gradient, a, by_exponent, by_total)
        return value, gradient

    def _add_relevances(self, gradient: Values, a: Values, by_exponent: Matrix, by_total: float) -> None:
        """Add the derivatives by the parameters of the relevances to a gradient."""
        moments = np.einsum("im,im->i", self._transposed, self._transposed @ by_exponent)
        by_relevance = moments - diagonal_of(by_exponent).sum() / 2.0 - by_total
        by_relevance *= a * (a < MAX_RELEVANCE)
        gradient[BASE] = by_relevance.sum()
        gradient[HEREDITY] = by_relevance @ self._main_effects
        if len(gradient) > OWN:
            gradient[OWN:] = by_relevance


def _sinh_and_cosh(exponent: Matrix, sinh: Matrix, spare: Matrix, total: float) -> float:
    """Overwrite an exponent with its cosh and `sinh` with its sinh, both times 2 exp(-total), which avoids overflow.

    Return exp(-2 total).
    """
    end = float(np.exp(-2.0 * total))
    exponent -= total
    if 2.0 * total < SAFE_EXPONENT:
        grow = np.exp(exponent, out=exponent)
        shrink = np.divide(end, grow, out=spare)
    else:
        shrink = np.exp(-2.0 * total - exponent, out=spare)
        grow = np.exp(exponent, out=exponent)
    np.subtract(grow, shrink, out=sinh)
    grow += shrink
    return end


def diagonal_of(matrix: Matrix) -> Values:
    """Return the diagonal of a square matrix in row order, as a view."""
    return matrix.reshape(-1)[:: len(matrix) + 1]


def gaussian(covariance: Matrix, root: Matrix, residual: Values) -> tuple[float, Matrix | None]:
    """Return the negative log density of a vector, or the mean one of outputs, and twice its derivative.

    The derivative is that by the covariance. Outputs are given by the root of their second moment, a matrix.

    The residual variances are added to the diagonal of the covariance, whose memory the derivative takes. The
    derivative is symmetric, so its lower triangle is left 0: the sum of its elements times those of a symmetric matrix
    is that over the upper triangle, without half of the diagonal's. It is None if the covariance is not positive
    definite.
    """
    diagonal_of(covariance)[:] += residual
    # The transpose of a symmetric matrix in row order is the same matrix in column order, as LAPACK needs it.
    factor, failed = linalg.lapack.dpotrf(covariance.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return np.inf, None
    solved, _ = linalg.lapack.dpotrs(factor, root, lower=1)
    log_root_determinant = np.log(diagonal_of(factor.T)).sum()
    inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if solved.ndim == 1:
        slope = linalg.blas.dsyr(-1.0, solved, lower=1, a=inverse, overwrite_a=1)
    else:
        slope = linalg.blas.dsyrk(-1.0, solved, 1.0, inverse, lower=1, overwrite_c=1)
    return float(np.vdot(root, solved) / 2.0 + log_root_determinant), slope.T


def relevances(parameters: Values, main_effects: Values) -> Values:
    """Return the relevances a_i."""
    logs = parameters[BASE] + parameters[HEREDITY] * main_effects
    if len(parameters) > OWN:
        logs = logs + parameters[OWN:]
    return np.minimum(np.exp(logs), MAX_RELEVANCE)


def priors(data: Observations, *, own: bool) -> tuple[Values, Values, list[tuple[float, float]]]:
    """Return the prior means, prior deviations and bounds of all parameters."""
    n, even = data.n_players, _even_variance(data)
    scale_bounds = (np.log(1e-9), np.log(1e3))
    # With few players the pairs determine the linear part, and a nearly flat prior is harmless. With hundreds they do
    # not, and in a game of high order a flat prior lets the linear part absorb the rest as noise.
    linear = (100.0, 1.0) if own else (10.0, 2.0)
    rows = [
        (np.log(1.5 / n), 1.5, (np.log(0.02 / n), np.log(2.0))),
        (np.log(linear[0] / n), linear[1], (np.log(1e-6 / n), np.log(1e3 / n))),
        (np.log(2.0 * data.residual_variance), 3.0, scale_bounds),
        (np.log(data.residual_variance / 4.0), 1.0, scale_bounds),
        (np.log(even), 3.0, scale_bounds),
        (np.log(even / 20.0), 1.0, scale_bounds),
        (0.5, 0.5, (-1.0, 3.0)),
        (0.0, 0.5, (-2.0, 2.0)),
    ]
    rows += [(0.0, 1.0, (-4.0, 4.0))] * (n if own else 0)
    means, deviations, bounds = zip(*rows, strict=True)
    return np.array(means), np.array(deviations), list(bounds)


def _even_variance(data: Observations) -> float:
    return 1.0 if data.e is None else max(float(data.e.var()), 1e-8)


def constant_variance(data: Observations) -> float:
    """Return the prior variance of the constant in the even part."""
    return 10.0 * _even_variance(data)


def fit(
    data: Observations,
    rows: np.ndarray,
    *,
    own: bool,
    iterations: int,
    start: Values | None = None,
    curvature: Curvature | None = None,
) -> tuple[OddKernel, Values]:
    """Return the kernel with the most probable parameters, and the parameters, which later fits may start from.

    With a `curvature`, the fit is by BFGS and continues that of an earlier fit, which takes fewer evaluations of the
    objective; otherwise by L-BFGS-B, which `odd-gp@k` keeps: in a voting game of ten players it took 421 evaluations on
    average over 18 runs with L-BFGS-B, and 523 with BFGS.
    """
    objective = Objective(data, rows, own=own)
    low, high = np.array(objective.bounds).T
    parameters = np.clip(objective.prior_mean if start is None else start, low, high)
    if iterations > 0 and curvature is not None:
        inverse_hessian = curvature.at_start(objective.prior_deviation, len(rows))
        parameters, curvature.inverse_hessian = minimise(
            objective, parameters, low, high, inverse_hessian, iterations=iterations, tolerance=TOLERANCE
        )
        curvature.n_pairs = len(rows)
    elif iterations > 0:
        found = minimize(
            objective, parameters, jac=True, method="L-BFGS-B", bounds=objective.bounds, options={"maxiter": iterations}
        )
        parameters = found.x
    kernel = OddKernel(
        relevance=relevances(parameters, data.main_effects),
        smooth=float(np.exp(parameters[SMOOTH])),
        linear=float(np.exp(parameters[LINEAR])),
        residual_level=float(np.exp(parameters[RESIDUAL])),
        residual_slope=float(parameters[SLOPE]),
    )
    return kernel, parameters


def even_kernel(data: Observations, parameters: Values) -> EvenKernel:
    """Return the kernel of the even part with the fitted parameters."""
    return EvenKernel(
        relevance=relevances(parameters, data.main_effects),
        smooth=float(np.exp(parameters[EVEN_SMOOTH])),
        constant=constant_variance(data),
        residual_level=float(np.exp(parameters[EVEN_RESIDUAL])),
        residual_slope=float(parameters[SLOPE]),
    )
