"""The spread of the estimates of many outputs: a covariance that they share, and one factor per output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.integrals import pair_functional, pair_prior
from topshap.algorithms.odd_gp.posterior import PERFECT_FIT
from topshap.algorithms.odd_gp.rare_jumps import HEAVY_TAILS, OUTLIER, shares_of_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.core.typing import Matrix, Values

PRIOR_PAIRS = 4.0
"""The number of pairs that the median surprise of all outputs counts as in the surprise of each output."""


def shared_spread(
    posterior: OddPosterior, precision: Values, values: Matrix, varying: NDArray[np.bool_]
) -> tuple[Matrix, Values]:
    """Return the covariance that outputs share, and the factor of each, on the scale on which odd parts have rms 1.

    Cov(phi_r) = c_r C, with C the posterior covariance, which does not depend on the outputs. c_r is the mean square of
    the output's standardised leave-one-out residuals, times 1 + n / m for the hyper-parameters, which were fitted to
    the same pairs. This assumes that the errors of an output are distributed over the players like those of the
    process. Where residuals have heavy tails, outliers count as jumps that may be missing from the pairs not observed,
    and a perfect fit leaves room for one: both are added to c_r.

    Parameters
    ----------
    posterior, precision
        The process, conditioned on the odd parts of all outputs, and the diagonal of its K^-1.
    values
        The estimates, of shape (R, n).
    varying
        The outputs whose odd part is not 0 in all pairs; the others have a factor of 0.
    """
    m, n = posterior.x.shape
    residuals = posterior.weights[1:] / precision[1:, None]
    perfect = np.max(residuals**2, axis=0, initial=0.0) <= PERFECT_FIT
    hidden = np.max(values**2, axis=1) / (4.0 * (m + 1))  # one more pair with a jump as large as the largest value
    if perfect.all():
        return _unseen(posterior.x), np.where(varying, hidden, 0.0)
    covariance = posterior.covariance
    trace = max(float(np.trace(covariance)), 1e-300)
    factors = surprises(residuals, precision[1:], varying) * (1.0 + n / m)
    factors += jump_traces(posterior.x, residuals) / trace
    if perfect.any():
        least = hidden * float(np.trace(_unseen(posterior.x))) / trace
        factors = np.where(perfect, np.maximum(factors, least), factors)
    return covariance, np.where(varying, factors, 0.0)


def _unseen(x: Matrix) -> Matrix:
    """Return the covariance of the Shapley values if unobserved pairs are independent with a variance of 1."""
    seen = pair_functional(x)
    return np.asarray(pair_prior(np.ones(x.shape[1] + 1)) - seen.T @ seen)


def surprises(residuals: Matrix, precision: Values, varying: NDArray[np.bool_]) -> Values:
    """Return the mean square of the standardised residuals of each output, shrunk towards the median over outputs.

    Examples
    --------
    >>> residuals = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    >>> surprises(residuals, np.ones(4), np.array([True, True]))
    array([1.75, 3.25])
    """
    squares = np.einsum("mr,m,mr->r", residuals, precision, residuals)
    count = len(residuals)
    typical = float(np.median(squares[varying])) / max(count, 1) if varying.any() else 0.0
    return np.asarray((squares + PRIOR_PAIRS * typical) / (count + PRIOR_PAIRS))


def jump_traces(x: Matrix, residuals: Matrix) -> Values:
    """Return, for each output, the trace of the covariance due to jumps in unobserved pairs.

    It is estimated from the outliers among the residuals of all pairs but the first, as in `rare_jumps`, and 0 for
    outputs whose residuals do not have heavy tails: there, outliers count enough in the mean square.
    """
    if len(residuals) == 0:
        return np.zeros(residuals.shape[1])
    magnitudes = np.abs(residuals)
    median = np.median(magnitudes, axis=0)
    heavy = median < HEAVY_TAILS * np.sqrt(np.mean(residuals**2, axis=0))
    if not heavy.any():
        return np.zeros(residuals.shape[1])
    outliers = heavy & (magnitudes > OUTLIER * median)
    probabilities = shares_of_sizes(x)[1:]
    estimates = pair_functional(x[1:]) / probabilities[:, None]
    estimates -= estimates.mean(axis=1, keepdims=True)
    traces = np.sum(estimates**2, axis=1) * (1.0 - probabilities)
    return np.asarray(np.einsum("m,mr->r", traces, np.where(outliers, residuals, 0.0) ** 2))
