"""Tests of the p-values of borders between ranked players."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from topshap.statistics.rank_verification import border_p_values
from topshap.statistics.ranking import RANK_BY, rank_key

DRAWS = 1500
LEVEL = 0.95
WORST = 1.0 - LEVEL + 3.5 * np.sqrt(LEVEL * (1.0 - LEVEL) / DRAWS)
"""5% plus 3.5 standard errors of a rate in that many draws: 0.07. It is exceeded by chance in one of 4000 cases."""


def of_ranked(estimates, std_errors, covariance=None, rank_by="value"):
    ranking = np.argsort(-rank_key(estimates, rank_by), kind="stable")
    return ranking, border_p_values(ranking, estimates, std_errors, covariance, rank_by)


def covariances(n):
    """Return covariances by name: equal and unequal variances, correlated, and with a known sum."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(n, n))
    common = 0.5 * np.eye(n) + 0.5
    centred = np.eye(n) - 1.0 / n
    return {
        "equal": np.eye(n),
        "unequal": np.diag(np.geomspace(0.05, 5.0, n)),
        "unequal, noisy leaders": np.diag(np.geomspace(5.0, 0.05, n)),
        "correlated": root @ root.T / n,
        "equicorrelated": common,
        "known sum": centred @ np.diag(np.geomspace(0.2, 3.0, n)) @ centred,
        "negative": np.diag(np.full(n, 1.0)) - 0.9 / (n - 1) * (1.0 - np.eye(n)),
    }


TRUTHS = {
    "all tied": np.zeros(6),
    "two tied leaders": np.array([4.0, 4.0, 0.0, -1.0, -1.5, -9.0]),
    "three pairs": np.array([20.0, 20.0, 0.0, 0.0, -20.0, -20.0]),
    "near ties": np.array([2.0, 1.99, 1.0, 0.9, 0.85, 0.0]),
    "spread": np.array([3.0, 2.0, 1.5, 1.0, 0.0, -2.0]),
    "second ranks tied": np.array([30.0, 3.0, 3.0, 3.0, -9.0, -9.5]),
}


def first_wrong_rank(ranking, keys):
    """Return the first rank, from 1, whose player is not ahead of all that follow; n if there is none."""
    ranked = keys[ranking]
    behind = [rank for rank in range(len(ranked) - 1) if ranked[rank] <= ranked[rank + 1 :].max()]
    return behind[0] + 1 if behind else len(ranked)


def wrong_sizes(ranking, keys):
    """Return for each size whether the leading set is not strictly ahead of the others."""
    ranked = keys[ranking]
    return np.array([ranked[:k].min() <= ranked[k:].max() for k in range(1, len(ranked))])


def failure_rates(truth, covariance, rank_by, seed=0):
    """Return the rates of wrong ranks, of wrong corrected sizes, and of each wrong size by itself, at level 95%."""
    rng = np.random.default_rng(seed)
    errors = np.sqrt(np.diag(covariance))
    keys = rank_key(truth, rank_by)
    ranks = sizes = 0
    alone = np.zeros(len(truth) - 1)
    for draw in rng.multivariate_normal(truth, covariance, size=DRAWS, method="eigh"):
        ranking, p = of_ranked(draw, errors, covariance, rank_by)
        failed = np.flatnonzero(p > 1.0 - LEVEL)
        count = failed[0] if len(failed) else len(p)
        wrong = wrong_sizes(ranking, keys)
        ranks += count >= first_wrong_rank(ranking, keys)
        sizes += bool((wrong & (p * len(p) <= 1.0 - LEVEL)).any())
        alone += wrong & (p <= 1.0 - LEVEL)
    return ranks / DRAWS, sizes / DRAWS, alone / DRAWS


@pytest.mark.parametrize("uncertainty", covariances(6))
@pytest.mark.parametrize("truth", TRUTHS)
def test_wrong_ranks_and_sizes_are_verified_with_probability_at_most_5_percent(truth, uncertainty):
    ranks, sizes, alone = failure_rates(TRUTHS[truth], covariances(6)[uncertainty], "value")
    assert ranks <= WORST
    assert sizes <= WORST
    assert alone.max() <= WORST


@pytest.mark.parametrize("uncertainty", ["equal", "unequal", "correlated", "negative"])
@pytest.mark.parametrize(
    "truth", [[3.0, -3.0, 0.1, -0.1, 0.0], [0.0] * 5, [-5.0, 4.9, 0.5, -0.5, 0.4], [9.0, -2.0, 2.0, 1.9, 0.0]]
)
def test_so_are_wrong_ranks_and_sizes_by_magnitude(truth, uncertainty):
    ranks, sizes, alone = failure_rates(np.array(truth), covariances(5)[uncertainty], "magnitude")
    assert ranks <= WORST
    assert sizes <= WORST
    assert alone.max() <= WORST


def test_the_level_is_exact_for_two_tied_players():
    ranks, _, _ = failure_rates(np.zeros(2), np.eye(2), "value")
    assert ranks == pytest.approx(1.0 - LEVEL, abs=3.5 * np.sqrt(LEVEL * (1.0 - LEVEL) / DRAWS))


