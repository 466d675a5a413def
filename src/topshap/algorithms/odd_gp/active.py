"""The pairs that would tell most about who belongs to the top k.

The expected regret of the current top k falls with the variance of the differences phi_i - phi_j across the border,
weighed by how likely and how costly they are to be wrong. Those contrasts, and a little of everything so that the
choice does not tunnel, define a weighted trace of the posterior covariance; pairs are picked greedily to reduce it. A
model that has seen little may be wrong about which sizes tell most: no size gets more than half of a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.core.typing import Matrix, Players, Values

CONTRASTS = 48
"""How many pairs of players across the border are looked at."""
LARGEST_SHARE = 0.5
"""The part of a batch that may have the same size, as long as there are others to choose."""


def border_contrasts(estimates: Values, covariance: Matrix, ranking: Players, k: int, everyone: float) -> Matrix:
    """Return rows E such that the trace of E Cov(phi) E' is what the next pairs should reduce.

    The weight of phi_i - phi_j, with mean d and deviation s, is pdf(d / s) / s: the derivative of its expected regret
    by its variance. The weights of the contrasts add up to one, and `everyone` is the weight of the whole covariance.
    """
    n, variances = len(estimates), np.diag(covariance)
    top, rest = ranking[:k], ranking[k:]
    gap = estimates[top][:, None] - estimates[rest]
    variance = np.maximum(variances[top][:, None] + variances[rest] - 2.0 * covariance[np.ix_(top, rest)], 1e-18)
    weight = np.exp(-0.5 * np.minimum(gap**2 / variance, 64.0)) / np.sqrt(variance)
    urgency = (weight * variance).ravel()
    chosen = np.argsort(-urgency, kind="stable")[:CONTRASTS]
    rows = np.zeros((len(chosen), n))
    i, j = np.unravel_index(chosen, weight.shape)
    root = np.sqrt(weight.ravel()[chosen] / max(urgency[chosen].sum(), 1e-300))
    rows[np.arange(len(chosen)), top[i]] = root
    rows[np.arange(len(chosen)), rest[j]] = -root
    if everyone == 0.0:
        return rows
    return np.concatenate([rows, np.sqrt(everyone / max(variances.sum(), 1e-300)) * np.eye(n)])


def most_informative(posterior: OddPosterior, candidates: Matrix, contrasts: Matrix, count: int) -> Players:
    """Pick `count` candidates, one after the other, each reducing the trace of E Cov(phi) E' most given those before.

    Observing g(x) reduces Cov(phi) by c c' / u, with c = Cov(phi, g(x)) and u = Var(g(x)) in the posterior.
    """
    n = candidates.shape[1]
    sizes = np.abs(candidates.sum(axis=1)).astype(np.intp)  # |2 s - n|, the same for both halves
    room = np.full(n + 1, int(np.ceil(LARGEST_SHARE * count)))
    free = np.ones(len(candidates), dtype=np.bool_)
    kernel = posterior.kernel
    cross = kernel.covariance(posterior.x, candidates)
    reduced = linalg.solve_triangular(posterior.factor, cross, lower=True, check_finite=False)
    joint = kernel.covariance(candidates, candidates) - reduced.T @ reduced
    joint[np.diag_indices(len(candidates))] += kernel.residual(candidates)
    effect = contrasts @ (posterior.functional_of(candidates) - cross.T @ posterior.solved_functional).T
    variance = np.maximum(np.diag(joint).copy(), 1e-10)
    gain = np.einsum("rc,rc->c", effect, effect)
    steps = np.empty((count, len(candidates)))
    picked = np.empty(count, dtype=np.intp)
    for step in range(count):
        allowed = free & (room[sizes] > 0)
        best = int(np.argmax(np.where(allowed if allowed.any() else free, gain / variance, -1.0)))
        picked[step] = best
        free[best] = False
        room[sizes[best]] -= 1
        deviation = np.sqrt(variance[best])
        shift = (joint[best] - steps[:step, best] @ steps[:step]) / deviation
        limit = np.sqrt(variance)  # no covariance exceeds this, but with next to no variance left rounding errors do
        shift = np.clip(shift, -limit, limit)
        effect -= np.outer(effect[:, best] / deviation, shift)
        steps[step] = shift
        variance = np.maximum(variance - shift**2, 1e-10)
        gain = np.einsum("rc,rc->c", effect, effect)
    return picked
