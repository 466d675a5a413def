"""Probabilities of the top k, compared with closed forms."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.statistics import top_k_probability as posterior
from topshap.statistics.top_k_probability import DRAWS, FEW, top_k_probabilities

FOUR_ERRORS = 4 * 0.5 / math.sqrt(DRAWS)
"""Four standard errors of a share of DRAWS draws."""


def probability_of_set(*question):
    return top_k_probabilities(*question).of_set


def probability_in_top_k(k, *question):
    return top_k_probabilities(np.arange(k), *question).of_player


def normal_cdf(z):
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("ahead", [-0.5, 0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("correlation", [None, -0.8, 0.0, 0.9])
def test_one_of_two_is_ahead_with_the_probability_of_a_normal_difference(ahead, correlation):
    errors = np.array([0.5, 0.8])
    shared = 0.0 if correlation is None else correlation * errors.prod()
    covariance = None if correlation is None else np.array([[0.25, shared], [shared, 0.64]])
    expected = normal_cdf(ahead / math.sqrt(0.25 + 0.64 - 2 * shared))
    estimates = np.array([ahead, 0.0])
    assert probability_of_set(np.array([0]), estimates, errors, covariance) == pytest.approx(expected, abs=FOUR_ERRORS)
    included = probability_in_top_k(1, estimates, errors, covariance)
    assert included[0] == pytest.approx(expected, abs=FOUR_ERRORS)


@given(st.integers(2, 9), st.integers(0, 99), st.data())
def test_the_probabilities_of_inclusion_add_up_to_k(n, seed, data):
    k = data.draw(st.integers(1, n))
    rng = np.random.default_rng(seed)
    included = probability_in_top_k(k, rng.normal(size=n), rng.uniform(0.1, 1.0, n), None)
    assert included.sum() == pytest.approx(k)
    assert np.all((included >= 0) & (included <= 1))


def test_equal_players_have_equal_inclusion_probabilities():
    included = probability_in_top_k(2, np.zeros(5), np.ones(5), None)
    np.testing.assert_allclose(included, 0.4, atol=FOUR_ERRORS)


def test_a_set_is_never_more_likely_than_each_of_its_members():
    rng = np.random.default_rng(0)
    estimates, errors = rng.normal(size=6), np.full(6, 0.5)
    players = np.argsort(-estimates)[:3]
    included = probability_in_top_k(3, estimates, errors, None)
    assert probability_of_set(players, estimates, errors, None) <= included[players].min() + FOUR_ERRORS


def test_an_unknown_standard_error_makes_all_probabilities_unknown():
    estimates, errors = np.array([3.0, 2.0, 1.0]), np.array([0.1, np.nan, 0.1])
    assert math.isnan(probability_of_set(np.array([0]), estimates, errors, None))
    assert np.isnan(probability_in_top_k(1, estimates, errors, None)).all()


def test_all_players_are_in_the_top_n():
    estimates, errors = np.array([3.0, 2.0]), np.array([np.nan, 0.1])
    assert probability_of_set(np.array([0, 1]), estimates, errors, None) == 1.0
    assert probability_in_top_k(2, estimates, errors, None).tolist() == [1.0, 1.0]


def test_different_values_without_errors_are_certain():
    estimates, errors = np.array([1.0, 3.0, 2.0]), np.zeros(3)
    assert probability_of_set(np.array([1, 2]), estimates, errors, np.zeros((3, 3))) == 1.0
    assert probability_in_top_k(2, estimates, errors, np.zeros((3, 3))).tolist() == [0.0, 1.0, 1.0]


def test_probabilities_do_not_depend_on_the_global_random_state():
    rng = np.random.default_rng(0)
    question = rng.normal(size=6), np.full(6, 0.5), None
    np.random.seed(1)
    first = probability_in_top_k(2, *question)
    np.random.seed(2)
    np.testing.assert_array_equal(probability_in_top_k(2, *question), first)


def test_many_players_are_drawn_in_blocks_to_the_same_result(monkeypatch):
    rng = np.random.default_rng(0)
    estimates, errors = rng.normal(size=80), np.full(80, 0.5)
    covariance = np.diag(errors**2) + 0.05
    for shared in (None, covariance):
        monkeypatch.undo()
        at_once = probability_in_top_k(5, estimates, errors, shared)
        monkeypatch.setattr(posterior, "_NUMBERS_PER_BLOCK", 80 * 700)
        np.testing.assert_array_equal(probability_in_top_k(5, estimates, errors, shared), at_once)


def test_an_estimated_covariance_may_be_slightly_indefinite():
    covariance = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    assert np.linalg.eigvalsh(covariance)[0] < 0
    included = probability_in_top_k(1, np.zeros(3), np.ones(3), covariance)
    assert included.sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def many():
    """Return estimates, standard errors and covariance of many players, all of which may be on either side."""
    rng = np.random.default_rng(0)
    factors = 0.3 * rng.normal(size=(FEW + 100, 20))
    covariance = factors @ factors.T
    covariance[np.diag_indices(len(covariance))] += rng.uniform(0.0, 0.1, len(covariance))
    return rng.normal(size=len(covariance)), np.sqrt(np.diag(covariance)), covariance


@pytest.mark.parametrize("rank_by", ["value", "magnitude", "lowest"])
def test_many_players_have_the_same_probabilities_as_by_eigenvalues(many, rank_by, monkeypatch):
    estimates, errors, covariance = many
    merit = {"value": estimates, "magnitude": np.abs(estimates), "lowest": -estimates}[rank_by]
    players = np.argsort(-merit)[:5]
    found = top_k_probabilities(players, estimates, errors, covariance, rank_by)
    monkeypatch.setattr(posterior, "FEW", len(estimates))
    expected = top_k_probabilities(players, estimates, errors, covariance, rank_by)
    assert found.of_set == pytest.approx(expected.of_set, abs=1.5 * FOUR_ERRORS)
    np.testing.assert_allclose(found.of_player, expected.of_player, atol=1.5 * FOUR_ERRORS)
    assert 0.1 < expected.of_player.max() < 0.99


def test_a_large_covariance_may_be_singular(many, monkeypatch):
    estimates, _, covariance = many
    centred = covariance - covariance.mean(axis=0)
    centred = centred - centred.mean(axis=1)[:, None]  # the estimates add up to a known number
    centred[1], centred[:, 1], centred[1, 1] = centred[0], centred[:, 0], centred[0, 0]  # an exact difference
    close = np.where(np.arange(len(estimates)) < 2, [2.0001, 2.0, *estimates[2:]], 0.1 * estimates)
    errors = np.sqrt(np.diag(centred))
    found = top_k_probabilities(np.array([0]), close, errors, centred)
    monkeypatch.setattr(posterior, "FEW", len(close))
    expected = top_k_probabilities(np.array([0]), close, errors, centred)
    assert found.of_player[1] == 0.0
    np.testing.assert_allclose(found.of_player, expected.of_player, atol=1.5 * FOUR_ERRORS)


def test_players_far_from_the_border_are_not_drawn(monkeypatch):
    n, k = FEW + 200, 300
    estimates, errors = np.arange(n, 0.0, -1.0), np.full(n, 0.5)
    drawn = []
    monkeypatch.setattr(posterior, "_draw", lambda estimates, *rest: drawn.append(estimates) or [estimates[None]])
    players = np.arange(k)
    assert probability_in_top_k(k, estimates, errors, None)[players].sum() == pytest.approx(k, abs=10)
    assert len(drawn[0]) < 20
    assert estimates[k - 1] in drawn[0]
    assert estimates[k] in drawn[0]
    monkeypatch.undo()
    found = top_k_probabilities(players, estimates, errors, np.diag(errors**2))
    monkeypatch.setattr(posterior, "FEW", n)
    expected = top_k_probabilities(players, estimates, errors, None)
    assert found.of_set == pytest.approx(expected.of_set, abs=1.5 * FOUR_ERRORS)
    np.testing.assert_allclose(found.of_player, expected.of_player, atol=1.5 * FOUR_ERRORS)


def test_a_set_that_leaves_out_a_certain_player_is_impossible():
    n = FEW + 1
    estimates, errors = np.arange(n, 0.0, -1.0), np.full(n, 0.1)
    assert probability_of_set(np.array([0, 1]), estimates, errors, None) == 1.0
    assert probability_of_set(np.array([0, n - 1]), estimates, errors, None) == 0.0
    wide = np.where(np.arange(n) == 0, 0.1, 1.5)
    found = top_k_probabilities(np.array([1, 2]), estimates + 50.0 * (np.arange(n) == 0), wide, None)
    assert found.of_set == 0.0
    assert found.of_player[0] == 1.0
    assert found.of_player.sum() == pytest.approx(2)


def test_probabilities_of_many_players_need_one_copy_of_their_covariance(monkeypatch):
    n = 1500
    covariance = np.eye(n) + 0.5
    estimates, errors = np.linspace(0.0, 1.0, n), np.sqrt(np.diag(covariance))
    monkeypatch.setattr(posterior, "_NUMBERS_PER_BLOCK", 2**16)
    tracemalloc.start()
    try:
        found = top_k_probabilities(np.array([n - 1]), estimates, errors, covariance)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * covariance.nbytes
    assert found.of_player.sum() == pytest.approx(1)
