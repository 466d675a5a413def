"""Stacking: surrogates on logit values, weighted by leave-one-out errors.

Every surrogate predicts each pair from all others. The surrogates are combined one after the other, with the weights
that minimise the squared errors of the combined prediction.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.logit_gp import LogitGP
from topshap.algorithms.odd_gp.logit_warp import candidate_warps
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.core import coalitions as co
from topshap.core.tables import shapley_from_table

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.core.typing import Matrix, Players, Values

MAX_PLAYERS, MAX_PAIRS = 16, 1000
"""The largest game whose coalitions are enumerated, and the largest number of pairs: limits on time."""
FITTED_TO = 100
"""The largest number of pairs that hyper-parameters are fitted to."""


class Prediction(NamedTuple):
    """The Shapley values by one surrogate, and its leave-one-out residuals."""

    shapley_values: Values
    residuals: Values


def stacked_estimate(
    surrogate: OddSurrogate, pairs: ComplementPairs, rng: np.random.Generator
) -> tuple[Values, Matrix]:
    """Return the Shapley values and their covariance by the surrogate, stacked with surrogates on logit values.

    The weights are fitted to the residuals, so these shrink more than the errors of the Shapley values do: the variance
    shrinks with their root mean square, not with their mean square.
    """
    values, covariance = surrogate.shapley_values()
    rows, residuals, _ = surrogate.posterior.left_out
    others = [] if is_perfect(residuals) else logit_predictions(pairs, rows, rng)
    if not others:
        return values, covariance
    best = reduce(stack, others, Prediction(values, surrogate.scale * residuals))
    shrinkage = linalg.norm(best.residuals / surrogate.scale) / linalg.norm(residuals)
    return best.shapley_values, shrinkage * covariance


def logit_predictions(pairs: ComplementPairs, left_out: Players, rng: np.random.Generator) -> list[Prediction]:
    """Return the predictions of surrogates on logit values, with the residuals of the pairs in `left_out`.

    The list is empty if the game or the number of pairs is too large, or if there is nothing to fit.
    """
    x, values, opposites = pairs.x, pairs.values, pairs.complement_values
    m, n = x.shape
    if n > MAX_PLAYERS or m > MAX_PAIRS or len(left_out) == 0 or not np.ptp([values, opposites]) > 0.0:
        return []
    odd = (values[left_out] - opposites[left_out]) / 2.0
    rows = rng.permutation(m)[:FITTED_TO]
    predictions, start, curvature = [], None, Curvature()
    for warp in candidate_warps(np.concatenate([values, opposites])):
        process = LogitGP(warp, x, values, opposites, rows=rows, start=start, curvature=curvature)
        start = process.parameters if start is None else start
        predicted, variance = process.leave_one_out(left_out)
        table = process.predict_all(float(np.median(variance)))
        table[co.to_ids(x > 0)], table[co.to_ids(x < 0)] = values, opposites
        predictions.append(Prediction(shapley_from_table(table - table[0]), odd - predicted))
    return predictions


def stack(first: Prediction, second: Prediction) -> Prediction:
    """Return the convex combination of two predictions with the smallest sum of squared residuals.

    Examples
    --------
    >>> rough = Prediction(np.array([0.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> finer = Prediction(np.array([1.0, 3.0]), np.array([0.5, -0.5, -0.5, 0.5]))
    >>> stack(rough, finer).shapley_values.round(6), stack(rough, rough).shapley_values
    (array([0.8, 3.2]), array([0., 4.]))
    """
    change = first.residuals - second.residuals
    across = float(change @ change)
    share = float(np.clip(first.residuals @ change / across, 0.0, 1.0)) if across > 0.0 else 0.0
    values = (1.0 - share) * first.shapley_values + share * second.shapley_values
    return Prediction(values, first.residuals - share * change)
