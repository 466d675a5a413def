"""Covariances of some of many estimates: the same answers as with a matrix of all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topshap.statistics.partial_covariance import (
    PartialCovariance,
    covariance_among,
    covariance_between,
    covariance_with,
    deviations,
)
from topshap.statistics.ranking import RANK_BY, probability_before
from topshap.statistics.ties import errors_of_difference, tied_with
from topshap.statistics.top_k_probability import top_k_probabilities


def some(seed, n, watched):
    """Return estimates, standard errors, the covariance of some of them, and the same covariance as a matrix."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(watched, watched + 1))
    matrix = factor @ factor.T / (watched + 1)
    candidates = rng.permutation(n)[:watched]
    std_errors = rng.uniform(0.1, 1.0, size=n)
    std_errors[candidates] = np.sqrt(np.diag(matrix))
    dense = np.diag(std_errors**2)
    dense[np.ix_(candidates, candidates)] = matrix
    return rng.normal(size=n), std_errors, PartialCovariance(candidates, matrix), dense


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(3, 12), st.data())
def test_every_function_agrees_with_the_matrix_of_all(seed, n, data):
    watched = data.draw(st.integers(1, n))
    estimates, std_errors, partial, dense = some(seed, n, watched)
    chosen = np.random.default_rng(seed).permutation(n)[: data.draw(st.integers(1, n))]
    np.testing.assert_allclose(covariance_among(partial, std_errors, chosen), dense[np.ix_(chosen, chosen)])
    np.testing.assert_allclose(deviations(partial, std_errors), std_errors)
    off_diagonal = dense - np.diag(np.diag(dense))
    for i in range(n):
        row = covariance_with(i, partial, n)
        np.testing.assert_allclose(np.delete(row, i), np.delete(off_diagonal[i], i))
    rest = np.setdiff1d(np.arange(n), chosen)
    np.testing.assert_allclose(covariance_between(partial, chosen, rest, n), dense[np.ix_(chosen, rest)])
    for rank_by in RANK_BY:
        np.testing.assert_allclose(
            probability_before(estimates, std_errors, partial, rank_by),
            probability_before(estimates, std_errors, dense, rank_by),
        )
        others = np.arange(n) != int(chosen[0])
        errors = [errors_of_difference(int(chosen[0]), estimates, std_errors, c, rank_by) for c in (partial, dense)]
        np.testing.assert_allclose(errors[0][others], errors[1][others], atol=1e-12)
        ties = [tied_with(int(chosen[0]), estimates, std_errors, c, rank_by) for c in (partial, dense)]
        assert np.array_equal(*ties)


@pytest.mark.parametrize("rank_by", RANK_BY)
def test_the_probabilities_agree_with_those_of_the_matrix_of_all(rank_by):
    """Both are relative frequencies in 4096 draws: their difference has a standard error of at most 0.011."""
    for seed in range(4):
        estimates, std_errors, partial, dense = some(seed, 9, 5)
        keys = {"value": estimates, "lowest": -estimates, "magnitude": np.abs(estimates)}[rank_by]
        top = np.argsort(-keys)[:3]
        found = [top_k_probabilities(top, estimates, std_errors, c, rank_by) for c in (partial, dense)]
        assert abs(found[0].of_set - found[1].of_set) < 0.05
        np.testing.assert_allclose(found[0].of_player, found[1].of_player, atol=0.05)


def test_twenty_thousand_candidates_take_little_memory():
    tracemalloc = pytest.importorskip("tracemalloc")
    n = 19_900
    estimates, std_errors, partial, _ = some(0, 60, 40)
    many = np.concatenate([estimates * 10.0, np.zeros(n - 60)])
    errors = np.concatenate([std_errors, np.full(n - 60, 0.5)])
    tracemalloc.start()
    found = top_k_probabilities(np.argsort(-many)[:5], many, errors, partial)
    tied_with(0, many, errors, partial, "magnitude")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.of_player.sum() == pytest.approx(5.0)
    assert peak < 200 * 2**20


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"2 candidates has the shape \(1, 1\)"):
        PartialCovariance(np.array([1, 2]), np.eye(1))


def test_no_candidate_may_be_watched():
    nobody = PartialCovariance(np.empty(0, dtype=np.intp), np.zeros((0, 0)))
    found = top_k_probabilities(np.array([0]), np.array([5.0, 0.0]), np.array([0.1, 0.1]), nobody)
    assert found.of_set == 1.0
