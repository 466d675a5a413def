"""Differences of Shapley values from swapped players: estimate, variance, bounds."""

import math

import numpy as np
import pytest

from topshap.algorithms.swap.differences import (
    Differences,
    Population,
    degrees_of_freedom,
    expected_variances,
    unseen_fractions,
)
from topshap.algorithms.swap.moments import Moments


def population_of(sizes, least_jump=1.0):
    sizes = np.array(sizes, dtype=float)
    return Population(np.full(len(sizes), 1 / len(sizes)), sizes, least_jump)


def differences(comparisons, population):
    """Differences of pairs without a player in common, so that no variance depends on another pair."""
    pairs = np.arange(2 * len(comparisons)).reshape(-1, 2)
    return Differences(Moments.of_array(comparisons), population, pairs)


def sampled(rng, strata, counts):
    """Comparisons of one pair without replacement, an array (1, strata, comparisons) padded with nan."""
    comparisons = np.full((1, len(strata), max(counts)), np.nan)
    for g, (stratum, count) in enumerate(zip(strata, counts, strict=True)):
        comparisons[0, g, :count] = rng.permutation(stratum)[:count]
    return comparisons


def test_the_estimate_is_unbiased_and_its_variance_is_not_too_small():
    """4000 samples: the mean is known to 0.016 deviations, and 4 of these are allowed; the variance is known to 2.2%.

    The variances of the strata are shrunk towards their mean, which makes the variance 38% too large here.
    """
    rng = np.random.default_rng(0)
    strata = [np.array([0.3]), rng.normal(1.0, 1.0, 20), rng.normal(-1.0, 2.0, 30), rng.normal(0.0, 0.5, 20)]
    population = population_of([len(stratum) for stratum in strata])
    truth = np.mean([stratum.mean() for stratum in strata])
    comparisons = np.concatenate([sampled(rng, strata, [1, 12, 20, 8]) for _ in range(4000)])
    found = differences(comparisons, population)
    deviation = found.estimates.std()
    assert abs(found.estimates.mean() - truth) < 4 * deviation / math.sqrt(4000)
    assert 1.0 < found.variances.mean() / deviation**2 < 1.5


@pytest.mark.parametrize("kind", ["normal", "skewed", "rare"])
@pytest.mark.parametrize("counts", [[1, 1, 1, 1], [1, 3, 4, 3], [1, 12, 20, 12]])
def test_lower_bounds_are_rarely_too_high(kind, counts):
    """At level 0.01 each of 3000 bounds may be wrong, so 30 of all, and 49 with a probability of 0.1%."""
    rng = np.random.default_rng(1)
    draw = {
        "normal": lambda size: rng.normal(size=size),
        "skewed": lambda size: -(rng.exponential(size=size) ** 1.5),
        "rare": lambda size: -1.0 * (rng.random(size) < 0.1),
    }[kind]
    strata = [[draw(size) for size in (1, 40, 80, 40)] for _ in range(3000)]
    comparisons = np.concatenate([sampled(rng, pair, counts) for pair in strata])
    truth = np.array([np.mean([stratum.mean() for stratum in pair]) for pair in strata])
    found = differences(comparisons, population_of([1, 40, 80, 40]))
    assert (found.estimates - found.half_widths(0.01) > truth + 1e-12).sum() < 49


def test_exhausted_strata_are_certain():
    comparisons = np.random.default_rng(0).normal(size=(1, 3, 4))
    comparisons[0, 0, 1:] = np.nan
    found = differences(comparisons, population_of([1, 4, 4]))
    assert found.exhausted.all()
    assert found.variances[0] == found.half_widths(0.01)[0] == 0.0
    assert not differences(comparisons, population_of([1, 5, 4])).exhausted.any()


def test_an_empty_stratum_leaves_no_bound():
    comparisons = np.ones((1, 3, 2))
    comparisons[0, 1] = np.nan
    found = differences(comparisons, population_of([1e9] * 3))
    assert found.estimates[0] == 1.0
    assert found.half_widths(0.1)[0] == np.inf
    assert found.variances[0] > 0


