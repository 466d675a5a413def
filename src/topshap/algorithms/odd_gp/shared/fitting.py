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
    LINEAR,
    RESIDUAL,
    SHARED_TOLERANCE,
    SLOPE,
    SMOOTH,
    Objective,
    Observations,
    relevances,
)
from topshap.algorithms.odd_gp.minimise import Curvature, minimise
from topshap.algorithms.odd_gp.odd_kernel import OddKernel

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
    _, effects, _ = linalg.lapack.dposv(normal, x.T @ odd)
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


class SharedObjective(Objective):
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
        roots = [second_moment_root(part[rows]) for part in (data.g, data.e) if part is not None]
        weight = independent_outputs(roots[0]) if weight is None else weight
        super().__init__(data, rows, own=own, roots=roots, weight=weight)


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
            objective, parameters, low, high, inverse_hessian, iterations=iterations, tolerance=SHARED_TOLERANCE
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
