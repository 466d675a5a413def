"""Greedy CMCS: the selection of the players to sample next."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import topshap
from topshap.algorithms import CMCS, GreedyCMCS
from topshap.algorithms.greedy_cmcs import PRIOR_DEGREES, doubtful_players, probability_of_wrong_order
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.mean_standing import MeanStanding
from topshap.games import AdditiveGame, TableGame


def standing_of(samples):
    samples = np.array(samples, dtype=float)
    standing = MeanStanding(np.arange(samples.shape[1]), samples.sum(axis=1).mean(), pairs=True)
    standing.add(samples)
    return standing


def counts_after(game, k, budget, seed=0, **options):
    race = topshap.Race(
        game.n_players, k, budget=budget, algorithm=GreedyCMCS(**options), counting="calls", random_state=seed
    )
    while not race.done:
        race.tell(game(race.ask()))
    return race.standing.counts


def test_the_probability_of_a_wrong_order_is_that_of_a_normal_difference():
    samples = np.random.default_rng(0).normal([2.0, 1.5, 1.0, 0.0], 1.0, size=(25, 4))
    top, rest = np.array([0, 1]), np.array([2, 3])
    wrong = probability_of_wrong_order(standing_of(samples), top, rest)
    for row, i in enumerate(top):
        for column, j in enumerate(rest):
            difference = samples[:, j] - samples[:, i]
            z = math.sqrt(25) * difference.mean() / difference.std(ddof=1)
            assert wrong[row, column] == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2)


def test_only_rounds_that_both_players_shared_count():
    shared = np.random.default_rng(0).normal([1.0, 0.0], 1.0, size=(12, 2))
    standing = standing_of(shared)
    standing.add(np.full((30, 1), 50.0), np.array([1]))
    difference = shared[:, 1] - shared[:, 0]
    z = math.sqrt(12) * difference.mean() / difference.std(ddof=1)
    wrong = probability_of_wrong_order(standing, np.array([0]), np.array([1]))
    assert wrong[0, 0] == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2)


def test_the_most_uncertain_pair_is_always_drawn_and_the_clearest_never_alone():
    samples = np.random.default_rng(1).normal([9.0, 5.0, 4.9, 0.0], 0.5, size=(30, 4))
    standing = standing_of(samples)
    rng = np.random.default_rng(0)
    drawn = [set(doubtful_players(standing, 2, rng.random((2, 2))).tolist()) for _ in range(50)]
    assert all({1, 2} <= players for players in drawn)
    assert all(players != {0, 3} for players in drawn)
    assert any(players == {1, 2} for players in drawn)


def test_a_pair_is_drawn_with_its_rescaled_probability_of_a_wrong_order():
    samples = np.random.default_rng(2).normal([2.0, 1.0, 0.7, 0.4, 0.1], 1.5, size=(30, 5))
    standing = standing_of(samples)
    top, rest = standing.partition(1)
    wrong = probability_of_wrong_order(standing, top, rest)[0]
    expected = (wrong - wrong.min()) / np.ptp(wrong)
    rng = np.random.default_rng(0)
    drawn = np.mean([np.isin(rest, doubtful_players(standing, 1, rng.random((1, 4)))) for _ in range(2000)], axis=0)
    np.testing.assert_allclose(drawn, expected, atol=4 * 0.5 / math.sqrt(2000))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_all_players_are_drawn_if_all_pairs_are_equally_uncertain(k):
    standing = standing_of(np.zeros((5, 4)))
    assert sorted(doubtful_players(standing, k, np.full((k, 4 - k), 0.5))) == [0, 1, 2, 3]


def test_no_player_is_drawn_twice():
    rng = np.random.default_rng(0)
    standing = standing_of(rng.normal(size=(10, 8)))
    for _ in range(50):
        players = doubtful_players(standing, 3, rng.random((3, 5)))
        assert len(set(players.tolist())) == len(players) >= 2


def test_the_warm_up_samples_every_player(random_game):
    assert np.all(counts_after(random_game(6), 2, 2 + 7 * 5, warm_up=5) >= 5)


def test_players_near_the_border_are_sampled_more_than_those_far_from_it():
    coalitions = from_ids(np.arange(2**8), 8)
    noise = 0.6 * np.random.default_rng(0).normal(size=2**8)
    game = TableGame(coalitions @ [9.0, 8.0, 1.05, 1.0, 0.95, -6.0, -7.0, -8.0] + noise)
    counts = counts_after(game, 3, 900)
    near, far = counts[[2, 3, 4]], counts[[0, 1, 5, 6, 7]]
    assert near.mean() > 2 * far.mean()


def test_sampling_continues_in_additive_games():
    """All samples are equal: without a floor, every probability of a wrong order would be 0 or undefined."""
    counts = counts_after(AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1]), 3, 700)
    assert counts[[1, 4]].min() > 60  # the third and the fourth
    assert counts.min() >= 30


def test_sampling_continues_evenly_in_constant_games():
    counts = counts_after(AdditiveGame(np.zeros(6)), 2, 2 + 60 * 7)
    assert np.ptp(counts) <= 1
    assert counts.min() >= 55


@pytest.mark.parametrize("answered", [0, 1, 2, 3])
def test_an_incomplete_comparison_counts_for_the_sampled_players(play, random_game, answered):
    played = play(GreedyCMCS(warm_up=2), random_game(6), k=3, seed=3)
    played.answer()
    before = played.standing.counts.copy()
    assert len(played.batch) > 3
    flipped = [np.flatnonzero(row ^ played.batch[0])[0] for row in played.batch[1:]]
    assert not played.answer(answered)
    expected = before.copy()
    expected[flipped[: max(answered - 1, 0)]] += 1
    np.testing.assert_array_equal(played.standing.counts, expected)


def test_with_k_equal_to_n_greedy_cmcs_is_plain_cmcs(random_game):
    game, options = random_game(7), {"k": 7, "budget": 400, "counting": "calls", "random_state": 0}
    greedy = topshap.identify(game, algorithm=GreedyCMCS(warm_up=2), **options)
    plain = topshap.identify(game, algorithm=CMCS(), **options)
    np.testing.assert_allclose(greedy.estimates, plain.estimates, atol=1e-12)


def test_two_equal_samples_do_not_decide_a_pair_with_shrunken_variances():
    """The samples of players 0 and 2 happen to agree; those of all others vary."""
    standing = standing_of([[1.0, 3.0, 0.9, -2.0], [1.0, -1.0, 0.9, 2.0]])
    top, rest = np.array([0, 1]), np.array([2, 3])
    plain = probability_of_wrong_order(standing, top, rest)
    shrunken = probability_of_wrong_order(standing, top, rest, PRIOR_DEGREES)
    difference = np.array([[-0.1, -1.0], [-0.1, -1.0]])
    variance = np.array([[0.0, 8.0], [8.0, 32.0]])
    expected = ndtr(difference * np.sqrt(2 / ((5 * 12.0 + variance) / 6)))
    np.testing.assert_allclose(shrunken, expected)
    assert shrunken[0, 0] > 0.4
    assert plain[0, 1] != pytest.approx(shrunken[0, 1])


def test_the_automatic_warm_up_samples_all_players_twice(play, random_game):
    played = play(GreedyCMCS(warm_up="auto"), random_game(12), k=3, seed=1)
    played.answer()
    assert played.standing.counts.tolist() == [2] * 12
    while len(played.batch) == 13:
        played.answer()
    assert played.standing.counts.max() < 30  # the rounds are greedy long before those of the published warm-up


def test_the_automatic_warm_up_gives_other_races_than_two_rounds(random_game):
    game, options = random_game(10), {"k": 3, "budget": 300, "counting": "calls", "random_state": 0}
    shrunken, plain = (
        topshap.identify(game, algorithm=GreedyCMCS(warm_up=warm_up), **options).estimates for warm_up in ("auto", 2)
    )
    assert not np.array_equal(shrunken, plain)


@pytest.mark.parametrize("guarantee", ["published", "credible"])
def test_races_that_stop_by_themselves_keep_the_published_warm_up(random_game, guarantee):
    game = random_game(7)
    options = {"k": 2, "epsilon": 0.2, "guarantee": guarantee, "counting": "calls", "random_state": 0}
    automatic, published = (
        topshap.identify(game, algorithm=GreedyCMCS(warm_up=warm_up), **options) for warm_up in ("auto", 30)
    )
    assert automatic.calls == published.calls >= 30 * 8
    np.testing.assert_array_equal(automatic.estimates, published.estimates)


def test_sampling_continues_in_additive_and_constant_games_with_the_automatic_warm_up():
    additive = counts_after(AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1]), 3, 700, warm_up="auto")
    assert additive[[1, 4]].min() > 60  # the third and the fourth
    assert np.ptp(counts_after(AdditiveGame(np.zeros(6)), 2, 2 + 60 * 7, warm_up="auto")) <= 1


def test_an_automatic_warm_up_with_k_equal_to_n_is_plain_cmcs(random_game):
    game, options = random_game(7), {"k": 7, "budget": 400, "counting": "calls", "random_state": 0}
    greedy = topshap.identify(game, algorithm=GreedyCMCS(warm_up="auto"), **options)
    plain = topshap.identify(game, algorithm=CMCS(), **options)
    np.testing.assert_allclose(greedy.estimates, plain.estimates, atol=1e-12)


@pytest.mark.parametrize("warm_up", ["Auto", "", "30"])
def test_only_auto_is_a_name_of_a_warm_up(warm_up):
    with pytest.raises(ParameterError, match=f"must be an int of at least 2, or 'auto'. Got '{warm_up}' instead"):
        GreedyCMCS(warm_up=warm_up)


@pytest.mark.parametrize("warm_up", [1, 0, 2.5, True, None])
def test_an_invalid_warm_up_is_refused(warm_up):
    with pytest.raises(ParameterError, match="The 'warm_up' parameter of GreedyCMCS must be an int of at least 2"):
        GreedyCMCS(warm_up=warm_up)
