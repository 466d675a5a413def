"""Races of odd-gp of order 2 for a fixed budget."""

import numpy as np
import pytest

import topshap
from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.even.rounds import first_pair_design
from topshap.core.tables import shapley_from_table


def race(game, **options):
    return topshap.identify(game, **{"k": 2, "order": 2, "random_state": 0} | options)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 3), (4, 2), (4, 7), (8, 5), (8, 12), (8, 60), (30, 200)])
def test_the_first_design_has_distinct_pairs(n, count):
    design = first_pair_design(n, count, np.random.default_rng(0))
    assert len(design) == len(set(pair_keys(design))) == count
    if n <= count < 5 * n:
        assert set(pair_keys(np.eye(n, dtype=bool))) <= set(pair_keys(design))


def test_auto_chooses_odd_gp_and_finds_the_strongest_pairs(smooth_game):
    game = smooth_game(n=10)
    top = race(game, budget=200)
    assert (top.algorithm, top.evaluations) == ("odd-gp", 200)
    assert set(top.players) == set(np.argsort(-np.abs(game.interactions))[:2])
    assert np.sqrt(np.mean((top.estimates - game.interactions) ** 2)) < 0.05 * np.ptp(game.interactions)


@pytest.mark.parametrize("rank_by", ["value", "lowest"])
def test_pairs_are_found_by_value_and_from_the_lowest(smooth_game, rank_by):
    game = smooth_game(n=10)
    top = race(game, budget=300, rank_by=rank_by)
    sign = 1.0 if rank_by == "value" else -1.0
    assert set(top.players) == set(np.argsort(-sign * game.interactions)[:2])


@pytest.mark.parametrize("budget", [3, 4, 7, 12, 18, 19, 100, 255])
def test_any_budget_is_spent_completely(smooth_game, budget):
    top = race(smooth_game(n=8), budget=budget)
    assert top.evaluations == budget
    assert np.isfinite(top.estimates).all()


@pytest.mark.parametrize("budget", [2, 3])
def test_without_a_complement_pair_nothing_is_known(smooth_game, budget, capfd):
    top = race(smooth_game(n=8), budget=budget)
    assert top.evaluations == budget
    assert (top.estimates == 0).all()
    assert np.isnan(top.std_errors).all()
    assert not capfd.readouterr().err


def test_the_estimate_is_almost_exact_if_only_two_coalitions_are_missing(smooth_game):
    game = smooth_game(n=7)
    top = race(game, budget=126, algorithm="odd-gp")
    assert top.estimates == pytest.approx(game.interactions, abs=5e-3)
    assert top.shapley_values == pytest.approx(shapley_from_table(game.values), abs=1e-2)


def test_the_same_seed_gives_the_same_result(smooth_game):
    one, other = (race(smooth_game(n=10), budget=150) for _ in range(2))
    assert (one.estimates == other.estimates).all()


def test_a_game_without_interactions_has_none():
    top = race(topshap.games.AdditiveGame(np.arange(10.0)), budget=100)
    assert top.estimates == pytest.approx(0.0, abs=1e-9)


def test_a_constant_game_has_no_interactions():
    top = race(lambda coalitions: np.ones(len(coalitions)), n_players=10, budget=100)
    assert top.estimates == pytest.approx(0.0, abs=1e-12)


def test_estimates_scale_with_the_game(smooth_game):
    game = smooth_game(n=10)
    one = race(lambda coalitions: 8.0 * game(coalitions), n_players=10, budget=150)
    other = race(lambda coalitions: 2.0**43 * game(coalitions), n_players=10, budget=150)
    assert other.estimates / 2.0**40 == pytest.approx(one.estimates, rel=1e-6, abs=1e-9)


def test_values_that_vary_from_call_to_call_are_averaged(smooth_game):
    game, rng = smooth_game(n=10), np.random.default_rng(1)

    class Noisy:
        n_players, deterministic = 10, False

        def __call__(self, coalitions):
            return game(coalitions) + rng.normal(0.0, 0.05, len(coalitions))

    top = race(Noisy(), budget=1000)
    assert np.sqrt(np.mean((top.estimates - game.interactions) ** 2)) < 0.1 * np.ptp(game.interactions)
    assert np.mean(np.abs(top.estimates - game.interactions) <= 1.96 * top.std_errors) > 0.8


def test_many_pairs_have_a_covariance_of_those_ranked_first():
    game = topshap.games.UnanimityGame([[0, 1], [2, 3, 4], [5], [6, 7]], [3.0, 2.0, 1.0, -2.5], n_players=40)
    top = race(game, k=3, budget=400)
    assert top.pairs[0].tolist() == [0, 1]
    assert len(top.covariance.candidates) == 600
    assert (top.std_errors >= 0).all()
    assert len(top.std_errors) == 780


def test_interactions_are_available_after_a_race_for_players(smooth_game):
    game = smooth_game(n=10)
    top = topshap.identify(game, k=2, budget=200, random_state=0)
    found = top.interactions
    assert top.algorithm == "odd-gp"
    assert found.estimates.shape == (45,)
    assert np.sqrt(np.mean((found.estimates - game.interactions) ** 2)) < 0.1 * np.ptp(game.interactions)


def test_more_players_than_the_model_allows_are_refused():
    game = topshap.games.AdditiveGame(np.ones(201))
    with pytest.raises(topshap.ParameterError, match="more than 200 players"):
        race(game, budget=500)


def test_a_design_of_fewer_complement_pairs_than_players_has_several_sizes():
    sizes = first_pair_design(40, 30, np.random.default_rng(0)).sum(axis=1)
    assert len(np.unique(np.minimum(sizes, 40 - sizes))) > 5