def test_equal_comparisons_are_not_certain_and_less_so_the_fewer_they_are():
    """Comparisons that were all 1: a missed jump of 1 may affect a fraction ln(1 / level) / t of all."""
    few, many = (differences(np.ones((1, 4, m)), population_of([1e9] * 4)) for m in (5, 50))
    level = 0.001
    np.testing.assert_array_less([math.log(1 / level) / 20, math.log(1 / level) / 200], [1.0, 1.0])
    assert few.half_widths(level)[0] >= math.log(1 / level) / 20 * 0.999
    assert many.half_widths(level)[0] >= math.log(1 / level) / 200 * 0.999
    assert many.half_widths(level)[0] < few.half_widths(level)[0] / 5
    assert math.sqrt(few.variances[0]) >= 0.999 / 20


def test_jumps_of_other_pairs_count_for_a_pair_that_has_shown_none():
    calm, jumpy = np.zeros((1, 4, 20)), np.zeros((1, 4, 20))
    jumpy[0, 0, :2] = 7.0
    alone = differences(calm, population_of([1e9] * 4, least_jump=0.1))
    both = differences(np.concatenate([calm, jumpy]), population_of([1e9] * 4, 0.1))
    assert both.half_widths(0.01)[0] > 20 * alone.half_widths(0.01)[0]


def test_without_any_scale_there_is_no_bound():
    found = differences(np.zeros((1, 4, 20)), population_of([1e9] * 4, least_jump=0.0))
    assert found.scale_unknown
    assert found.half_widths(0.1)[0] == np.inf


def test_the_scale_of_the_values_does_not_matter():
    comparisons = np.random.default_rng(0).normal(size=(3, 4, 6))
    one = differences(comparisons, population_of([6, 30, 30, 9]))
    other = differences(2.0**40 * comparisons, population_of([6, 30, 30, 9], 2.0**40))
    np.testing.assert_array_equal(other.half_widths(0.01), 2.0**40 * one.half_widths(0.01))
    np.testing.assert_array_equal(other.variances, 2.0**80 * one.variances)


def test_degrees_of_freedom_are_those_of_the_pool_and_add_up_with_many_comparisons():
    pool = np.array([9.0])
    assert degrees_of_freedom(np.ones((1, 5)), np.ones((1, 5)), pool)[0] == pytest.approx(9.0)
    many = degrees_of_freedom(np.ones((1, 5)), np.full((1, 5), 1000.0), np.array([5000.0]))[0]
    assert many == pytest.approx(5000.0, rel=0.01)
    assert degrees_of_freedom(np.zeros((1, 5)), np.ones((1, 5)), pool)[0] == 9.0


def test_unseen_fractions_shrink_to_nothing_as_strata_are_exhausted():
    population = population_of([1, 100, 100, math.inf])
    few, half, nearly = (np.array([[1.0, m, m, 1e6]]) for m in (10, 50, 99))
    rates = [float(unseen_fractions(counts, population_of([1, 100, 100, 1]))[0][0]) for counts in (few, half, nearly)]
    assert rates[0] == pytest.approx(0.5 / 20, rel=0.06)
    assert rates[1] == pytest.approx(0.5 / (200 * math.log(2)))
    assert rates[2] < rates[1] / 6
    assert unseen_fractions(np.array([[1.0, 100, 100, 50]]), population)[0][0] == pytest.approx(0.25 / 50)
    assert unseen_fractions(nearly, population)[1][0] == pytest.approx(0.25 * (0.01 + 0.01 + 1.0))


def test_the_expected_variance_has_more_weight_where_it_explains_the_pairs():
    """36 pairs of 12 players, 40 degrees of freedom each; variances that are products of players', or drawn anew."""
    rng = np.random.default_rng(0)
    pairs = np.array([(i, j) for i in range(6) for j in range(6, 12)])
    of_player = rng.uniform(0.5, 3.0, 12)
    products = of_player[pairs[:, 0]] * of_player[pairs[:, 1]]
    noise = rng.chisquare(40, len(pairs)) / 40
    expected, worth = expected_variances(products * noise, np.full(36, 40.0), pairs)
    np.testing.assert_allclose(expected, products, rtol=0.35)
    assert worth > 20.0
    wild = rng.lognormal(0.0, 1.5, len(pairs))
    assert expected_variances(wild * noise, np.full(36, 40.0), pairs)[1] == 6.0


def test_pairs_that_form_a_star_keep_their_own_variances():
    pairs = np.array([(0, j) for j in range(1, 5)])
    pooled = np.array([1.0, 2.0, 3.0, 4.0])
    expected, worth = expected_variances(pooled, np.full(4, 10.0), pairs)
    np.testing.assert_array_equal(expected, pooled)
    assert worth == 6.0
