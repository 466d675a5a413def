"""BUS, Gap-E and SAR: players are arms, and a pull takes two evaluations."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import BUS, SAR, GapE, make
from topshap.algorithms.baselines.bus import nearest_to_border
from topshap.algorithms.baselines.gap_e import gaps_to_border
from topshap.algorithms.baselines.sar import SARStanding, most_clear_cut
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.mean_standing import MeanStanding
from topshap.games import AdditiveGame, TableGame

every_bandit = pytest.mark.parametrize("algorithm", ["bus", "gap-e", "sar"])


def finished(game, k, budget, algorithm):
    race = topshap.Race(game.n_players, k, budget=budget, algorithm=algorithm, counting="calls", random_state=0)
    while not race.done:
        race.tell(game(race.ask()))
    return race


def standing_with(counts, estimates):
    standing = MeanStanding(np.arange(len(counts)), 0.0, pairs=False)
    for player, (count, estimate) in enumerate(zip(counts, estimates, strict=True)):
        standing.add(np.full((count, 1), float(estimate)), np.array([player]))
    return standing


def close_game(n=8):
    """Return a game with three players around the border of the top 3, clear players on both sides, and some noise."""
    noise = 0.5 * np.random.default_rng(0).normal(size=2**n)
    return TableGame(from_ids(np.arange(2**n), n) @ [9.0, 8.0, 1.2, 1.0, 0.8, -6.0, -7.0, -8.0] + noise)


# All three algorithms.


@every_bandit
def test_a_pull_compares_a_coalition_with_and_without_one_player(play, random_game, algorithm):
    batch = play(make(algorithm), random_game(6), k=2, budget=60).batch
    with_it, without = batch[::2], batch[1::2]
    assert len(with_it) == len(without) == 6
    assert np.all(without <= with_it)
    np.testing.assert_array_equal((with_it & ~without).sum(axis=1), 1)
    assert (with_it & ~without).any(axis=0).all()


@every_bandit
def test_estimates_are_the_means_of_the_evaluated_contributions(play, random_game, algorithm):
    played = play(make(algorithm), random_game(6), k=2, budget=60)
    for _ in range(25):
        assert played.answer()
    rows, values = played.accesses()
    pulled = np.flatnonzero(rows[::2] ^ rows[1::2]) % 6
    np.testing.assert_array_equal(played.standing.counts, np.bincount(pulled, minlength=6))
    means = [(values[::2] - values[1::2])[pulled == player].mean() for player in range(6)]
    np.testing.assert_allclose(played.standing.estimates, means, atol=1e-12)


@every_bandit
@pytest.mark.parametrize("answered", [0, 1, 2, 3, 6, 11])
def test_an_incomplete_pull_is_not_used(play, random_game, algorithm, answered):
    played = play(make(algorithm), random_game(6), k=2, budget=60)
    assert not played.answer(answered)
    assert played.standing.counts.sum() == answered // 2


@every_bandit
def test_a_budget_of_one_pull_per_player_samples_every_player(random_game, algorithm):
    race = finished(random_game(6), 2, 2 + 2 * 6, algorithm)
    assert race.standing.counts.min() >= 1


@every_bandit
def test_players_near_the_border_are_sampled_more_than_those_far_from_it(algorithm):
    counts = finished(close_game(), 3, 600, algorithm).standing.counts
    assert counts[[2, 3, 4]].mean() > 2 * counts[[0, 1, 5, 6, 7]].mean()


@every_bandit
def test_no_player_tied_at_the_border_takes_all_pulls(algorithm):
    """Nothing distinguishes the players with value 0."""
    game = AdditiveGame([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    counts = finished(game, 3, 202, algorithm).standing.counts
    if algorithm == "sar":
        assert counts[1:].min() >= 5
    else:
        assert counts[1:].max() <= 2 * counts[1:].min()


@every_bandit
def test_all_players_of_a_constant_game_are_sampled(algorithm):
    counts = finished(AdditiveGame(np.zeros(5)), 2, 102, algorithm).standing.counts
    if algorithm == "sar":
        assert counts.min() >= 5
    else:
        assert np.ptp(counts) <= 1


@every_bandit
def test_with_k_equal_to_n_all_players_are_sampled_equally(random_game, algorithm):
    counts = finished(random_game(6), 6, 200, algorithm).standing.counts
    assert np.ptp(counts) <= 1
    assert counts.min() >= 16


# BUS.


def test_bus_takes_the_smallest_product_of_distance_and_count():
    standing = standing_with([4, 2, 2, 1], [5.0, 3.0, 1.0, -4.0])  # the border of the top 2 is at 2
    assert nearest_to_border(standing, 2) == 1
    standing = standing_with([4, 9, 9, 1], [5.0, 3.0, 1.0, -4.0])
    assert nearest_to_border(standing, 2) == 3


def test_bus_without_a_border_keeps_the_counts_even():
    assert nearest_to_border(standing_with([2, 1, 2], [1.0, 2.0, 3.0]), 3) == 1


def test_of_several_players_on_the_border_bus_takes_the_one_sampled_least():
    assert nearest_to_border(standing_with([3, 9, 2, 9], [5.0, 1.0, 1.0, 1.0]), 2) == 2


def test_bus_follows_its_index_pull_by_pull(play, random_game):
    played = play(BUS(), random_game(7), k=3)
    played.answer()
    for _ in range(60):
        expected = nearest_to_border(played.standing, 3)
        (player,) = np.flatnonzero(played.batch[0] ^ played.batch[1])
        assert player == expected
        played.answer()


# Gap-E.


def test_the_gap_of_a_player_is_to_the_nearest_on_the_other_side():
    np.testing.assert_array_equal(gaps_to_border(np.array([5.0, 3.0, 2.0, 0.0]), 2), [3.0, 1.0, 1.0, 3.0])
    np.testing.assert_array_equal(gaps_to_border(np.array([5.0, 3.0]), 2), [0.0, 0.0])


def test_gap_e_first_samples_every_player_twice(random_game):
    counts = finished(random_game(8), 3, 2 + 2 * 16, "gap-e").standing.counts
    assert counts.min() >= 2


def test_more_exploration_spreads_the_samples():
    spread = {}
    for exploration in (1e-4, 1e4):
        counts = finished(close_game(), 3, 600, GapE(exploration=exploration)).standing.counts
        spread[exploration] = np.ptp(counts)
    assert spread[1e4] < spread[1e-4] / 2


@pytest.mark.parametrize("exploration", [0, -1.0, float("nan"), float("inf"), "1", True])
def test_gap_e_refuses_an_invalid_exploration(exploration):
    with pytest.raises(ParameterError, match="The 'exploration' parameter of GapE must be a finite number above 0"):
        GapE(exploration=exploration)


# SAR.


def sar_standing(estimates):
    standing = SARStanding(np.arange(len(estimates)), 0.0)
    standing.add(np.array([estimates], dtype=float))
    return standing


def test_the_most_clear_cut_player_is_the_one_farthest_from_the_border():
    assert most_clear_cut(sar_standing([9.0, 3.0, 2.0, 0.0]), np.arange(4), 2) == (0, True)
    assert most_clear_cut(sar_standing([5.0, 3.0, 2.0, -2.0]), np.arange(4), 2) == (3, False)
    assert most_clear_cut(sar_standing([9.0, 3.0, 2.0, 0.0]), np.array([1, 2, 3]), 1) == (3, False)


def test_sar_ranks_accepted_players_first_and_rejected_players_last():
    standing = sar_standing([1.0, 5.0, 3.0])
    standing.verdict[:] = [1.0, -1.0, 0.0]
    assert standing.ranking().tolist() == [0, 2, 1]


def test_sar_neither_reverses_a_decision_nor_samples_a_decided_player():
    game, race = close_game(), topshap.Race(8, 3, budget=400, algorithm=SAR(), counting="calls", random_state=0)
    race.tell(game(race.ask()))
    verdicts, frozen = np.zeros(8), {}
    while not race.done:
        race.tell(game(race.ask()))
        standing = race.standing
        assert np.all((verdicts == 0) | (standing.verdict == verdicts))  # type: ignore[attr-defined]
        for player in np.flatnonzero(standing.verdict):  # type: ignore[attr-defined]
            assert frozen.setdefault(int(player), standing.counts[player]) == standing.counts[player]
        verdicts = standing.verdict.copy()  # type: ignore[attr-defined]
    accepted, rejected = (verdicts > 0).sum(), (verdicts < 0).sum()
    assert accepted <= 3
    assert rejected <= 5
    assert accepted + rejected >= 6
    assert set(np.flatnonzero(verdicts > 0)) <= set(race.result().players.tolist())
    assert not set(np.flatnonzero(verdicts < 0)) & set(race.result().players.tolist())


def test_the_phases_of_sar_are_as_long_as_published():
    """A player decided after phase j has the pulls of the budget divided by log-bar(n) (n + 1 - j)."""
    n, budget = 8, 4002
    counts = np.sort(finished(AdditiveGame(2.0 ** np.arange(n)), 3, budget, "sar").standing.counts)
    log_bar = 0.5 + sum(1 / i for i in range(2, n + 1))
    pulls = (budget - 2) / (2 - 2 / n)  # the empty and the grand coalition are free: 2 / n per pull on average
    np.testing.assert_allclose(counts[:5], [pulls / log_bar / (n + 1 - j) for j in range(1, 6)], rtol=0.04)


@every_bandit
def test_standard_errors_are_up_to_date_after_every_batch(algorithm, smooth_game):
    race = topshap.Race(6, 2, budget=300, algorithm=algorithm, counting="calls", random_state=0)
    while not race.done:
        race.tell(smooth_game(6)(race.ask()))
        if race.calls > 2 and not race.done:
            standing = race.standing
            with np.errstate(invalid="ignore"):
                expected = np.sqrt(standing.variances() / standing.counts)  # type: ignore[attr-defined]
            np.testing.assert_array_equal(standing.std_errors, expected)
    assert not np.isnan(race.result().std_errors).any()
