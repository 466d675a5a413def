"""A custom algorithm for the race: marginal contributions to random coalitions.

In every round, each player i gets a random coalition S of the other players, whose size is uniform. The mean of the
samples v(S + i) - v(S) is an unbiased estimate of the Shapley value of player i.
"""

from functools import partial
from typing import ClassVar

import numpy as np

from topshap.algorithms import Algorithm, Problem, Round, Rounds
from topshap.core.mean_standing import MeanStanding
from topshap.core.typing import Values


class RandomMarginals(Algorithm[MeanStanding]):
    """Estimate every player from its own random coalitions."""

    name: ClassVar[str] = "random-marginals"
    extendable: ClassVar[bool] = True  # it does not depend on the budget

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the initial estimates of a race: one mean of samples per player."""
        return problem.mean_standing(pairs=False)

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Yield the coalitions of each round with the function that processes their values."""
        players = np.arange(problem.n)
        while True:
            positions = problem.rng.random((problem.n, problem.n)).argsort(axis=1)  # a random order for each player
            without = positions < positions[players, players][:, None]
            coalitions = np.repeat(without, 2, axis=0)
            coalitions[2 * players, players] = True
            yield Round(coalitions, partial(add_samples, standing), next_is_independent=True)


def add_samples(standing: MeanStanding, values: Values) -> None:
    """Add v(S + i) - v(S) for every player with two known values, since the budget may end within a round."""
    known = len(values) // 2
    if known > 0:
        standing.add(values[: 2 * known : 2] - values[1 : 2 * known : 2], np.arange(known))
