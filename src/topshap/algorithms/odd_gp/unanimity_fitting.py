"""The fit of a `UnanimityKernel` to observed pairs: maximum a posteriori, as in `fitting`.

The relevances start from those of the process that is there already:

    log a_i = base + heredity * h_i + own_i,   h_i the centred logarithm of that relevance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.fitting import TOLERANCE, diagonal_of, gaussian
from topshap.algorithms.odd_gp.minimise import Curvature, minimise
from topshap.algorithms.odd_gp.odd_kernel import extremeness
from topshap.algorithms.odd_gp.unanimity_kernel import UnanimityKernel, common_parts

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values

BASE, LINEAR, SMOOTH, RESIDUAL, HEREDITY, SLOPE, OWN = range(7)
"""The positions of the parameters in the vector; from OWN on, there is one number per player."""

MAX_RELEVANCE = 1e3
"""The largest relevance: such a player joins almost every set. Rounding errors grow with the sum of all relevances."""


class UnanimityObjective:
    """The negative log posterior of the parameters, with its gradient.

    Parameters
    ----------
    x, g
        Pairs as signs and their odd parts, with a mean square of about 1.
    relevance
        The relevances of another process.
    own
        Whether every player has its own relevance.
    """

    def __init__(self, x: Matrix, g: Values, relevance: Values, *, own: bool) -> None:
        n = x.shape[1]
        self._x, self._g = x, g
        logs = np.log(relevance)
        self._main_effects = logs - logs.mean()
        self._products, self._extremeness = x @ x.T, extremeness(x)
        scale_bounds = (np.log(1e-9), np.log(1e3))
        rows = [  # the prior mean, prior deviation and bounds of each parameter
            (-1.0, 1.5, (-6.0, 3.0)),  # BASE
            (np.log(1.0 / n), 2.0, (np.log(1e-6 / n), np.log(1e3 / n))),  # LINEAR
            (np.log(0.5), 2.0, scale_bounds),  # SMOOTH
            (np.log(0.025), 1.0, scale_bounds),  # RESIDUAL
            (0.5, 0.5, (-0.5, 2.0)),  # HEREDITY
            (0.0, 0.5, (-2.0, 2.0)),  # SLOPE
        ]
        rows += [(0.0, 0.7, (-3.0, 3.0))] * (n if own else 0)  # OWN
        means, deviations, bounds = zip(*rows, strict=True)
        self.prior_mean, self.prior_deviation = np.array(means), np.array(deviations)
        self.low, self.high = np.array(bounds).T

    def __call__(self, parameters: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        kernel = self.kernel_of(parameters)
        noise = kernel.residual_level * np.exp(kernel.residual_slope * self._extremeness)
        parts = list(common_parts(self._x, self._x, kernel.relevance))
        smooth = np.sum([sign * part for part, sign, _ in parts], axis=0)
        value, slope = gaussian(kernel.scale * smooth + kernel.linear * self._products, self._g, noise)
        gradient = np.zeros(len(parameters))
        if slope is None:
            return 1e10, gradient
        diagonal = diagonal_of(slope)
        diagonal *= 0.5  # now the sum of slope * matrix is the derivative, see `gaussian`
        gradient[LINEAR] = kernel.linear * np.vdot(slope, self._products)
        gradient[SMOOTH] = kernel.scale * np.vdot(slope, smooth)
        gradient[RESIDUAL] = diagonal @ noise
        gradient[SLOPE] = (diagonal * noise) @ self._extremeness
        total = float(kernel.relevance.sum())
        by_relevance = kernel.scale * self._by_relevance(slope, parts) - gradient[SMOOTH] / (total * (1.0 + total))
        by_log = kernel.relevance * by_relevance * (kernel.relevance < MAX_RELEVANCE)
        gradient[BASE], gradient[HEREDITY] = by_log.sum(), by_log @ self._main_effects
        gradient[OWN:] = by_log[: len(gradient) - OWN]
        z = (parameters - self.prior_mean) / self.prior_deviation
        return float(value + z @ z / 2.0), gradient + z / self.prior_deviation

    def _by_relevance(self, slope: Matrix, parts: list[tuple[Matrix, float, tuple[float, float]]]) -> Values:
        """Return the derivative of the sum of slope * smooth by the relevances.

        The derivative of a part 1 / (1 + a(N - A)) by a_i is minus its square, unless i is in A: for signs x and y, i
        is in A with (1 + s x_i) (1 + t y_i) / 4, which is 0 or 1.
        """
        outside, across, alone = 0.0, np.zeros_like(slope), np.zeros(len(slope))
        for part, sign, (s, t) in parts:
            weighted = slope * part**2
            across += weighted
            weighted *= sign
            outside += 0.75 * float(weighted.sum())
            alone += s * weighted.sum(axis=1) + t * weighted.sum(axis=0)
        inside = self._x.T @ alone + np.einsum("mi,mi->i", self._x, across @ self._x)
        return np.asarray(inside / 4.0 - outside)

    def kernel_of(self, parameters: Values) -> UnanimityKernel:
        """Return the kernel with these parameters."""
        logs = parameters[BASE] + parameters[HEREDITY] * self._main_effects
        if len(parameters) > OWN:
            logs = logs + parameters[OWN:]
        return UnanimityKernel(
            relevance=np.minimum(np.exp(logs), MAX_RELEVANCE),
            smooth=float(np.exp(parameters[SMOOTH])),
            linear=float(np.exp(parameters[LINEAR])),
            residual_level=float(np.exp(parameters[RESIDUAL])),
            residual_slope=float(parameters[SLOPE]),
        )


def fit_unanimity_kernel(
    x: Matrix,
    g: Values,
    relevance: Values,
    *,
    own: bool,
    iterations: int,
    start: Values | None = None,
    curvature: Curvature | None = None,
) -> tuple[UnanimityKernel, Values]:
    """Return the kernel with the most probable parameters, and the parameters, which later fits may start from.

    `UnanimityObjective` describes the other arguments; `curvature` is that of an earlier fit, which is updated.

    Examples
    --------
    >>> x = np.where(np.random.default_rng(0).random((60, 8)) < 0.5, 1.0, -1.0)
    >>> g = x[:, 0] + (x[:, 0] * x[:, 1] * x[:, 2] > 0)
    >>> kernel, _ = fit_unanimity_kernel(x, g, np.ones(8), own=True, iterations=25)
    >>> bool(kernel.relevance[:3].min() > kernel.relevance[3:].max())
    True
    """
    objective = UnanimityObjective(x, g, relevance, own=own)
    curvature = Curvature() if curvature is None else curvature
    parameters, curvature.inverse_hessian = minimise(
        objective,
        objective.prior_mean if start is None else start,
        objective.low,
        objective.high,
        curvature.at_start(objective.prior_deviation, len(x)),
        iterations=iterations,
        tolerance=TOLERANCE,
    )
    curvature.n_pairs = len(x)
    return objective.kernel_of(parameters), parameters
