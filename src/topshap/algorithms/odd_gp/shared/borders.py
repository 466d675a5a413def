"""The borders of the top k of many outputs: the contrasts that decide them, and the regret of a wrong order.

For a player i in the top k of an output and j outside, phi_i - phi_j has the posterior mean d and deviation s. Its
weight pdf(d / s) / s is the derivative of its expected regret with respect to its variance. All outputs are treated
together, in blocks that bound the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from topshap.statistics.ranking import rank_signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

NEAREST = 16
"""The largest number of players on each side of a border that are compared: those whose estimates are closest to it."""
_BLOCK_ENTRIES = 2**19
"""The largest number of contrasts computed together, which bounds memory."""
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders of some outputs, one per row: top players (B, a), rest (B, b), and their contrasts (B, a, b)."""

    top: Players
    rest: Players
    signs: Matrix
    """The sign of every contrast in phi_i phi_j: +1, or -1 if the two are ranked by magnitude and differ in sign."""
    weights: Matrix
    """The derivative of the regret by the variance, relative to the range of the output's estimates."""
    regrets: Values
    """The largest expected regret of a contrast of each output, relative to the range of its estimates."""

    def pooled(self, n: int) -> Matrix:
        """Return the Laplacian of the weights, summed over the outputs."""
        between = np.bincount(
            (self.top[:, :, None] * n + self.rest[:, None, :]).ravel(),
            (self.weights * self.signs).ravel(),
            minlength=n * n,
        ).reshape(n, n)
        degrees = np.bincount(self.top.ravel(), self.weights.sum(axis=2).ravel(), minlength=n)
        degrees += np.bincount(self.rest.ravel(), self.weights.sum(axis=1).ravel(), minlength=n)
        return np.asarray(np.diag(degrees) - between - between.T)

    def separate(self, n: int) -> Matrix:
        """Return the Laplacian of the weights of every output, of shape (B, n, n)."""
        laplacians = np.zeros((len(self.top), n, n))
        output = np.arange(len(self.top))[:, None]
        laplacians[output, self.top, self.top] = self.weights.sum(axis=2)
        laplacians[output, self.rest, self.rest] = self.weights.sum(axis=1)
        top, rest, signed = self.top[:, :, None], self.rest[:, None, :], -self.weights * self.signs
        laplacians[output[:, :, None], top, rest] = signed
        laplacians[output[:, :, None], rest, top] = signed
        return laplacians


def borders(values: Matrix, covariance: Matrix, factors: Values, k: int, rank_by: RankBy) -> Borders:
    """Return the borders of some outputs.

    Parameters
    ----------
    values
        The estimates of the outputs, of shape (B, n).
    covariance, factors
        The covariance of output b is ``factors[b]`` times `covariance`, of shape (n, n) or (B, n, n).
    k, rank_by
        The size of the top and its order.
    """
    outputs, n = values.shape
    signs = rank_signs(values, rank_by)
    order = np.argsort(-signs * values, axis=1, kind="stable")
    top, rest = order[:, max(k - NEAREST, 0) : k], order[:, k : k + NEAREST]
    output = np.arange(outputs)[:, None, None]
    i, j = top[:, :, None], rest[:, None, :]
    both = np.broadcast_to(covariance, (outputs, n, n))
    contrast_signs = signs[output, i] * signs[output, j]
    variance = both[output, i, i] + both[output, j, j] - 2.0 * contrast_signs * both[output, i, j]
    variance = np.maximum(variance, 1e-18)
    scale = np.sqrt(np.maximum(factors, _TINY))[:, None, None]
    deviation = np.sqrt(variance) * scale
    z = np.minimum((signs[output, i] * values[output, i] - signs[output, j] * values[output, j]) / deviation, 8.0)
    density = np.exp(-0.5 * z**2)
    spread = np.maximum(np.ptp(values, axis=1), _TINY)
    regret = deviation * (density / np.sqrt(2.0 * np.pi) - z * ndtr(-z))
    relevant = np.where(factors > 0.0, 1.0 / spread, 0.0)
    return Borders(
        top=top,
        rest=rest,
        signs=contrast_signs,
        weights=density / np.sqrt(variance) * scale * relevant[:, None, None],
        regrets=np.max(regret, axis=(1, 2), initial=0.0) * relevant,
    )


def output_blocks(outputs: int, entries: int, limit: int = _BLOCK_ENTRIES) -> Iterator[slice]:
    """Yield slices of outputs, each with at most `limit` entries if one output has `entries`.

    Examples
    --------
    >>> list(output_blocks(5, 1, limit=3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    step = max(1, limit // max(entries, 1))
    for start in range(0, outputs, step):
        yield slice(start, min(start + step, outputs))


def pooled_contrasts(values: Matrix, covariance: Matrix, factors: Values, k: int, rank_by: RankBy) -> Matrix:
    """Return rows E such that the next pairs should reduce the trace of E C E', with C the shared covariance.

    E'E is the Laplacian of the border weights of all outputs, scaled to a trace of one with C, plus the identity,
    scaled in the same way, so that the choice does not neglect the other players.
    """
    outputs, n = values.shape
    laplacian = np.zeros((n, n))
    for block in output_blocks(outputs, min(k, NEAREST) * min(n - k, NEAREST)):
        laplacian += borders(values[block], covariance, factors[block], k, rank_by).pooled(n)
    scales, directions = np.linalg.eigh(with_everyone(laplacian, covariance))
    return np.asarray(np.sqrt(np.maximum(scales, 0.0))[:, None] * directions.T)


def with_everyone(laplacians: Matrix, covariances: Matrix) -> Matrix:
    """Scale Laplacians L to tr(L C) = 1 and add the identity, scaled in the same way.

    Examples
    --------
    >>> with_everyone(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2))
    array([[ 1. , -0.5],
           [-0.5,  1. ]])
    """
    n = laplacians.shape[-1]
    products = laplacians * covariances
    total = np.sum(products, axis=(-2, -1), keepdims=True)
    # Where the estimates are almost exact, the total is smaller than its rounding error, and may be negative.
    rounding = np.finfo(np.float64).eps * np.sum(np.abs(products), axis=(-2, -1), keepdims=True)
    total = np.maximum(total, rounding)
    trace = np.trace(covariances, axis1=-2, axis2=-1)[..., None, None]
    return np.asarray(laplacians / np.maximum(total, _TINY) + np.eye(n) / np.maximum(trace, 1e-30))
