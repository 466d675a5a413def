"""Enumeration: all coalitions, for games whose budget covers them."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import from_ids
from topshap.core.standing import FittedStanding
from topshap.core.stopping import GUARANTEES
from topshap.statistics.least_squares import efficient_least_squares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.algorithm import HowOutputs
    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Coalitions, Values

IDS_PER_ROUND = 2**18
"""The largest number of coalitions in a round."""


class Enumeration(Algorithm[FittedStanding]):
    """Evaluate every coalition; the race then computes the exact values.

    Up to 18 players, one round holds all coalitions, and small coalitions and their complements come first. If such a
    race ends before all are known, its estimates are least squares with the weights of the Shapley kernel, without
    standard errors. With more players, estimates are available only at the end, and so are those of pairs.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> top = topshap.identify(game, k=1, budget=8)
    >>> top.algorithm, top.stopped, top.estimates
    ('enumeration', 'exact', array([3., 1., 2.]))
    """

    name: ClassVar[str] = "enumeration"
    outputs: ClassVar[HowOutputs] = "each"
    orders: ClassVar[tuple[int, ...]] = (1, 2)
    guarantees: ClassVar[tuple[Guarantee, ...]] = GUARANTEES
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = GUARANTEES

    def standing(self, problem: Problem) -> FittedStanding:
        """Return the standing at the start of a race."""
        return problem.fitted_standing()

    def rounds(self, problem: Problem, standing: FittedStanding) -> Rounds:
        """Evaluate all coalitions."""
        n = problem.n
        if 2**n <= IDS_PER_ROUND:
            coalitions = from_ids(ids_by_size(n), n)
            yield Round(coalitions, lambda values: estimate(problem, standing, coalitions, values))
            return
        for start in range(0, 2**n, IDS_PER_ROUND):
            yield Round(from_ids(np.arange(start, start + IDS_PER_ROUND), n), lambda _: None)


def ids_by_size(n: int) -> NDArray[np.intp]:
    """Return the ids of all coalitions, each followed by its complement, the smallest coalitions first.

    Examples
    --------
    >>> ids_by_size(3)
    array([0, 7, 1, 6, 2, 5, 3, 4])
    """
    ids = np.arange(2 ** (n - 1))
    sizes = from_ids(ids, n).sum(axis=1)
    ids = ids[np.argsort(np.minimum(sizes, n - sizes), kind="stable")]
    return np.stack([ids, 2**n - 1 - ids], axis=1).ravel()


def estimate(problem: Problem, standing: FittedStanding, coalitions: Coalitions, values: Values) -> None:
    """Estimate from a prefix of the coalitions; the first two are the empty and the grand coalition."""
    if problem.order != 1 or not 2 < len(values) < len(coalitions):
        return
    known = coalitions[2 : len(values)]
    weights = kernel_weights(problem.n)[known.sum(axis=1)]
    not_drawn = np.full(len(known), -1)
    standing.set(*efficient_least_squares(known, values[2:] - problem.empty, weights, problem.gain, not_drawn))


def kernel_weights(n: int) -> Values:
    """Return the weight of a coalition in the Shapley kernel by its size, 0 for the empty and the grand coalition."""
    return np.array([0.0, *((n - 1) / (comb(n, size) * size * (n - size)) for size in range(1, n)), 0.0])
