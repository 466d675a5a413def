"""Shapley values of surrogates on logit values.

In small games they are those of the predictions of all coalitions. In others, the predictions are compared on sampled
pairs with two models whose Shapley values are known: the surrogate on the values themselves, and the sigmoid of an
additive game. A mixture of the two is close to the predictions; the difference is small, and an additive game fitted to
it gives the rest of the Shapley values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.designs import draw_pairs, pair_keys
from topshap.algorithms.odd_gp.surrogate import additive_fit, kernel_weights
from topshap.core import coalitions as co
from topshap.core.tables import shapley_from_table
from topshap.statistics.least_squares import share_of

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.logit_gp import LogitGP
    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.core.typing import Coalitions, Matrix, Players, Values

SAMPLED_PER_PAIR, SAMPLED = 32, (4096, 16384)
"""The number of sampled pairs per observed pair, the smallest and the largest number.

The more pairs are observed, the smaller the error of the surrogates, which that of the sampling adds to."""


class KnownModel(NamedTuple):
    """A model of the odd part: its predictions of the sampled pairs, and its Shapley values."""

    predicted: Values
    shapley_values: Values

    def mixed_with(self, other: KnownModel, share: float) -> KnownModel:
        """Return the model with this share of another one."""
        return KnownModel(
            (1.0 - share) * self.predicted + share * other.predicted,
            (1.0 - share) * self.shapley_values + share * other.shapley_values,
        )


def enumerated_shapley_values(process: LogitGP, pairs: ComplementPairs, variance: float) -> Values:
    """Return the Shapley values of the predictions of all coalitions, with the known values where there are any."""
    table = process.predict_all(variance)
    table[co.to_ids(pairs.x > 0)], table[co.to_ids(pairs.x < 0)] = pairs.values, pairs.complement_values
    return shapley_from_table(table - table[0])


def sampled_shapley_values(
    process: LogitGP, surrogate: OddSurrogate, pairs: ComplementPairs, variance: float, rng: np.random.Generator
) -> tuple[Values, Matrix]:
    """Return the Shapley values of a surrogate on logit values, and their covariance due to the sampled pairs."""
    m, n = pairs.x.shape
    drawn = draw_pairs(n, int(np.clip(SAMPLED_PER_PAIR * m, *SAMPLED)), 1.0, rng)
    x = np.where(drawn, 1.0, -1.0)
    odd, even = process.logits(x)
    predicted = process.warp.expected_part(odd, even, variance)
    on_values = surrogate.predict(x)
    sampled, observed = _known_among(drawn, pairs)
    predicted[sampled] = on_values[sampled] = observed  # both surrogates know the observed pairs
    first = KnownModel(on_values, surrogate.shapley_values()[0])
    second = additive_logits(process, x, odd, even, variance)
    model = first.mixed_with(second, best_share(x, predicted, first, second))
    missing = 2.0 * pairs.odd[0] - model.shapley_values.sum()  # of the grand coalition, which is the first pair
    coefficients, spread = additive_fit(x, predicted - model.predicted, missing)
    return model.shapley_values + coefficients, spread


def additive_logits(process: LogitGP, x: Matrix, odd: Values, even: Values, variance: float) -> KnownModel:
    """Return the model whose logits are the additive game closest to those of a process."""
    weights = kernel_weights(x)
    effects, constant = additive_effects(x, odd, weights), float(np.average(even, weights=weights))
    predicted = process.warp.expected_part(x @ effects, constant, variance)
    return KnownModel(predicted, process.warp.additive_shapley_values(constant, effects, variance))


def best_share(x: Matrix, predicted: Values, first: KnownModel, second: KnownModel) -> float:
    """Return the share of the second model in the mixture whose difference from the predictions is best sampled.

    The sampling error is that of the additive game fitted to the difference, and grows with its weighted residuals.
    """
    weights = kernel_weights(x)
    differences = np.stack([predicted - first.predicted, predicted - second.predicted], axis=1)
    left = weights[:, None] * (differences - x @ additive_effects(x, differences, weights))
    return share_of(left[:, 0], left[:, 1])


def additive_effects(x: Matrix, odd: Matrix | Values, weights: Values) -> Matrix:
    """Return the effects of the players in the additive games closest to odd parts."""
    weighted = x * weights[:, None]
    return linalg.solve(weighted.T @ x, weighted.T @ odd, assume_a="pos")


def _known_among(drawn: Coalitions, pairs: ComplementPairs) -> tuple[Players, Values]:
    """Return the sampled pairs that were observed, and their odd parts."""
    places = {key: place for place, key in enumerate(pair_keys(pairs.x > 0))}
    found = np.array([places.get(key, -1) for key in pair_keys(drawn)])
    sampled = np.flatnonzero(found >= 0)
    observed = found[sampled]
    same_coalition = drawn[sampled, 0] == (pairs.x[observed, 0] > 0)
    return sampled, np.where(same_coalition, 1.0, -1.0) * pairs.odd[observed]
