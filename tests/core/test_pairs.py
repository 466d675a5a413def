"""Pairs as candidates: their order, and races of order 2."""

import asyncio
import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms.registry import ALGORITHMS
from topshap.core.errors import ParameterError, RaceError
from topshap.core.known_dummies import players_to_play, with_dummies
from topshap.core.pairs import all_pairs, n_candidates, pair_at, pair_positions, players_of_pairs
from topshap.core.standing import FittedStanding
from topshap.reference.exact import shapley_interactions, shapley_values

NAMES = ("age", "sex", "bmi", "fat", "map")


def game(coalitions):
    a, b, c, d, e = np.asarray(coalitions, dtype=float).T
    return 3.0 * a - 2.0 * a * b + 1.5 * c * d + 0.5 * b * c * e + 0.1 * d * e


def found(k=2, **options) -> Any:
    return topshap.identify(game, 5, k, **{"order": 2, "random_state": 0, "player_names": NAMES} | options)


@given(st.integers(2, 60))
def test_pairs_are_in_lexicographic_order(n):
    pairs = all_pairs(n)
    assert len(pairs) == n_candidates(n, 2)
    assert pairs.tolist() == sorted(pairs.tolist())
    assert np.array_equal(pair_positions(pairs[:, ::-1], n), np.arange(len(pairs)))
    assert [pair_at(i, n) for i in range(len(pairs))] == [tuple(pair) for pair in pairs.tolist()]
    assert players_of_pairs(len(pairs)) == n


@pytest.mark.parametrize("rank_by", ["magnitude", "value", "lowest"])
def test_a_budget_for_all_coalitions_gives_exact_pairs(rank_by):
    top = found(k=3, rank_by=rank_by)
    exact = shapley_interactions(game, 5)
    assert isinstance(top, topshap.TopPairs)
    assert (top.stopped, top.algorithm, top.evaluations, top.confidence) == ("exact", "enumeration", 32, 1.0)
    np.testing.assert_allclose(top.estimates, exact, atol=1e-12)
    np.testing.assert_allclose(top.shapley_values, shapley_values(game, 5), atol=1e-12)
    assert not top.std_errors.any()
    keys = {"magnitude": np.abs(exact), "value": exact, "lowest": -exact}[rank_by]
    np.testing.assert_allclose(keys[top.players], np.sort(keys)[::-1][:3], atol=1e-12)


def test_a_result_knows_its_pairs_by_index_by_name_and_as_a_matrix():
    top = found()
    assert top.rank_by == "magnitude"
    assert (top.n_players, top.n_candidates, top.k, top.order) == (5, 10, 2, 2)
    assert top.names == ("age x sex", "bmi x fat")
    assert top.pairs.tolist() == [[0, 1], [2, 3]]
    assert top.matrix.shape == (5, 5)
    assert np.array_equal(top.matrix, top.matrix.T)
    assert not np.diag(top.matrix).any()
    assert top.matrix[0, 1] == top.estimates[0]
    assert found(player_names=None).names == ("0 x 1", "2 x 3")
    assert top.interval().shape == (10, 2)
    assert top.pairwise().shape == (10, 10)


def test_ties_are_broken_at_random():
    tied = {
        topshap.identify(topshap.games.AdditiveGame([1.0] * 4), k=1, order=2, random_state=s).names for s in range(9)
    }
    assert len(tied) > 1


def test_a_race_asks_and_tells_and_a_store_resumes(tmp_path):
    race = topshap.Race(5, 2, order=2, random_state=0)
    assert (race.order, race.n_candidates, race.n_players) == (2, 10, 5)
    while not race.done:
        race.tell(game(race.ask()))
    top: Any = race.result()
    assert top.pairs.tolist() == [[0, 1], [2, 3]]
    asked = []
    for _ in range(2):
        with topshap.Store(tmp_path / "run.db", game="pairs") as store:
            stored = topshap.StoredRace(topshap.Race(5, 2, order=2, random_state=0), store)
            while not stored.done:
                asked.append(len(coalitions := stored.ask()))
                stored.tell(game(coalitions))
    assert sum(asked) == 32
    assert isinstance(stored.result(), topshap.TopPairs)


def test_async_games_have_pairs():
    async def one(coalition):
        return float(game(coalition[None])[0])

    top: Any = asyncio.run(topshap.aidentify(topshap.games.per_coalition(one, 5), k=2, order=2, random_state=0))
    assert top.pairs.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("factor", [1e-310, 1e250])
