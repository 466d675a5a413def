"""Interactions of pairs of players after a race for single players, from the same evaluations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.blas import one_thread
from topshap.algorithms.odd_gp.even.rounds import covariance_of
from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate
from topshap.algorithms.odd_gp.regime import RICH_MODEL_UP_TO
from topshap.core.pairs import PairEstimates

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.pairs import ComplementPairs
    from topshap.core.typing import Values

FIT, FITTED_TO = 8, 100
"""Iterations of the fit, and the number of complement pairs to fit to.

The relevances are those of the race, which leaves little to fit, and surrogates on logit values are left out. Both
limit the time to a fraction of that of the race.
"""


def interactions_afterwards(
    pairs: ComplementPairs, relevance: Values, *, noise: bool, max_pairs: int
) -> Callable[[], PairEstimates] | None:
    """Return a function that estimates the interactions, None if there are too many players or too few pairs.

    Parameters
    ----------
    pairs
        The complement pairs of the race, in the order of their evaluation. Pairs that are added later do not count.
    relevance
        The relevances of the players by that fit.
    noise
        Whether values vary from call to call.
    max_pairs
        The largest number of complement pairs the process is conditioned on.
    """
    m, n = pairs.x.shape
    if not 2 <= n <= RICH_MODEL_UP_TO or m < 2:
        return None
    return partial(_estimate, replace(pairs), relevance, noise, max_pairs)


def _estimate(pairs: ComplementPairs, relevance: Values, noise: bool, max_pairs: int) -> PairEstimates:
    surrogate = EvenSurrogate(np.random.default_rng(0), noise=noise, max_pairs=max_pairs)
    known, learned = pairs.evenly_ordered(), min(len(pairs), max_pairs)
    rows = np.unique(np.linspace(0, learned - 1, FITTED_TO).astype(np.intp))
    with one_thread():
        surrogate.adapt(known.x, known.even, relevance, rows, iterations=FIT)
        found = surrogate.interactions()
    return PairEstimates(found.estimates, found.std_errors, covariance_of(found))
