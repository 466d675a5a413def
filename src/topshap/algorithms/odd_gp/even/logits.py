"""Stacking: interactions by surrogates on logit values, weighted by leave-one-out errors.

A probability that saturates looks like an interaction of players that do not interact otherwise, so surrogates on logit
values matter for interactions even more than for Shapley values (`topshap.algorithms.odd_gp.stacking`). They are
combined in the same way, by their errors in the even part.

In small games the interactions of such a surrogate are those of its predictions of all coalitions. In others they are
those of the first surrogate, plus those of the difference of the two predictions, estimated from sampled pairs.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.designs import draw_pairs, pair_keys
from topshap.algorithms.odd_gp.even.spread import Spread, total_interactions
from topshap.algorithms.odd_gp.logit_gp import LogitGP
from topshap.algorithms.odd_gp.logit_warp import candidate_warps, usual_warp
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.algorithms.odd_gp.rare_jumps import shares_of_sizes
from topshap.algorithms.odd_gp.stacking import ENUMERATED_PLAYERS
from topshap.core import coalitions as co
from topshap.core.interactions import interactions_from_table
from topshap.statistics.least_squares import share_of

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate, Interactions
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.core.typing import Values

MAX_PAIRS = 1000
"""The largest number of complement pairs, a limit on time."""
SAMPLED_PAIRS = 4096
"""The number of pairs on which two predictions are compared in larger games."""
FITTED_TO = 200
"""The largest number of complement pairs that hyper-parameters are fitted to.

On 21 tuning games with 100 to 500 evaluations, the root mean square error is 0.96 times that with 100.
"""


class Prediction(NamedTuple):
    """The interactions by one surrogate, and its leave-one-out residuals."""

    interactions: Values
    residuals: Values
    sampling: Spread | None = None
    """The spread of the interactions due to sampled pairs."""


def stacked_interactions(surrogate: EvenSurrogate, pairs: ComplementPairs, rng: np.random.Generator) -> Interactions:
    """Return the interactions by the surrogate, stacked with surrogates on logit values.

    The weights are fitted to the residuals, so these shrink more than the errors of the interactions do: the variance
    shrinks with their root mean square, not with their mean square.
    """
    found, residuals = surrogate.interactions(), surrogate.scale * surrogate.posterior.left_out.residuals
    others = [] if is_perfect(residuals / surrogate.scale) else logit_predictions(surrogate, pairs, rng)
    if not others:
        return found
    best = reduce(stack, others, Prediction(found.estimates, residuals))
    shrinkage = float(linalg.norm(best.residuals) / linalg.norm(residuals))
    spread = Spread(found.std_errors**2, found.covariance).times(shrinkage)
    if best.sampling is not None:
        spread = spread.plus(best.sampling)
    return found._replace(
        estimates=best.interactions, std_errors=np.sqrt(spread.variances), covariance=spread.covariance
    )


def logit_predictions(surrogate: EvenSurrogate, pairs: ComplementPairs, rng: np.random.Generator) -> list[Prediction]:
    """Return the predictions of surrogates on logit values, with the residuals of the pairs that `surrogate` left out.

    The list is empty if the number of complement pairs is too large, or if there is nothing to fit.
    """
    m, n = pairs.x.shape
    left_out = surrogate.posterior.left_out.rows
    everything = np.concatenate([pairs.values, pairs.complement_values])
    if m > MAX_PAIRS or len(left_out) == 0 or not np.ptp(everything) > 0.0:
        return []
    # Beyond small games, only values that look like probabilities or scores are worth the time.
    warps = candidate_warps(everything) if n <= ENUMERATED_PLAYERS else usual_warp(everything)
    rows, start, curvature = rng.permutation(m)[:FITTED_TO], None, Curvature()
    predictions = []
    for warp in warps:
        process = LogitGP(
            warp, pairs.x, pairs.values, pairs.complement_values, rows=rows, start=start, curvature=curvature
        )
        start = process.parameters if start is None else start
        predicted, variance = process.leave_one_out(left_out, even=True)
        residuals, typical = pairs.even[left_out] - predicted, float(np.median(variance))
        if n <= ENUMERATED_PLAYERS:
            predictions.append(Prediction(enumerated_interactions(process, pairs, typical), residuals))
        else:
            interactions, sampling = sampled_interactions(process, surrogate, pairs, typical, rng)
            predictions.append(Prediction(interactions, residuals, sampling))
    return predictions


def enumerated_interactions(process: LogitGP, pairs: ComplementPairs, variance: float) -> Values:
    """Return the interactions of the predictions of all coalitions, with the known values where there are any."""
    table = process.predict_all(variance)
    table[co.to_ids(pairs.x > 0)], table[co.to_ids(pairs.x < 0)] = pairs.values, pairs.complement_values
    return interactions_from_table(table)


def sampled_interactions(
    process: LogitGP, surrogate: EvenSurrogate, pairs: ComplementPairs, variance: float, rng: np.random.Generator
) -> tuple[Values, Spread]:
    """Return the interactions of a surrogate from those of another, and the spread due to the sampled pairs.

    Both know the observed pairs, so their predictions differ only on others.
    """
    drawn = draw_pairs(pairs.x.shape[1], SAMPLED_PAIRS, 1.0, rng)
    x = np.where(drawn, 1.0, -1.0)
    difference = process.predict(x, variance, even=True) - surrogate.predict(x)
    known = pairs.keys()
    difference[[key in known for key in pair_keys(drawn)]] = 0.0
    posterior = surrogate.posterior
    total, spread = total_interactions(x, difference, shares_of_sizes(x), posterior.pairs, posterior.watched)
    return surrogate.scale * posterior.interactions + total, spread


def stack(first: Prediction, second: Prediction) -> Prediction:
    """Return the convex combination of two predictions with the smallest sum of squared residuals.

    Examples
    --------
    >>> rough = Prediction(np.array([0.0, 4.0]), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> finer = Prediction(np.array([1.0, 3.0]), np.array([0.5, -0.5, -0.5, 0.5]))
    >>> stack(rough, finer).interactions.round(6)
    array([0.8, 3.2])
    """
    share = share_of(first.residuals, second.residuals)
    parts = [(1.0 - share, first.sampling), (share, second.sampling)]
    spreads = [spread.times(part**2) for part, spread in parts if spread is not None]
    return Prediction(
        (1.0 - share) * first.interactions + share * second.interactions,
        first.residuals - share * (first.residuals - second.residuals),
        reduce(Spread.plus, spreads) if spreads else None,
    )
