"""Estimates by least squares on differences, and the bounds across the border."""

import numpy as np
import pytest

from topshap.algorithms.swap.differences import Population
from topshap.algorithms.swap.moments import Moments
from topshap.algorithms.swap.standing import SwapStanding


class Compared:
    """Comparisons of all pairs around given values, in place of `Samples`; without noise they are exhausted."""

    unit = 1.0

    def __init__(self, values, *, count=8, noise=0.0, seed=0, exact=0.5, only=None):
        self.values, self._exact = np.array(values), exact
        self._only = set(range(len(values))) if only is None else set(only)
        self._size, self._noise = (count, noise)
        size = count if noise == 0.0 else np.inf
        self.population = Population(np.full(3, 1 / 3), np.full(3, float(size)), 1.0)
        self._rng = np.random.default_rng(seed)
        self.asked = []

    def moments(self, pairs):
        self.asked += [tuple(pair) for pair in pairs.tolist()]
        i, j = pairs.T
        comparisons = (self.values[i] - self.values[j])[:, None, None] + np.zeros((1, 3, self._size))
        comparisons += self._noise * self._rng.normal(size=comparisons.shape)
        comparisons[[not {a, b} <= self._only for a, b in pairs.tolist()]] = np.nan
        return Moments.of_array(comparisons)

    def exact_bounds(self, pairs, level):
        i, j = pairs.T
        ahead = self.values[i] - self.values[j]
        return np.column_stack([ahead, -ahead]) - self._exact


def standing_of(n, k, gain=0.0, *, exact=False, level=0.01):
    return SwapStanding(np.arange(n), gain, k, level, exact=exact)


def test_a_standing_starts_with_equal_shares_and_unknown_errors():
    standing = standing_of(5, 2, gain=10.0)
    assert standing.estimates.tolist() == [2.0] * 5
    assert np.isnan(standing.std_errors).all()
    assert standing.covariance() is None
    assert standing.worst_bound() == -np.inf


@pytest.mark.parametrize("k", [1, 2, 4])
def test_exact_differences_give_exact_values_from_any_initial_estimates(k):
    values = np.array([3.0, -1.0, 2.0, 0.5, 0.5])
    standing = standing_of(5, k, gain=values.sum())
    standing.start(np.arange(5.0), Compared(values))
    np.testing.assert_allclose(standing.estimates, values, atol=1e-9)
    np.testing.assert_allclose(standing.std_errors, 0.0)
    ordered = np.sort(values)[::-1]
    assert standing.worst_bound() == pytest.approx(ordered[k - 1] - ordered[k])
    assert len(standing.undecided()) == 0


def test_every_pair_across_the_border_is_compared_once():
    compared = Compared([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    standing = standing_of(6, 2)
    standing.start(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), compared)
    assert len(set(compared.asked)) == len(compared.asked)
    top, rest = standing.partition(2)
    assert set(top) == {0, 1}
    assert {(min(i, j), max(i, j)) for i in top.tolist() for j in rest.tolist()} <= set(compared.asked)


def test_a_tie_that_is_known_completely_is_bounded_by_zero():
    standing = standing_of(3, 1)
    standing.start(np.zeros(3), Compared([1.0, 1.0 + 1e-16, 0.1 + 0.2 - 0.3]))
    assert standing.worst_bound() == 0.0


def test_the_pair_with_the_lowest_bound_comes_first():
    standing = standing_of(4, 2)
    standing.start(np.array([3.0, 2.0, 1.0, 0.0]), Compared([9.0, 5.0, 4.5, 0.0], noise=0.1))
    i, j = standing.pairs[standing.undecided()[0]].tolist()
    assert (i, j) == (1, 2)
    assert len(standing.undecided()) == 4


def test_more_comparisons_of_a_pair_change_only_its_row():
    standing = standing_of(4, 2)
    standing.start(np.array([3.0, 2.0, 1.0, 0.0]), Compared([9.0, 5.0, 4.5, 0.0], noise=0.1))
    row = int(standing.undecided()[0])
    before = standing.differences.counts.copy()
    standing.learn([row], Compared([9.0, 5.0, 4.5, 0.0], noise=0.1, count=30))
    changed = np.flatnonzero(standing.differences.counts != before)
    assert changed.tolist() == [row]


def test_exact_bounds_are_used_if_requested():
    values = [9.0, 5.0, 4.0, 0.0]
    standing = standing_of(4, 2, exact=True)
    standing.start(np.array([0.0, 1.0, 2.0, 3.0]), Compared(values, noise=0.01, exact=0.25))
    assert standing.worst_bound() == pytest.approx(0.75)
    known = standing_of(4, 2, exact=True)
    known.start(np.array([0.0, 1.0, 2.0, 3.0]), Compared(values, exact=0.25))
    assert known.worst_bound() == pytest.approx(1.0)  # exhausted


def test_players_that_were_never_compared_keep_their_equal_share():
    standing = standing_of(4, 2, gain=8.0)
    standing.start(np.array([1.0, -1.0, 0.0, 0.0]), Compared([3.0, 1.0, 7.0, 7.0], noise=0.1, only=[0, 1]))
    assert standing.estimates[[2, 3]].tolist() == [2.0, 2.0]
    np.testing.assert_allclose(standing.estimates[[0, 1]], [3.0, 1.0], atol=0.2)
    assert np.isnan(standing.std_errors).tolist() == [False, False, True, True]
    assert standing.covariance() is None
    assert standing.worst_bound() == -np.inf


def test_the_covariance_agrees_on_average_with_the_variances_of_the_differences():
    """Foster's theorem: the mean over pairs of claimed / own variance is 1; the rows add up to 0."""
    standing = standing_of(6, 3)
    standing.start(np.arange(6.0), Compared(np.arange(6.0) ** 2, noise=1.0))
    covariance = standing.covariance()
    i, j = standing.pairs.T
    claimed = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    assert np.mean(claimed / standing.differences.variances) == pytest.approx(1.0)
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(standing.std_errors**2, np.diag(covariance))
