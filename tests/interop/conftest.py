"""A result to export."""

import pytest

import topshap
from topshap.games import UnanimityGame


@pytest.fixture(scope="session")
def game():
    return UnanimityGame([[0, 1], [2, 3], [5]], [3.0, 1.0, 0.5], n_players=8)


@pytest.fixture(scope="session")
def estimated(game):
    """Return a function that estimates the top 2 of the game."""

    def run(**options):
        return topshap.identify(game, **({"k": 2, "budget": 60, "algorithm": "cmcs", "random_state": 0} | options))

    return run