def test_values_of_any_size_have_pairs(factor):
    top: Any = topshap.identify(lambda coalitions: factor * game(coalitions), 5, 2, order=2, random_state=0)
    assert top.pairs.tolist() == [[0, 1], [2, 3]]
    np.testing.assert_allclose(top.estimates[0] / factor, -2.0, rtol=1e-6)
    np.testing.assert_allclose(top.shapley_values / factor, shapley_values(game, 5), rtol=1e-6)


@pytest.mark.parametrize("factor", [1.0, 2.0**-900, -1.0])
def test_estimates_of_an_algorithm_are_in_the_units_of_the_game(pairs_algorithm, factor):
    def additive(coalitions):
        return factor * coalitions.sum(axis=1)

    top: Any = topshap.identify(additive, 6, 2, order=2, budget=10, algorithm=pairs_algorithm(), random_state=0)
    np.testing.assert_allclose(top.estimates / factor, np.arange(1.0, 16.0))
    np.testing.assert_allclose(top.std_errors / abs(factor), 1.0)
    assert top.players.tolist() == [14, 13]
    assert 0.0 < top.confidence < 1.0
    assert top.inclusion.sum() == pytest.approx(2.0)
    assert top.history is not None
    assert top.history.estimates.shape[1] == 15


def test_the_number_of_pairs_to_find_and_the_order_are_checked():
    with pytest.raises(ParameterError, match=r"'k' parameter of identify must be an int in \[1, 10\]. Got 11"):
        found(k=11)
    with pytest.raises(ParameterError, match=r"'order' parameter of identify must be an int in \[1, 2\]. Got 3"):
        found(order=3)
    with pytest.raises(ParameterError, match="single player"):
        topshap.Race(1, 1, order=2)


@pytest.mark.parametrize("name", [name for name, kind in ALGORITHMS.items() if 2 not in kind.orders])
def test_other_algorithms_refuse_pairs_by_name(name):
    with pytest.raises(ParameterError, match=rf"'algorithm'.*ranks pairs \(order=2\).*Got '{name}'"):
        found(algorithm=name, budget=20)


def test_several_outputs_are_refused():
    def two(coalitions):
        return np.stack([game(coalitions)] * 2, axis=1)

    with pytest.raises(ParameterError, match=r"'order' parameter.*1 for a game with several outputs"):
        topshap.identify(two, 5, 2, order=2)
    with pytest.raises(ParameterError, match=r"'order' parameter.*1 for a game with several outputs"):
        topshap.Race(5, 2, order=2, n_outputs=2)


def test_two_hundred_players_take_little_memory(pairs_algorithm):
    tracemalloc = pytest.importorskip("tracemalloc")
    tracemalloc.start()
    top: Any = topshap.identify(
        lambda coalitions: coalitions.sum(axis=1) * 1.0,
        200,
        5,
        order=2,
        budget=20,
        algorithm=pairs_algorithm(),
        random_state=0,
    )
    assert top.n_candidates == 19_900
    assert 0.0 < top.confidence <= 1.0
    assert len(top.tied) == 0
    assert top.pairwise(top.ranking[:100]).shape == (100, 100)
    assert len(str(top)) < 2000
    assert top.history is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300 * 2**20
    with pytest.raises(ParameterError, match=r"'players'.*given if there are more than 2,000 pairs.*ranking\[:100\]"):
        top.pairwise()


def test_players_left_out_are_named_and_do_not_hide_the_confidence(pairs_algorithm):
    top: Any = topshap.identify(
        lambda coalitions: coalitions.sum(axis=1) * 1.0,
        6,
        2,
        order=2,
        budget=20,
        algorithm=pairs_algorithm(left_out=[1, 5]),
        random_state=0,
    )
    assert top.left_out.tolist() == [1, 5]
    assert 0.0 < top.confidence <= 1.0
    assert np.isnan(top.inclusion[0])
    assert "Only pairs among 4 of 6 players were estimated; left_out lists the others." in top.promise


def test_a_pair_with_a_known_dummy_is_worth_nothing():
    explainer = topshap.Explainer(lambda X: X[:, 0] * X[:, 2] + X[:, 3], np.zeros((1, 4)), random_state=0)
    top: Any = explainer.explain([2.0, 0.0, 3.0, 1.0], k=6, order=2)
    assert (top.n_players, top.evaluations) == (4, 8)
    assert top.pairs[0].tolist() == [0, 2]
    np.testing.assert_allclose(top.matrix[0, 2], 6.0)
    assert not top.matrix[1].any()
    np.testing.assert_allclose(top.shapley_values, [3.0, 0.0, 3.0, 1.0])


