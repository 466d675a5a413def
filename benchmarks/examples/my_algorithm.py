"""An algorithm of your own for the race: marginal contributions to random coalitions.

In every round, each player i gets a random coalition S of the other players, with a uniform size. The mean of the
samples v(S + i) - v(S) is an unbiased estimate of the Shapley value of player i.
"""

from typing import ClassVar

import numpy as np

from topshap.algorithms import Algorithm, Rounds, Task
from topshap.core.standing import MeanStanding


class RandomMarginals(Algorithm[MeanStanding]):
    """Estimate every player from random coalitions of its own."""

    name: ClassVar[str] = "random-marginals"

    def standing(self, task: Task) -> MeanStanding:
        """Return the estimates at the start of a race: a mean of samples per player."""
        return MeanStanding(task.tie_order, task.gain, pairs=False)

    def rounds(self, task: Task, standing: MeanStanding) -> Rounds:
        """Yield the coalitions of one round, receive their values, and add a sample per player."""
        n, players = task.n, np.arange(task.n)
        while True:
            positions = task.rng.random((n, n)).argsort(axis=1)  # a random order of all players for each player
            without = positions < positions[players, players][:, None]
            coalitions = np.concatenate([without | np.eye(n, dtype=np.bool_), without])
            values = yield coalitions
            if len(values) < len(coalitions):  # the budget ended within the round
                return
            standing.add_rounds((values[:n] - values[n:])[None])
