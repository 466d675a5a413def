"""The choice of the pairs that are most informative about the top k.

The expected regret of the current top k falls with the variances of the contrasts phi_i - phi_j across the border,
weighted by the probability and cost of a wrong order. These contrasts define a weighted trace of the posterior
covariance, together with a share of the whole covariance so that the choice does not neglect the other players. Pairs
are chosen greedily to reduce that trace. A model fitted to few pairs may be wrong about which sizes are most
informative, so no size gets more than half of a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.gp import FunctionalGP, Kernel
    from topshap.core.typing import Matrix, Players, Values

MAX_CONTRASTS = 48
"""The largest number of contrasts across the border that are considered."""
MAX_SHARE_OF_SIZE = 0.5
"""The largest share of a batch with pairs of one size, as long as there are pairs of other sizes.

Without a limit, and with a first design of one pair per player, a majority game of three voters among 13 dummies was
wrong in 0.44 of the runs, since all chosen pairs had size 2; see the tests. A third was not better on the tuning games.
"""

ROW_BY_ROW = 4
"""Covariances between candidates are computed row by row if there are more than this many candidates per chosen pair,
since a row alone costs several times its share in the whole matrix."""


def border_contrasts(estimates: Values, covariance: Matrix, ranking: Players, k: int, overall_weight: float) -> Matrix:
    """Return rows E such that the next pairs should reduce the trace of E Cov(phi) E'.

    The weight of phi_i - phi_j, with mean d and deviation s, is pdf(d / s) / s: the derivative of its expected regret
    with respect to its variance. The contrasts have a total weight of one; `overall_weight` is that of the whole
    covariance.
    """
    n, variances = len(estimates), np.diag(covariance)
    top, rest = ranking[:k], ranking[k:]
    gap = estimates[top][:, None] - estimates[rest]
    variance = np.maximum(variances[top][:, None] + variances[rest] - 2.0 * covariance[np.ix_(top, rest)], 1e-18)
    weight = np.exp(-0.5 * np.minimum(gap**2 / variance, 64.0)) / np.sqrt(variance)
    urgency = (weight * variance).ravel()
    chosen = np.argsort(-urgency, kind="stable")[:MAX_CONTRASTS]
    rows = np.zeros((len(chosen), n))
    i, j = np.unravel_index(chosen, weight.shape)
    root = np.sqrt(weight.ravel()[chosen] / max(urgency[chosen].sum(), 1e-300))
    rows[np.arange(len(chosen)), top[i]] = root
    rows[np.arange(len(chosen)), rest[j]] = -root
    if overall_weight == 0.0:
        return rows
    return np.concatenate([rows, np.sqrt(overall_weight / max(variances.sum(), 1e-300)) * np.eye(n)])


def most_informative(posterior: FunctionalGP[Any], candidates: Matrix, contrasts: Matrix, count: int) -> Players:
    """Choose `count` candidates greedily, each reducing the trace of E Cov(phi) E' most given those before.

    Observing g(x) reduces Cov(phi) by c c' / u, with c = Cov(phi, g(x)) and u = Var(g(x)) in the posterior.
    """
    n = candidates.shape[1]
    sizes = np.abs(candidates.sum(axis=1)).astype(np.intp)  # |2 s - n|, the same for both coalitions of a pair
    room = np.full(n + 1, int(np.ceil(MAX_SHARE_OF_SIZE * count)))
    free = np.ones(len(candidates), dtype=np.bool_)
    kernel = posterior.kernel
    cross = kernel.covariance(candidates, posterior.x).T
    reduced, _ = linalg.lapack.dtrtrs(posterior.factor, cross, lower=1)
    effect = _shortened(contrasts) @ (posterior.functional_of(candidates) - cross.T @ posterior.solved_functional).T
    variance = kernel.variances(candidates) + kernel.residual(candidates) - np.einsum("mc,mc->c", reduced, reduced)
    row_of = _rows_of_covariance(kernel, candidates, reduced, count)
    # From here on, differences are small compared with the posterior variances, so that single precision is enough.
    effect, variance = effect.astype(np.float32), np.maximum(variance, 1e-10).astype(np.float32)
    # Row j of `steps` is what the j-th choice explains: of all candidates, then of all contrasts. What it changes in
    # the squared effects of the candidates follows without their effects, which would be a matrix to update.
    gain = np.einsum("rc,rc->c", effect, effect)
    width = len(candidates)
    steps = np.empty((count, width + len(effect)), dtype=np.float32)
    row = np.empty(steps.shape[1], dtype=np.float32)
    chosen = np.empty(count, dtype=np.intp)
    for step in range(count):
        merit = np.where(free, gain / variance, -1.0)
        best = int(merit.argmax())
        if room[sizes[best]] <= 0:
            allowed = free & (room[sizes] > 0)
            best = int(np.where(allowed, merit, -1.0).argmax()) if allowed.any() else best
        chosen[step] = best
        free[best] = False
        room[sizes[best]] -= 1
        deviation = np.sqrt(variance[best])
        before = steps[:step]
        row[:width], row[width:] = row_of(best), effect[:, best]
        row -= before[:, best] @ before
        row /= deviation
        shift, own = row[:width], row[width:]
        shift[best] = deviation
        limit = np.sqrt(variance)  # bounds every covariance; rounding errors exceed it where the variance is tiny
        np.minimum(shift, limit, out=shift)
        np.maximum(shift, -limit, out=shift)
        across = own @ effect - (before[:, width:] @ own) @ before[:, :width]
        gain -= shift * (2.0 * across - (own @ own) * shift)
        np.maximum(gain, 0.0, out=gain)
        steps[step] = row
        variance = np.maximum(variance - shift * shift, np.float32(1e-10))
    return chosen


def _shortened(contrasts: Matrix) -> Matrix:
    """Return as few rows as there are players with the same E' E, on which alone the trace of E Cov(phi) E' depends."""
    if len(contrasts) <= contrasts.shape[1]:
        return contrasts
    return np.triu(linalg.lapack.dgeqrf(contrasts)[0][: contrasts.shape[1]])


def _rows_of_covariance(kernel: Kernel, candidates: Matrix, reduced: Matrix, count: int) -> Callable[[int], Values]:
    """Return a function that gives the posterior covariance of a candidate with all candidates.

    The residual of the candidate itself is left out.

    A row at a time if few of them are needed, otherwise all of them at once.
    """
    if ROW_BY_ROW * count < len(candidates):
        row_of = kernel.rows_among(candidates)
        return lambda i: np.asarray(row_of(i) - reduced[:, i] @ reduced)
    joint = kernel.covariance(candidates, candidates)
    joint -= reduced.T @ reduced
    return lambda i: joint[i]
