import numpy as np
import pytest

from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.core.coalitions import from_ids
from topshap.core.interactions import interactions_from_table


class SmoothGame:
    """A sigmoid of main effects and a few products; all values are known."""

    def __init__(self, n=8, seed=0, steepness=1.0):
        rng = np.random.default_rng(seed)
        x = 2.0 * from_ids(np.arange(2**n), n) - 1.0
        score = x @ rng.normal(size=n) * 0.4 + 0.5 * x[:, 0] * x[:, 1] - 0.4 * x[:, 2] * x[:, 3] * x[:, 4] * x[:, 5]
        self.n_players = n
        self.values = 1.0 / (1.0 + np.exp(-steepness * score))
        self.interactions = interactions_from_table(self.values)

    def __call__(self, coalitions):
        return self.values[coalitions @ (1 << np.arange(self.n_players))]

    def pairs(self, count, seed=0):
        """The grand coalition's pair and some others."""
        rng, n = np.random.default_rng(seed), self.n_players
        ids = np.concatenate([[2**n - 1], 2 ** (n - 1) + rng.permutation(2 ** (n - 1) - 1)[:count]])
        return ComplementPairs(2.0 * from_ids(ids, n) - 1.0, self.values[ids], self.values[2**n - 1 - ids])


@pytest.fixture
def smooth_game():
    return SmoothGame
