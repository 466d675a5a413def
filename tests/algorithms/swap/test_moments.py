"""Moments of comparisons, per pair and stratum."""

import numpy as np

from topshap.algorithms.swap.moments import Moments


def test_moments_of_an_array_and_of_one_pair_are_the_same():
    rng = np.random.default_rng(0)
    comparisons = np.full((1, 4, 5), np.nan)
    for g, count in enumerate([1, 5, 0, 3]):
        comparisons[0, g, :count] = rng.normal(size=count)
    there = ~np.isnan(comparisons[0])
    one = Moments.of_pair(comparisons[0][there], np.nonzero(there)[0], 4)
    for name, value in vars(Moments.of_array(comparisons)).items():
        np.testing.assert_allclose(getattr(one, name), value, err_msg=name)


def test_rows_can_be_added_and_replaced():
    rng = np.random.default_rng(0)
    moments, other = (Moments.of_array(rng.normal(size=(2, 3, 4))) for _ in range(2))
    first = moments.means.copy()
    moments.extend(other)
    np.testing.assert_array_equal(moments.means, np.concatenate([first, other.means]))
    moments.replace(1, Moments.of_array(np.ones((1, 3, 2))))
    np.testing.assert_array_equal(moments.counts[:, 0], [4, 2, 4, 4])
    np.testing.assert_array_equal(moments.means[1], np.ones(3))


def test_moments_can_be_scaled():
    comparisons = np.random.default_rng(0).normal(size=(2, 3, 4))
    moments = Moments.of_array(comparisons)
    moments.scale(0.25)
    for name, value in vars(Moments.of_array(comparisons / 4.0)).items():
        np.testing.assert_array_equal(getattr(moments, name), value, err_msg=name)
