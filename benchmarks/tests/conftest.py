"""Random games with known Shapley values, and a game that records its coalitions."""

from __future__ import annotations

import numpy as np
import pytest

from topshap.core.coalitions import from_ids, keys
from topshap.games import TableGame


class RecordedGame:
    """A game that records the evaluated coalitions in order."""

    def __init__(self, game):
        self.game = game
        self.n_players = game.n_players
        self.asked = []

    def __call__(self, coalitions):
        self.asked.extend(keys(coalitions))
        return self.game(coalitions)


@pytest.fixture(scope="session")
def random_game():
    """Return a function that makes a game whose 2**n values are independent normal numbers."""
    return lambda n, seed=0: TableGame(np.random.default_rng(seed).normal(size=2**n))


@pytest.fixture(scope="session")
def smooth_game():
    """Return a function that makes a game of weights and pairwise interactions."""

    def make(n, seed=0):
        rng = np.random.default_rng(seed)
        coalitions = from_ids(np.arange(2**n), n).astype(float)
        interactions = np.triu(rng.normal(size=(n, n)), k=1)
        return TableGame(coalitions @ rng.normal(size=n) + ((coalitions @ interactions) * coalitions).sum(axis=1))

    return make


@pytest.fixture(scope="session")
def counted():
    """Return a function that wraps a game in one that records the evaluated coalitions."""
    return RecordedGame
