"""Error rates of races that stop by themselves: a small part of the report of `topshap-bench guarantee`.

All seeds are fixed. With delta = 0.1 and 16 runs, a rule with an error rate of delta is wrong 1.6 times on average, and
more than 5 times with a probability of 0.3%. The rules tested here are meant to be conservative.
"""

import numpy as np
import pytest

import topshap
from topshap.games import UnanimityGame
from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.adversarial import KINDS, K, adversarial_game

DELTA, RUNS, MOST_WRONG = 0.1, 16, 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ["odd-gp@k", "swap@k"])
def test_the_error_rate_is_not_significantly_above_delta(algorithm, kind):
    wrong = 0
    for seed in range(RUNS):
        game = adversarial_game(kind, seed, n_players=8)
        exact = game.shapley_values()
        epsilon = 0.002 * float(np.ptp(exact))
        top = topshap.identify(game, k=K, epsilon=epsilon, delta=DELTA, algorithm=algorithm, random_state=seed)
        wrong += inclusion_exclusion_error(exact, top.players) > epsilon + 1e-9
    assert wrong <= MOST_WRONG


@pytest.mark.parametrize("n", [30, 60])
def test_large_games_take_fewer_evaluations_than_the_published_algorithm_and_are_right(n):
    rng = np.random.default_rng(n)
    sets = [rng.choice(n, rng.integers(1, 7), replace=False).tolist() for _ in range(2 * n)]
    game = UnanimityGame(sets, rng.exponential(size=2 * n), n_players=n)
    exact = game.shapley_values()
    epsilon = 0.05 * float(np.ptp(exact))
    ours, theirs = (
        topshap.identify(game, k=5, epsilon=epsilon, algorithm=algorithm, guarantee=guarantee, random_state=0)
        for algorithm, guarantee in (("auto", "asymptotic"), ("cmcs@k", "published"))
    )
    assert ours.evaluations < theirs.evaluations
    assert inclusion_exclusion_error(exact, ours.players) <= epsilon
