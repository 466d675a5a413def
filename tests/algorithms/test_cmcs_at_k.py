"""CMCS@K and SamplingSHAP@k: the two closest players across the border."""

from dataclasses import replace

import numpy as np
import pytest

import topshap
from topshap.algorithms import CMCSAtK, SamplingSHAPAtK
from topshap.algorithms.closest_pair import closest_across_border
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.mean_standing import MeanStanding
from topshap.core.stopping import Credible, OverlappingIntervals
from topshap.games import TableGame

either = pytest.mark.parametrize("algorithm", [CMCSAtK, SamplingSHAPAtK])


def counts_after(game, k, budget, algorithm):
    race = topshap.Race(game.n_players, k, budget=budget, algorithm=algorithm, counting="calls", random_state=0)
    while not race.done:
        race.tell(game(race.ask()))
    return race.standing.counts


def test_the_pair_has_the_lowest_lower_bound_above_and_the_highest_upper_bound_below_the_border():
    standing = MeanStanding(np.arange(5), 0.0, pairs=True)
    spread = np.array([[-1.0], [1.0]]) * [0.1, 3.0, 0.1, 0.1, 4.0]
    standing.add(np.array([9.0, 8.0, 7.0, 3.0, 2.0]) + spread)
    assert closest_across_border(standing, 3, 0.05) == (1, 4)
    assert closest_across_border(standing, 4, 0.05) == (1, 4)
    assert closest_across_border(standing, 1, 0.05) == (0, 1)


def test_a_player_whose_error_is_not_known_is_the_closest():
    standing = MeanStanding(np.arange(4), 0.0, pairs=True)
    standing.add(np.array([[9.0, 8.0, 3.0], [9.1, 8.1, 3.1]]), np.array([0, 1, 3]))
    assert closest_across_border(standing, 2, 0.05)[1] == 2


def warmed_up(played, warm_up):
    while played.standing.counts.min() < warm_up:
        played.answer()
    return played


@either
@pytest.mark.parametrize("warm_up", [2, 7])
def test_the_warm_up_samples_all_players_and_later_rounds_two(play, random_game, algorithm, warm_up):
    played = warmed_up(play(algorithm(warm_up=warm_up), random_game(6), k=2), warm_up)
    assert played.standing.counts.tolist() == [warm_up] * 6
    for _ in range(10):
        before = played.standing.counts.copy()
        assert len(played.batch) == (3 if algorithm is CMCSAtK else 4)
        played.answer()
        assert sorted(played.standing.counts - before) == [0, 0, 0, 0, 1, 1]


@either
@pytest.mark.parametrize(("own", "of_the_race"), [(0.01, None), (0.9, None), (0.9, 1e-9)])
def test_the_pair_is_chosen_at_the_level_of_the_race_or_else_of_the_algorithm(
    play, random_game, algorithm, own, of_the_race
):
    played = warmed_up(play(algorithm(warm_up=5, delta=own), random_game(8), k=3, delta=of_the_race), 5)
    for _ in range(40):
        before = played.standing.counts.copy()
        expected = closest_across_border(played.standing, 3, (of_the_race or own) / 8)
        played.answer()
        assert sorted(np.flatnonzero(played.standing.counts - before)) == sorted(expected)


def test_both_players_of_a_round_are_compared_against_the_same_coalition(play, random_game):
    played = warmed_up(play(CMCSAtK(warm_up=2), random_game(6), k=2), 2)
    for _ in range(5):
        anchor, first, second = played.batch
        assert (anchor ^ first).sum() == (anchor ^ second).sum() == 1
        assert not np.array_equal(first, second)
        played.answer()


def test_both_players_of_a_round_join_in_the_same_permutation(play, random_game):
    played = warmed_up(play(SamplingSHAPAtK(warm_up=2), random_game(6), k=2), 2)
    for _ in range(10):
        with_i, without_i, with_j, without_j = played.batch
        assert (with_i & ~without_i).sum() == (with_j & ~without_j).sum() == 1
        assert np.all(with_i <= without_j) or np.all(with_j <= without_i)  # one player joined before the other
        played.answer()


@either
def test_the_sampled_contributions_are_differences_of_evaluated_values(play, random_game, algorithm):
    played = warmed_up(play(algorithm(warm_up=2), random_game(6), k=2), 2)
    for _ in range(20):
        before_count, before_mean = played.standing.counts.copy(), played.standing.estimates.copy()
        rows, values = played.batch.copy(), played.game(played.batch)
        pairs = [(1, 0), (2, 0)] if algorithm is CMCSAtK else [(0, 1), (2, 3)]
        played.answer()
        for one, other in pairs:
            (player,) = np.flatnonzero(rows[one] ^ rows[other])
            amount = (values[one] - values[other]) * (1 if rows[one, player] else -1)
            mean = (before_mean[player] * before_count[player] + amount) / (before_count[player] + 1)
            assert played.standing.estimates[player] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("algorithm", "answered", "sampled"),
    [
        *[(CMCSAtK, answered, sampled) for answered, sampled in ((0, 0), (1, 0), (2, 1))],
        *[(SamplingSHAPAtK, answered, sampled) for answered, sampled in ((0, 0), (1, 0), (2, 1), (3, 1))],
    ],
)
def test_an_incomplete_comparison_counts_for_the_sampled_player(play, random_game, algorithm, answered, sampled):
    played = warmed_up(play(algorithm(warm_up=2), random_game(6), k=2), 2)
    assert not played.answer(answered)
    assert played.standing.counts.sum() == 2 * 6 + sampled


@either
def test_players_far_from_the_border_are_hardly_sampled_after_the_warm_up(smooth_game, algorithm):
    coalitions = from_ids(np.arange(2**6), 6)
    game = TableGame(coalitions @ [9.0, 8.0, 1.1, 1.0, -6.0, -7.0] + 0.05 * smooth_game(6).values)
    after_the_warm_up = counts_after(game, 3, 400, algorithm()) - 30
    assert after_the_warm_up[[2, 3]].sum() > 0.9 * after_the_warm_up.sum()


@either
def test_with_k_equal_to_n_all_players_are_sampled_equally(random_game, algorithm):
    counts = counts_after(random_game(6), 6, 400, algorithm(warm_up=2))
    assert np.ptp(counts) <= 1
    assert counts.min() > 50


@either
def test_the_published_rule_requires_the_samples_of_the_warm_up(play, random_game, algorithm):
    problem = replace(play(algorithm(), random_game(4)).problem, epsilon=0.1, delta=0.05, guarantee="published")
    rule = algorithm(warm_up=12).stopping_rule(problem)
    assert rule == OverlappingIntervals(0.1, 0.05, min_samples=12)
    assert rule.guarantee == "published"
    assert algorithm().stopping_rule(replace(problem, guarantee="credible")) == Credible(0.1, 0.05)


@either
@pytest.mark.parametrize("wrong", [{"warm_up": 1}, {"warm_up": 2.0}, {"warm_up": "auto"}, {"delta": 0}, {"delta": 1.0}])
def test_invalid_parameters_are_refused(algorithm, wrong):
    (name,) = wrong
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of {algorithm.__name__} must be"):
        algorithm(**wrong)
