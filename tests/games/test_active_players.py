"""Games without their known dummies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.known_dummies import players_to_play, with_dummies
from topshap.games.active_players import ActivePlayers


def game_of(weights, pairs=()):
    """Return a game in which players with weight 0 that are in no pair are dummies."""
    return topshap.games.UnanimityGame(
        [[i] for i in range(len(weights))] + [list(pair) for pair in pairs],
        [*weights, *[1.5] * len(pairs)],
        n_players=len(weights),
    )


WEIGHTS = st.lists(st.sampled_from([0.0, 0.0, -2.0, -1.0, 0.5, 3.0]), min_size=3, max_size=8)


@given(weights=WEIGHTS, data=st.data(), rank_by=st.sampled_from(["value", "magnitude", "lowest"]))
def test_the_smaller_game_gives_the_same_values_and_an_optimal_set(weights, data, rank_by):
    n = len(weights)
    k = data.draw(st.integers(1, n))
    game = game_of(weights)
    players = players_to_play(np.array(weights) == 0.0, k, guaranteed=False)
    smaller = topshap.identify(ActivePlayers(game, players), k=min(k, len(players)), rank_by=rank_by, random_state=0)
    whole = topshap.identify(game, k=k, rank_by=rank_by, random_state=0)
    top = with_dummies(smaller, players, n, k)
    np.testing.assert_allclose(top.estimates, whole.estimates, atol=1e-12)
    assert len(set(top.players.tolist())) == k
    key = topshap.statistics.ranking.rank_key
    np.testing.assert_allclose(
        np.sort(key(top.estimates[top.players], rank_by)),
        np.sort(key(whole.estimates[whole.players], rank_by)),
        atol=1e-12,
    )


@given(weights=WEIGHTS, data=st.data())
def test_a_guaranteed_set_of_the_smaller_game_is_right_in_the_whole_game(weights, data):
    n = len(weights)
    k = data.draw(st.integers(1, n - 1))
    game = game_of(weights)
    players = players_to_play(np.array(weights) == 0.0, k, guaranteed=True)
    assert k < len(players) or len(players) == n
    smaller = topshap.identify(ActivePlayers(game, players), k=k, epsilon=0.1, random_state=0)
    top = with_dummies(smaller, players, n, k)
    assert topshap.metrics.inclusion_exclusion_error(np.array(weights), top.players) <= 0.1


def test_coalitions_that_differ_only_in_dummies_are_evaluated_once():
    asked = []

    class Game:
        n_players = 4

        def __call__(self, coalitions):
            asked.append(coalitions)
            return coalitions @ np.array([2.0, 0.0, 1.0, 0.0])

    top = topshap.identify(ActivePlayers(Game(), [0, 2]), k=1)
    assert top.stopped == "exact"
    assert top.evaluations == sum(map(len, asked)) == 4


def test_uncertainty_and_history_of_dummies_are_zero():
    rng = np.random.default_rng(0)
    game = topshap.games.UnanimityGame(
        [rng.choice(12, 3, replace=False).tolist() for _ in range(20)], rng.normal(size=20), n_players=12
    )
    smaller = topshap.identify(game, k=2, budget=100, random_state=0)
    players = np.arange(12) + 2
    top = with_dummies(smaller, players, 15, 2, names=tuple("abcdefghijklmno"))
    assert top.covariance.shape == (15, 15)
    np.testing.assert_array_equal(top.covariance[np.ix_(players, players)], smaller.covariance)
    assert np.count_nonzero(top.covariance) == np.count_nonzero(smaller.covariance)
    np.testing.assert_array_equal(top.std_errors[[0, 1, 14]], 0.0)
    assert top.history.estimates.shape[1] == 15
    assert top.names == tuple("abcdefghijklmno"[i] for i in top.players)
    assert "15 players" in str(top)


def test_a_game_of_dummies_only_has_one_player():
    assert players_to_play(np.array([True, True]), 1, guaranteed=False).tolist() == [0]


def test_the_fingerprint_covers_the_game_and_the_players():
    game = topshap.games.AdditiveGame([1.0, 2.0, 3.0])
    prints = {ActivePlayers(game, players).fingerprint for players in ([0, 1], [0, 2], [0, 1, 2])}
    assert len(prints) == 3
    assert None not in prints
    other = ActivePlayers(topshap.games.AdditiveGame([1.0, 2.0, 4.0]), [0, 1])
    assert other.fingerprint not in prints


@pytest.mark.parametrize("players", [[], [1, 0], [0, 0], [-1, 0], [0, 3]])
def test_players_must_be_increasing_indices(players):
    with pytest.raises(topshap.errors.ParameterError, match="increasing indices of the 3 players"):
        ActivePlayers(topshap.games.AdditiveGame([1.0, 2.0, 3.0]), players)
