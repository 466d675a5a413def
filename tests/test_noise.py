"""Games whose values vary from call to call."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.games import UnanimityGame


class NoisyGame:
    """A sum of unanimity games with independent noise on every evaluation."""

    deterministic = False

    def __init__(self, noise=0.5, n_players=8, seed=0):
        self._game = UnanimityGame([[0], [1, 2], [3, 4, 5]], [2.0, 3.0, 1.5], n_players=n_players)
        self._rng = np.random.default_rng(seed)
        self._noise = noise
        self.n_players = n_players
        self.evaluations = 0

    def __call__(self, coalitions):
        self.evaluations += len(coalitions)
        return self._game(coalitions) + self._noise * self._rng.normal(size=len(coalitions))

    def shapley_values(self):
        return self._game.shapley_values()


@pytest.mark.parametrize("algorithm", [name for name, kind in ALGORITHMS.items() if kind.takes_noise])
@pytest.mark.parametrize("budget", [2, 11, 18, 100, 333, 1000])
def test_every_evaluation_counts_and_no_result_is_exact(algorithm, budget):
    game = NoisyGame()
    top = topshap.identify(game, k=2, budget=budget, algorithm=algorithm, random_state=0)
    assert game.evaluations == top.evaluations <= budget
    if algorithm != "kernelshap":  # it never repeats a coalition, and there are only 256
        assert top.evaluations == budget
    assert top.stopped == ("budget" if top.evaluations == budget else "finished")
    assert not top.deterministic
    assert np.isfinite(top.estimates).all()


def test_a_noisy_game_of_one_player_is_not_exact():
    game = NoisyGame(n_players=8)
    top = topshap.identify(lambda c: game(np.repeat(c, 8, axis=1)), 1, k=1, budget=10, random_state=0)
    assert top.stopped == "exact"  # a plain function cannot declare noise
    race = topshap.Race(n_players=1, k=1, budget=10, deterministic=False)
    race.tell([0.0, 1.0])
    assert race.result().stopped == "finished"


def test_the_leaderboard_says_that_values_vary():
    assert "values vary" in str(topshap.identify(NoisyGame(), k=2, budget=60, random_state=0))


def test_odd_gp_averages_out_the_noise():
    """The root mean square error over 10 runs falls at least threefold from 100 to 3000 noisy evaluations."""
    errors = {
        budget: np.sqrt(
            np.mean(
                [
                    (game.shapley_values() - topshap.identify(game, k=3, budget=budget, **options).estimates) ** 2
                    for seed in range(10)
                    for game, options in [(NoisyGame(seed=seed), {"algorithm": "odd-gp", "random_state": seed})]
                ]
            )
        )
        for budget in (100, 3000)
    }
    assert errors[3000] < errors[100] / 3
