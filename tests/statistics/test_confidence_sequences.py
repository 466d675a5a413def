"""Bounds that hold at all times simultaneously."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from topshap.statistics.confidence_sequences import (
    asymptotic_multiplier,
    empirical_bernstein_bound,
    student_multiplier,
)


def significantly_above(times, runs, level):
    return binomtest(times, runs, level, alternative="greater").pvalue < 1e-3


def test_the_multiplier_is_that_of_the_normal_mixture():
    a, n = 2 * 0.001, 250.0
    rho2 = (-2 * math.log(a) + math.log(1 - 2 * math.log(a))) / 100
    squared = (1 + 1 / (n * rho2)) * math.log((n * rho2 + 1) / a**2)
    assert asymptotic_multiplier(np.array([n]), 0.001)[0] == pytest.approx(math.sqrt(squared))
    assert norm.isf(0.001) < math.sqrt(squared)  # repeated looks need a larger multiplier


def test_the_asymptotic_bound_holds_at_all_looks_simultaneously():
    """1500 walks of 1000 steps; at level 0.1, at most 150 may ever exceed the bound; over 600 exceed a plain one."""
    steps = np.random.default_rng(0).normal(size=(1500, 1000))
    n = np.arange(1.0, 1001.0)
    z = np.cumsum(steps, axis=1) / np.sqrt(n)
    ever = (z[:, 9:] > asymptotic_multiplier(n, 0.1)[9:]).any(axis=1).sum()
    assert not significantly_above(int(ever), 1500, 0.1)
    assert (z[:, 9:] > norm.isf(0.1)).any(axis=1).sum() > 600


def test_the_student_multiplier_has_the_tail_probability_of_the_normal_one():
    found = student_multiplier(np.array([2.0, 4.5, 4.5]), np.array([3.0, 7.5, 1e9]))
    np.testing.assert_allclose(t.sf(found, [3.0, 7.5, 1e9]), norm.sf([2.0, 4.5, 4.5]), rtol=1e-6)


def test_the_bernstein_bound_without_samples_is_minus_infinity():
    none = np.empty(0)
    assert empirical_bernstein_bound(none, none, none, 0.05) == -math.inf


@pytest.mark.parametrize("chance", [0.02, 0.5, 0.98])
def test_the_bernstein_bound_holds_at_all_times_simultaneously(chance):
    """The best bound over 300 coins is above the truth in at most 10% of 500 runs."""
    rng = np.random.default_rng(0)
    ones = np.ones(300)
    bounds = [
        empirical_bernstein_bound((rng.random(300) < chance).astype(float), 0 * ones, ones, 0.1) for _ in range(500)
    ]
    assert not significantly_above(int(np.sum(np.array(bounds) > chance)), 500, 0.1)


def test_samples_that_vary_little_are_bounded_more_tightly():
    rng = np.random.default_rng(0)
    ends, ones = np.zeros(400), np.ones(400)
    calm = empirical_bernstein_bound(0.5 + 0.01 * rng.normal(size=400).clip(-1, 1), ends, ones, 0.01)
    wild = empirical_bernstein_bound(rng.integers(2, size=400).astype(float), ends, ones, 0.01)
    assert 0.5 - calm < (0.5 - wild) / 3