def test_the_players_of_the_smaller_game_have_at_least_one_pair():
    dummies = np.array([True, True, True])
    assert players_to_play(dummies, 1, guaranteed=False, order=2).tolist() == [0, 1]
    some = np.array([False, True, False, True])
    assert players_to_play(some, 1, guaranteed=True, order=2).tolist() == [0, 1, 2]
    assert players_to_play(some, 3, guaranteed=True, order=2).tolist() == [0, 1, 2, 3]


def test_dummies_keep_covariances_and_players_left_out(pairs_algorithm):
    top: Any = topshap.identify(
        lambda coalitions: coalitions.sum(axis=1) * 1.0,
        5,
        2,
        order=2,
        budget=20,
        algorithm=pairs_algorithm(left_out=[4]),
        random_state=0,
    )
    players = np.array([0, 2, 3, 5, 6])
    whole: Any = with_dummies(top, players, 7, 3)
    assert whole.left_out.tolist() == [6]
    assert all_pairs(7)[whole.covariance.candidates].tolist() == [[0, 2], [0, 3]]
    assert np.array_equal(whole.covariance.matrix, top.covariance.matrix)
    np.testing.assert_array_equal(whole.matrix[np.ix_(players, players)], top.matrix)


def test_exact_results_have_their_interactions():
    top: Any = topshap.identify(game, 5, 2, random_state=0, player_names=NAMES)
    pairs = top.interactions
    assert isinstance(pairs, topshap.TopPairs)
    assert pairs.names == ("age x sex", "bmi x fat")
    assert pairs is top.interactions
    np.testing.assert_allclose(pairs.shapley_values, top.estimates)
    np.testing.assert_allclose(pairs.estimates, found().estimates)
    assert (pairs.stopped, pairs.evaluations, pairs.rank_by) == ("exact", 32, "magnitude")


@pytest.mark.parametrize("factor", [1.0, -(2.0**-900)])
def test_an_algorithm_may_provide_interactions_which_are_computed_on_demand(pairs_algorithm, factor):
    def additive(coalitions):
        return factor * coalitions.sum(axis=1)

    algorithm = pairs_algorithm()
    top: Any = topshap.identify(additive, 6, 2, budget=10, algorithm=algorithm, random_state=0)
    assert algorithm.computed == 0
    assert top.interactions.estimates[0] == factor
    assert len(top.interactions.players) == 2
    assert algorithm.computed == 1


def test_interactions_of_dummies_are_zero():
    explainer = topshap.Explainer(lambda X: X[:, 0] * X[:, 2] + X[:, 3], np.zeros((1, 4)), random_state=0)
    pairs = explainer.explain([2.0, 0.0, 3.0, 1.0], k=2).interactions
    np.testing.assert_allclose(pairs.matrix[0, 2], 6.0)
    assert pairs.n_players == 4
    assert pairs.pairs[0].tolist() == [0, 2]
    lonely = explainer.explain([0.0, 0.0, 0.0, 1.0], k=2).interactions
    assert not lonely.estimates.any()


def test_results_without_interactions_say_so(tmp_path):
    top: Any = topshap.identify(game, 5, 2, budget=20, algorithm="cmcs", random_state=0)
    with pytest.raises(RaceError, match="This result of 'cmcs' has no interactions"):
        _ = top.interactions
    exact = topshap.identify(game, 5, 2, random_state=0)
    exact.save(tmp_path / "top.json")
    for other in (topshap.load(tmp_path / "top.json"), copy.deepcopy(exact), pickle.loads(pickle.dumps(exact))):
        with pytest.raises(RaceError, match="has no interactions"):
            _ = other.interactions
    with pytest.raises(RaceError, match="its estimates are the interactions"):
        _ = found().interactions
    with pytest.raises(RaceError, match="single player"):
        _ = topshap.identify(topshap.games.AdditiveGame([1.0]), k=1).interactions


def test_a_standing_may_know_only_standard_errors():
    standing = FittedStanding(np.arange(2), np.zeros(2))
    assert np.isnan(standing.std_errors).all()
    standing.set(np.ones(2), std_errors=np.array([0.5, 1.0]))
    assert standing.covariance() is None
    assert standing.std_errors.tolist() == [0.5, 1.0]
