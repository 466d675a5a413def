"""For very small budgets: all players alone, or the grand coalition without each, and a prior for what is missing.

With fewer than 2 n + 2 evaluations there is no complement pair for every player. Evaluating v({i}) for all i, or
v(N - i) for all i, compares everyone at n evaluations; what is left completes as many pairs as it can. A Gaussian
process on the odd and the even part together weighs what is there: the even part takes up what all players alone have
in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.odd_kernel import OddKernel

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix, Values

_SMOOTH, _RESIDUAL, _COMMON = 0.3, 0.05, 10.0
"""Prior variances in units of the variance of the observed values: of the smooth parts, of what they leave over in each
half of a pair, and of a constant."""


def alone_or_missing(n: int, rng: np.random.Generator) -> Coalitions:
    """Return all players alone and then all but one of them, or the other way round, in random order."""
    alone = np.eye(n, dtype=np.bool_)[rng.permutation(n)]
    return np.concatenate([alone, ~alone] if rng.random() < 0.5 else [~alone, alone])


def shapley_posterior(coalitions: Coalitions, values: Values, gain: float) -> tuple[Values, Matrix]:
    """Return the mean and covariance of the Shapley values given single coalitions and their values."""
    n = coalitions.shape[1]
    x = np.where(coalitions, 1.0, -1.0)
    unit = float(values.std()) or 1.0
    kernel = OddKernel(np.full(n, 1.5 / n), smooth=_SMOOTH, linear=1.0 / n, residual_level=_RESIDUAL)
    alike = x @ x.T
    even = _COMMON + _SMOOTH * np.cosh(1.5 * alike / n) / np.cosh(1.5)
    # What is left over in v(x) and in v(-x) is independent: that is an odd and an even residual of the same variance.
    covariance = kernel.covariance(x, x) + even + 2.0 * _RESIDUAL * np.eye(len(x))
    factor = linalg.cho_factor(covariance, lower=True)
    functional = kernel.functional(x)
    phi = functional.T @ linalg.cho_solve(factor, (values - values.mean()) / unit) * unit
    posterior = kernel.prior - functional.T @ linalg.cho_solve(factor, functional)
    return phi + (gain - phi.sum()) / n, (posterior + posterior.T) * (unit**2 / 2.0)
