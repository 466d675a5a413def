"""The values that players are ranked by, and the probability of a larger magnitude."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from topshap.statistics.ranking import (
    RANK_BY,
    border_lines,
    probability_before,
    probability_of_larger_magnitude,
    rank_key,
    rank_signs,
)

N = 4
SEEDS = st.integers(0, 10**6)


def drawn(seed):
    """Estimates, and a covariance whose variances differ by orders of magnitude."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, N)) * 10.0 ** rng.uniform(-3.0, 1.0, size=(N, 1))
    return rng.normal(size=N), root @ root.T, rng


@given(arrays(np.float64, N, elements=st.floats(-1e9, 1e9)))
def test_the_key_is_the_value_or_its_magnitude(values):
    assert np.array_equal(rank_key(values, "value"), values)
    assert np.array_equal(rank_key(values, "magnitude"), np.abs(values))


@pytest.mark.parametrize("seed", range(12))
def test_the_probability_is_that_of_draws(seed):
    """20,000 draws of each: an error of 0.0142 is four standard deviations."""
    estimates, covariance, rng = drawn(seed)
    magnitudes = np.abs(rng.multivariate_normal(estimates, covariance, size=20_000, method="eigh"))
    share = (magnitudes[:, :, None] > magnitudes[:, None]).mean(axis=0)
    np.fill_diagonal(share, 0.5)
    assert np.abs(probability_of_larger_magnitude(estimates, covariance) - share).max() < 0.0142


@given(SEEDS)
def test_probabilities_of_a_larger_magnitude_add_up_to_one_and_do_not_depend_on_signs(seed):
    estimates, covariance, rng = drawn(seed)
    found = probability_of_larger_magnitude(estimates, covariance)
    assert np.allclose(found + found.T, 1.0, atol=2e-3)
    signs = rng.choice([-1.0, 1.0], N)
    flipped = probability_of_larger_magnitude(signs * estimates, np.outer(signs, signs) * covariance)
    assert np.allclose(found, flipped, atol=2e-3)


def test_exact_values_give_certain_pairs_and_unknown_values_even_ones():
    certain = probability_of_larger_magnitude(np.array([-3.0, 2.0, -2.0, 0.0]), np.zeros((4, 4)))
    assert certain.tolist() == [[0.5, 1, 1, 1], [0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1], [0, 0, 0, 0.5]]
    assert (probability_of_larger_magnitude(np.array([1.0, 2.0]), np.full((2, 2), np.nan)) == 0.5).all()


@pytest.mark.parametrize("rank_by", RANK_BY)
@given(values=arrays(np.float64, N, elements=st.floats(-1e9, 1e9)))
def test_the_key_is_the_value_times_its_sign(rank_by, values):
    assert np.array_equal(rank_key(values, rank_by), rank_signs(values, rank_by) * values)


@pytest.mark.parametrize("rank_by", RANK_BY)
def test_border_lines_lie_where_the_key_is_that_of_the_border(rank_by):
    lines = np.array(border_lines(2.5, rank_by))
    assert len(lines) > 0
    assert np.array_equal(rank_key(lines, rank_by), np.full(len(lines), 2.5))


@pytest.mark.parametrize("rank_by", RANK_BY)
@pytest.mark.parametrize("seed", range(4))
def test_the_player_with_the_better_estimate_is_more_likely_to_be_ranked_first(rank_by, seed):
    estimates, _, rng = drawn(seed)
    errors = np.full(N, rng.uniform(0.1, 2.0))
    before = probability_before(estimates, errors, None, rank_by)
    np.testing.assert_allclose(before + before.T, 1.0, atol=1e-3)
    keys = rank_key(estimates, rank_by)
    assert np.array_equal(before > 0.5, keys[:, None] > keys)


@pytest.mark.parametrize("rank_by", RANK_BY)
def test_without_standard_errors_all_pairs_have_probability_one_half(rank_by):
    before = probability_before(np.arange(3.0), np.full(3, np.nan), None, rank_by)
    assert np.array_equal(before, np.full((3, 3), 0.5))
