"""Rare jumps: the covariance of outliers, the warning about rare contributions, and the guarantee in such games."""

import warnings

import numpy as np
import pytest
from scipy.special import comb

import topshap
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.rare_jumps import jump_covariance, may_be_missed, shares_of_sizes
from topshap.core.coalitions import from_ids
from topshap.games import AdditiveGame, TableGame
from topshap.reference.metrics import inclusion_exclusion_error

N = 12
ALL = from_ids(np.arange(2**N), N)
SMALL = np.concatenate([[0.02, 0.015, 0.01], np.zeros(N - 3)])


def covariance_of(x, residuals):
    """Return the covariance due to jumps, if these are the residuals of all pairs."""
    return jump_covariance(x, np.arange(len(x)), residuals)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    rows = rng.permutation(np.arange(1, 2 ** (N - 1)))[:200]
    return np.where(from_ids(rows, N), 1.0, -1.0)


def game_of_rare_patterns(number):
    """Return a game with four players that are worth 0.5 to 1 in one of 128 patterns of seven others."""
    rng = np.random.default_rng(number)
    players = rng.permutation(N)
    table = ALL @ SMALL[np.argsort(players)]
    for player in players[-4:]:
        pattern = rng.random(7) < 0.5
        table = table + rng.uniform(0.5, 1.0) * (ALL[:, player] & (ALL[:, players[:7]] == pattern).all(axis=1))
    return TableGame(table)


def test_normal_residuals_add_hardly_anything(pairs):
    residuals = np.random.default_rng(1).uniform(-1.0, 1.0, size=len(pairs))
    assert not covariance_of(pairs, residuals).any()


def test_the_covariance_is_that_of_a_random_sample_of_the_jumps(pairs):
    residuals = np.full(len(pairs), 0.01)
    residuals[[3, 8]] = 1.0, -2.0
    found = covariance_of(pairs, residuals)
    sizes = (pairs > 0).sum(axis=1)
    sizes = np.minimum(sizes, N - sizes)
    expected = np.zeros((N, N))
    for row in (3, 8):
        existing = comb(N, sizes[row]) / (2.0 if 2 * sizes[row] == N else 1.0)
        share = np.count_nonzero(sizes == sizes[row]) / existing
        contribution = pair_functional(pairs[[row]])[0]
        contribution = contribution - contribution.mean()
        expected += residuals[row] ** 2 * (1.0 - share) / share**2 * np.outer(contribution, contribution)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-15)


def test_the_covariance_is_finite_with_a_thousand_players():
    x = np.where(np.random.default_rng(0).random((50, 1000)) < 0.5, 1.0, -1.0)
    residuals = np.full(50, 0.01)
    residuals[0] = 1.0
    variances = np.diag(covariance_of(x, residuals))
    assert np.isfinite(variances).all()
    assert variances.max() > 0.0


def test_no_jump_is_missed_where_all_pairs_of_a_size_are_known():
    x = np.where(np.eye(N), 1.0, -1.0)
    assert (shares_of_sizes(x) == 1.0).all()
    residuals = np.concatenate([np.full(N - 1, 0.01), [1.0]])
    assert not covariance_of(x, residuals).any()


@pytest.mark.parametrize(
    ("residuals", "deviation", "missed"),
    [
        (np.zeros(100), 0.0, True),
        (np.zeros(200), 0.0, False),
        (np.concatenate([np.full(99, 0.01), [5.0]]), 0.001, True),
        (np.concatenate([np.full(299, 0.01), [5.0]]), 0.001, False),
        (np.concatenate([np.full(299, 0.01), [5.0]]), 0.1, True),
        (np.linspace(-1.0, 1.0, 100), 0.1, False),
        (np.linspace(-0.03, 0.03, 50), 0.0, True),
        (np.linspace(-0.03, 0.03, 100), 0.0, False),
        (np.concatenate([np.full(190, 1e-6), [0.01]]), 0.0, True),
        (np.concatenate([np.full(290, 1e-6), [0.01]]), 0.0, False),
    ],
    ids=[
        "exact, few",
        "exact, many",
        "heavy, few",
        "heavy, harmless",
        "heavy, harmful",
        "smooth",
        "very smooth, few",
        "very smooth, many",
        "exact for most, few",
        "exact for most, many",
    ],
)
def test_jumps_may_be_missed_if_pairs_are_few_or_jumps_matter(residuals, deviation, missed):
    assert may_be_missed(residuals, deviation**2 * np.eye(2), np.array([1.0, 0.0])) == missed


def test_a_result_about_rare_contributions_says_so(tmp_path):
    game = game_of_rare_patterns(1)
    with pytest.warns(topshap.RareContributionsWarning, match="swap@k"):
        top = topshap.identify(game, k=3, budget=400, random_state=0)
    assert top.rare_contributions
    assert "Contributions may be rare and large" in str(top)
    assert "if no contribution is rare" in top.headline
    top.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").rare_contributions
    assert topshap.identify(game, k=3, budget=400, random_state=0, rank_by="lowest").rare_contributions


def test_smooth_and_exact_results_are_not_warned_about():
    x = np.random.default_rng(0).normal(size=N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        smooth = TableGame(1.0 / (1.0 + np.exp(-(ALL @ x))))
        assert not topshap.identify(smooth, k=3, budget=402, random_state=0).rare_contributions
        assert not topshap.identify(AdditiveGame(SMALL), k=3, budget=402, random_state=0).rare_contributions
        assert not topshap.identify(AdditiveGame(SMALL), k=3, random_state=0).rare_contributions


def test_a_perfect_logit_fit_of_few_pairs_is_warned_about():
    """The first surrogate does not fit well, but the stacked ones predict all pairs, also those next to a jump."""
    x = np.random.default_rng(0).normal(size=N)
    smooth = TableGame(1.0 / (1.0 + np.exp(-(ALL @ x))))
    with pytest.warns(topshap.RareContributionsWarning):
        assert topshap.identify(smooth, k=3, budget=100, random_state=0).rare_contributions


def test_a_confident_result_is_not_warned_about():
    top = topshap.identify(game_of_rare_patterns(1), k=3, epsilon=0.02, random_state=0)
    assert top.stopped == "confident"
    assert not top.rare_contributions


def test_the_guarantee_holds_in_games_of_rare_patterns():
    """At most 5% of the runs may be wrong: 7 or more of 40 are with probability 0.3% if 5% are.

    In these two games the first pairs often contain none of the patterns.
    """
    wrong = 0
    for number in (105, 106):
        game = game_of_rare_patterns(number)
        exact, epsilon = game.shapley_values(), 0.02 * float(np.ptp(game.values))
        options = {"k": 5, "epsilon": epsilon, "delta": 0.05, "algorithm": "odd-gp@k"}
        for seed in range(20):
            players = topshap.identify(game, random_state=seed, **options).players
            wrong += inclusion_exclusion_error(exact, players) > epsilon * (1.0 + 1e-9)
    assert wrong < 7
