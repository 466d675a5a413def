"""Comparisons are corrected for the members of their background sets."""

import math

import numpy as np

from topshap.algorithms.swap.adjustment import MIN_FREEDOM, adjusted_for_background
from topshap.core.coalitions import draw_of_sizes

OTHERS = 8
SIZES = [range(2, 3), range(4, 5), range(5, 7)]


def draw(rng, per_stratum, effects, noise=0.2):
    """Comparisons that depend on the members of S, more so for larger sets."""
    strata = np.repeat(np.arange(3), per_stratum)
    sizes = np.concatenate([rng.choice(list(block), per_stratum) for block in SIZES])
    members = draw_of_sizes(sizes, OTHERS, rng)
    comparisons = (members @ effects) * (1 + sizes / OTHERS) + noise * rng.normal(size=len(strata))
    return comparisons, strata, members


def truth(effects):
    return np.array([np.mean([s / OTHERS * effects.sum() * (1 + s / OTHERS) for s in block]) for block in SIZES])


def test_adjusted_means_are_unbiased_with_smaller_and_correct_errors():
    """400 samples: means are known to 0.05 deviations (4.5 allowed), variances to 7% (the bound is 25%)."""
    rng = np.random.default_rng(0)
    effects = rng.normal(size=OTHERS)
    found = [adjusted_for_background(*draw(rng, 25, effects), SIZES) for _ in range(400)]  # type: ignore[call-arg]
    means = np.array([one.means for one in found])
    error = means.std(axis=0)
    np.testing.assert_array_less(np.abs(means.mean(axis=0) - truth(effects)), 4.5 * error / math.sqrt(400))
    claimed = np.array([one.squares / 24 / 25 for one in found]).mean(axis=0)
    np.testing.assert_allclose(claimed, error**2, rtol=0.25)
    plain = np.array([draw(rng, 25, effects)[0].reshape(3, 25).mean(axis=1) for _ in range(400)])
    assert (error < 0.5 * plain.std(axis=0)).all()


def test_without_effects_hardly_any_reduction_is_claimed():
    rng = np.random.default_rng(0)
    gained = []
    for _ in range(200):
        comparisons, strata, members = draw(rng, 20, np.zeros(OTHERS))
        found = adjusted_for_background(comparisons, strata, members, SIZES)
        plain = sum(comparisons[strata == g].var() * 20 for g in range(3))
        gained.append(1.0 if found is None else found.squares.sum() / plain)
    assert np.mean(gained) > 0.95


def test_too_few_comparisons_and_constant_comparisons_are_not_adjusted():
    rng = np.random.default_rng(0)
    comparisons, strata, members = draw(rng, 4, np.ones(OTHERS))
    assert len(comparisons) - 3 < MIN_FREEDOM
    assert adjusted_for_background(comparisons, strata, members, SIZES) is None
    _, strata, members = draw(rng, 30, np.ones(OTHERS))
    assert adjusted_for_background(np.ones(90), strata, members, SIZES) is None


def test_equal_background_sets_explain_nothing():
    members = np.tile(np.arange(OTHERS) < 2, (20, 1))
    comparisons = np.random.default_rng(0).normal(size=20)
    assert adjusted_for_background(comparisons, np.zeros(20, dtype=int), members, SIZES[:1]) is None


def test_an_empty_stratum_stays_empty():
    rng = np.random.default_rng(0)
    comparisons, strata, members = draw(rng, 20, np.ones(OTHERS))
    found = adjusted_for_background(comparisons[strata != 1], strata[strata != 1], members[strata != 1], SIZES)
    assert found.means[1] == found.squares[1] == 0.0
    assert found.parameters > 0.0