def test_without_the_correction_sizes_of_three_tied_pairs_would_be_wrong_too_often():
    rng = np.random.default_rng(0)
    truth, wrong = TRUTHS["three pairs"], 0
    for draw in truth + rng.normal(size=(DRAWS, 6)):
        ranking, p = of_ranked(draw, np.ones(6))
        wrong += bool((wrong_sizes(ranking, truth) & (p <= 1.0 - LEVEL)).any())
    assert wrong / DRAWS == pytest.approx(1.0 - LEVEL**3, abs=0.035)


def test_a_winner_is_tested_against_the_runner_up_on_both_sides():
    _, p = of_ranked(np.array([3.0, 0.5, 0.0, -1.0, -2.0]), np.full(5, 0.9))
    assert p[0] == pytest.approx(2.0 * norm.sf(2.5 / (0.9 * np.sqrt(2.0))))


def test_the_most_uncertain_lead_counts_and_not_the_smallest():
    _, p = of_ranked(np.array([3.0, 0.5, 0.0]), np.array([0.1, 0.1, 4.0]))
    assert p[0] == pytest.approx(2.0 * norm.sf(3.0 / np.hypot(0.1, 4.0)))


def test_by_magnitude_a_negative_leader_is_compared_with_both_signs():
    covariance = np.array([[1.0, 0.6], [0.6, 1.0]])
    _, p = of_ranked(np.array([-5.0, 1.0]), np.ones(2), covariance, "magnitude")
    assert p[0] == pytest.approx(2.0 * norm.sf(min(6.0 / np.sqrt(0.8), 4.0 / np.sqrt(3.2))))


def test_exact_values_are_verified_unless_they_tie():
    _, p = of_ranked(np.array([3.0, 1.0, 1.0 + 1e-14, 0.0]), np.zeros(4), np.zeros((4, 4)))
    assert p.tolist() == [0.0, 1.0, 0.0]


def test_an_unknown_standard_error_verifies_nothing_next_to_it():
    _, p = of_ranked(np.array([9.0, 5.0, 1.0]), np.array([0.1, 0.1, np.nan]))
    assert p.tolist() == [1.0, 1.0]


def test_a_single_player_has_no_border():
    assert len(border_p_values(np.arange(1), np.ones(1), np.ones(1), None)) == 0


def by_definition(ranking, estimates, std_errors, covariance):
    """Return the p-values by two loops over the players on either side of each border."""
    shared = np.diag(std_errors**2) if covariance is None else covariance
    p = []
    for k in range(1, len(ranking)):
        leads = []
        for i in ranking[:k]:
            for j in ranking[k:]:
                deviation = np.sqrt(shared[i, i] + shared[j, j] - 2.0 * shared[i, j])
                leads.append((estimates[i] - estimates[j]) / deviation)
        p.append(2.0 * norm.sf(min(leads)))
    return p


@st.composite
def uncertain_estimates(draw):
    n = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    root = rng.normal(size=(n, n + 1))
    return rng.normal(scale=draw(st.sampled_from([0.1, 1.0, 10.0])), size=n), root @ root.T


@given(uncertain_estimates())
def test_p_values_follow_the_definition(uncertain):
    estimates, covariance = uncertain
    ranking, p = of_ranked(estimates, np.sqrt(np.diag(covariance)), covariance)
    assert p == pytest.approx(by_definition(ranking, estimates, np.sqrt(np.diag(covariance)), covariance), rel=1e-6)


@given(uncertain_estimates(), st.sampled_from(RANK_BY), st.floats(0.1, 10.0))
def test_p_values_are_probabilities_and_do_not_depend_on_the_unit(uncertain, rank_by, unit):
    estimates, covariance = uncertain
    errors = np.sqrt(np.diag(covariance))
    _, p = of_ranked(estimates, errors, covariance, rank_by)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert of_ranked(estimates * unit, errors * unit, covariance * unit**2, rank_by)[1] == pytest.approx(p, rel=1e-6)


@given(uncertain_estimates())
@settings(max_examples=50)
def test_the_lowest_values_are_the_highest_of_the_negated(uncertain):
    estimates, covariance = uncertain
    errors = np.sqrt(np.diag(covariance))
    _, lowest = of_ranked(estimates, errors, covariance, "lowest")
    assert lowest.tolist() == of_ranked(-estimates, errors, covariance, "value")[1].tolist()


@given(uncertain_estimates())
@settings(max_examples=50)
def test_magnitudes_of_values_with_one_sign_are_no_more_certain_than_the_values(uncertain):
    estimates, covariance = uncertain
    errors = np.sqrt(np.diag(covariance))
    positive = np.abs(estimates)
    _, values = of_ranked(positive, errors, covariance, "value")
    _, magnitudes = of_ranked(positive, errors, covariance, "magnitude")
    assert (magnitudes >= values - 1e-12).all()
