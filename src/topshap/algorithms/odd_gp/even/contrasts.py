"""The contrasts across the border of the top k pairs of players."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.active import MAX_CONTRASTS
from topshap.statistics.ranking import rank_signs

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy


def signed_border_contrasts(
    estimates: Values, covariance: Matrix, ranking: Players, k: int, *, rank_by: RankBy, overall_weight: float
) -> Matrix:
    """Return rows E such that the next complement pairs should reduce the trace of E Cov(phi) E'.

    As `topshap.algorithms.odd_gp.active.border_contrasts`, but by magnitude every p in the top k, with the sign s, is
    compared with every q in the rest by both s phi_p - phi_q and s phi_p + phi_q: either may decide whether |phi_q| is
    larger.
    """
    signs, variances = rank_signs(estimates, rank_by), np.diag(covariance)
    overall = np.sqrt(overall_weight / max(variances.sum(), 1e-300)) * np.eye(len(estimates))
    top, rest = ranking[:k], ranking[k:]
    if len(rest) == 0:
        return overall
    sides = np.array([1.0, -1.0] if rank_by == "magnitude" else [1.0])[:, None, None] * signs[rest]
    gap = (signs * estimates)[top][:, None] - sides * estimates[rest]
    cross = signs[top][:, None] * covariance[np.ix_(top, rest)]
    variance = np.maximum(variances[top][:, None] + variances[rest] - 2.0 * sides * cross, 1e-18)
    weight = np.exp(-0.5 * np.minimum(gap**2 / variance, 64.0)) / np.sqrt(variance)
    urgency = (weight * variance).ravel()
    chosen = np.argsort(-urgency, kind="stable")[:MAX_CONTRASTS]
    side, p, q = np.unravel_index(chosen, variance.shape)
    root = np.sqrt(weight.ravel()[chosen] / max(urgency[chosen].sum(), 1e-300))
    rows = np.zeros((len(chosen), len(estimates)))
    rows[np.arange(len(chosen)), top[p]] = root * signs[top[p]]
    rows[np.arange(len(chosen)), rest[q]] = -root * sides[side, 0, q]
    return np.concatenate([rows, overall])
