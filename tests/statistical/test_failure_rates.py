"""Error rates of races that stop by themselves: a small part of the report of `topshap-bench guarantee`.

All seeds are fixed. With delta = 0.1 and 16 runs, a rule with an error rate of delta is wrong 1.6 times on average, and
more than 5 times with a probability of 0.3%. The rules tested here are meant to be conservative.
"""

import numpy as np
import pytest

import topshap
from topshap.core.interactions import interactions_from_table
from topshap.games import UnanimityGame
from topshap.reference.metrics import inclusion_exclusion_error
from topshap.statistics.ranking import rank_key
from topshap_bench.adversarial import K, adversarial_game, kinds_for
from topshap_bench.runs import error_of, lead_of_set
from topshap_bench.stability import wrong_borders

DELTA, RUNS, MOST_WRONG = 0.1, 16, 5


@pytest.mark.parametrize("kind", kinds_for())
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


@pytest.mark.parametrize("kind", ["near-tie", "tie", "rare-pivot", "unanimity"])
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
def test_a_clear_gap_is_not_wrong_significantly_more_often_than_delta(kind, epsilon):
    wrong = 0
    for seed in range(RUNS):
        game = adversarial_game(kind, seed, n_players=8)
        exact = game.shapley_values()
        least = epsilon * float(np.ptp(exact))
        top = topshap.identify(game, k="clear", epsilon=least, delta=DELTA, random_state=seed)
        lead = lead_of_set(exact, top.players)
        wrong += top.stopped == "confident" and (lead < least - 1e-9 or lead < 1e-9)
    assert wrong <= MOST_WRONG


@pytest.mark.parametrize("algorithm", ["odd-gp", "cmcs"])
@pytest.mark.parametrize("kind", ["near-tie", "tie", "unanimity"])
def test_stable_ranks_and_sizes_are_not_wrong_significantly_more_often_than_delta(kind, algorithm):
    wrong_ranks = wrong_sizes = 0
    for seed in range(RUNS):
        game = adversarial_game(kind, seed, n_players=8)
        top = topshap.identify(game, k=K, budget=150, algorithm=algorithm, random_state=seed)
        stable, wrong = top.stable_ranks(1.0 - DELTA), wrong_borders(game.shapley_values(), top.ranking)
        wrong_ranks += bool(wrong[: stable.count].any())
        wrong_sizes += any(wrong[k - 1] for k in stable.sizes)
    assert wrong_ranks <= MOST_WRONG
    assert wrong_sizes <= MOST_WRONG


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ({"rank_by": "magnitude"}, "near-tie-magnitude"),
        ({"rank_by": "magnitude"}, "tie-magnitude"),
        ({"rank_by": "magnitude"}, "rare-pivot"),
        ({"ordered": True}, "near-tie-order"),
        ({"ordered": True}, "tie-order"),
        ({"ordered": True}, "rare-pivot"),
        ({"rank_by": "magnitude", "ordered": True}, "near-tie-magnitude"),
        ({"rank_by": "magnitude", "order": 2}, "near-tie-pairs"),
        ({"rank_by": "magnitude", "order": 2}, "tie-pairs"),
    ],
)
@pytest.mark.parametrize("relative", [0.002, 0.0])
def test_the_error_rate_of_other_goals_is_not_significantly_above_delta(goal, kind, relative):
    wrong = 0
    for seed in range(RUNS):
        game = adversarial_game(kind, seed, n_players=8)
        exact = interactions_from_table(game.values) if "order" in goal else game.shapley_values()
        epsilon = relative * float(np.ptp(exact))
        options = {"epsilon": epsilon, "delta": DELTA, "algorithm": "odd-gp@k", "random_state": seed}
        top = topshap.identify(game, k=K, **options, **goal)
        keys = rank_key(exact, goal.get("rank_by", "value"))
        wrong += error_of(keys, top.players, ordered=top.ordered) > epsilon + 1e-9
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
