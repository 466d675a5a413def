"""Stacking: surrogates with other kernels and on logit values, weighted by leave-one-out errors.

Every surrogate predicts each pair from all others. The surrogates are combined one after the other, with the weights
that minimise the squared errors of the combined prediction. If there are many pairs, the surrogates are first compared
on the pairs that their hyper-parameters were fitted to, and those with hardly any weight there are left out.

The Shapley values of surrogates on logit values are those of `logit_shapley`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.logit_gp import LogitGP
from topshap.algorithms.odd_gp.logit_shapley import enumerated_shapley_values, sampled_shapley_values
from topshap.algorithms.odd_gp.logit_warp import candidate_warps, tight_warp, usual_warp
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.algorithms.odd_gp.rare_jumps import hide_jumps
from topshap.algorithms.odd_gp.regime import RICH_MODEL_UP_TO, STACKED_LEFT_OUT, STACKED_PAIRS
from topshap.algorithms.odd_gp.strong_terms import StrongTerms
from topshap.statistics.least_squares import share_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.algorithms.odd_gp.logit_warp import Warp
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.algorithms.odd_gp.unanimity_surrogate import UnanimitySurrogate
    from topshap.core.typing import Matrix, Players, Values

ENUMERATED_PLAYERS, MAX_PLAYERS = 16, 1000
"""The largest game whose coalitions are enumerated, and the largest one with logit values: limits on time."""
FITTED_TO = 100
"""The largest number of pairs that hyper-parameters on logit values are fitted to."""
COMPARED_FIRST_ABOVE, LEAST_SHARE = 200, 0.05
"""The number of pairs above which surrogates are first compared on `FITTED_TO` of them, and the share that they need
there."""


class Estimate(NamedTuple):
    """Shapley values, their covariance, and whether it may miss rare contributions."""

    shapley_values: Values
    covariance: Matrix
    rare_contributions: bool


class Prediction(NamedTuple):
    """The Shapley values by one surrogate, and its leave-one-out residuals."""

    shapley_values: Values
    residuals: Values
    sampling: Matrix | float = 0.0
    """The covariance of the Shapley values due to sampled pairs."""


def stacked_estimate(
    surrogate: OddSurrogate, unanimity: UnanimitySurrogate, pairs: ComplementPairs, rng: np.random.Generator
) -> Estimate:
    """Return the Shapley values and their covariance by the surrogate, stacked with others.

    The others are that for sums of unanimity games, the surrogate with strong terms, if there are any, and
    surrogates on logit values.

    The weights are fitted to the residuals, so these shrink more than the errors of the Shapley values do: the variance
    shrinks with their root mean square, not with their mean square.
    """
    values, covariance = surrogate.shapley_values(cautious=True)
    residuals = surrogate.posterior.left_out.residuals[-STACKED_LEFT_OUT:]
    others = []
    if not is_perfect(residuals):
        others = [
            *unanimity_prediction(surrogate, unanimity),
            *strong_prediction(surrogate, pairs),
            *logit_predictions(surrogate, pairs, rng),
        ]
    if not others:
        return Estimate(values, covariance, surrogate.rare_contributions)
    best = reduce(stack, others, Prediction(values, surrogate.scale * residuals))
    stacked = best.residuals / surrogate.scale
    covariance = linalg.norm(stacked) / linalg.norm(residuals) * covariance + best.sampling
    if is_perfect(stacked):
        covariance = covariance + surrogate.scale**2 * surrogate.unseen_jump_covariance()
    rare = surrogate.rare_contributions or (surrogate.unobserved and hide_jumps(stacked))
    return Estimate(best.shapley_values, covariance, rare)


def unanimity_prediction(surrogate: OddSurrogate, unanimity: UnanimitySurrogate) -> list[Prediction]:
    """Return the prediction of the surrogate for sums of unanimity games, if it is clearly better."""
    posterior = unanimity.learn(surrogate)
    if posterior is None:
        return []
    return [Prediction(surrogate.scale * posterior.shapley_values, surrogate.scale * posterior.residuals)]


def strong_prediction(surrogate: OddSurrogate, pairs: ComplementPairs) -> list[Prediction]:
    """Return the prediction of the surrogate with strong terms, if there are any."""
    n, posterior = pairs.x.shape[1], surrogate.posterior
    if n > RICH_MODEL_UP_TO or len(pairs) > STACKED_PAIRS:
        return []
    strong = StrongTerms.found_by(posterior)
    if not strong.terms:
        return []
    values = strong.shapley_values
    values += (2.0 * posterior.g[0] - values.sum()) / n  # exact but for rounding errors
    return [Prediction(surrogate.scale * values, surrogate.scale * strong.residuals[-STACKED_LEFT_OUT:])]


def logit_predictions(surrogate: OddSurrogate, pairs: ComplementPairs, rng: np.random.Generator) -> list[Prediction]:
    """Return the predictions of surrogates on logit values, with the residuals of the pairs that `surrogate` left out.

    The list is empty if the game or the number of pairs is too large, or if there is nothing to fit.
    """
    m, n = pairs.x.shape
    left_out = surrogate.posterior.left_out.rows[-STACKED_LEFT_OUT:]
    everything = np.concatenate([pairs.values, pairs.complement_values])
    if n > MAX_PLAYERS or m > STACKED_PAIRS or len(left_out) == 0 or not np.ptp(everything) > 0.0:
        return []
    # Beyond small games, only values that look like probabilities or scores are worth the time.
    others = candidate_warps(everything) if n <= ENUMERATED_PLAYERS else usual_warp(everything)
    warps = [*tight_warp(everything), *others]  # if the tight logits are additive, the others are left out
    odd = pairs.odd[left_out]
    predictions = []
    for process in promising(surrogate, pairs, warps, rng.permutation(m)[:FITTED_TO]):
        predicted, variance = process.leave_one_out(left_out)
        typical = float(np.median(variance))
        if n <= ENUMERATED_PLAYERS:
            values = enumerated_shapley_values(process, pairs, typical)
            predictions.append(Prediction(values, odd - predicted))
        else:
            values, sampling = sampled_shapley_values(process, surrogate, pairs, typical, rng)
            predictions.append(Prediction(values, odd - predicted, sampling))
    return predictions


def promising(surrogate: OddSurrogate, pairs: ComplementPairs, warps: list[Warp], rows: Players) -> Iterator[LogitGP]:
    """Fit a surrogate for each warp to some pairs, and yield those with a share in the prediction of these pairs."""
    start, curvature = None, Curvature()
    compare = len(pairs) > COMPARED_FIRST_ABOVE
    best = Prediction(np.zeros(1), surrogate.leave_one_out_among(rows)) if compare else None
    for warp in warps:
        process = LogitGP(
            warp, pairs.x, pairs.values, pairs.complement_values, rows=rows, start=start, curvature=curvature
        )
        start = process.parameters if start is None else start
        if best is not None:
            residuals = pairs.odd[rows] - process.leave_one_out_among(rows)
            share = share_of(best.residuals, residuals)
            if share < LEAST_SHARE:
                continue
            best = stack(best, Prediction(np.zeros(1), residuals))
        yield process


def stack(first: Prediction, second: Prediction) -> Prediction:
    """Return the convex combination of two predictions with the smallest sum of squared residuals.

    Examples
    --------
    >>> rough = Prediction(np.array([0.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> finer = Prediction(np.array([1.0, 3.0]), np.array([0.5, -0.5, -0.5, 0.5]))
    >>> stack(rough, finer).shapley_values.round(6), stack(rough, rough).shapley_values
    (array([0.8, 3.2]), array([0., 4.]))
    """
    share = share_of(first.residuals, second.residuals)
    return Prediction(
        (1.0 - share) * first.shapley_values + share * second.shapley_values,
        first.residuals - share * (first.residuals - second.residuals),
        (1.0 - share) ** 2 * first.sampling + share**2 * second.sampling,
    )
