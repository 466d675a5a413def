"""The standing: estimates, their standard errors, and the ranking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.mean_standing import MeanStanding
from topshap.core.standing import FittedStanding


def mean_standing(n, gain=6.0, *, pairs=True, tie_order=None):
    return MeanStanding(np.arange(n) if tie_order is None else np.array(tie_order), gain, pairs=pairs)


def with_samples(samples, **options):
    standing = mean_standing(np.shape(samples)[1], **options)
    standing.add(np.array(samples, dtype=float))
    return standing


def test_a_player_without_samples_has_an_equal_share_and_an_unknown_error():
    standing = mean_standing(3, gain=6.0)
    standing.add(np.array([[1.0], [4.0]]), np.array([1]))
    np.testing.assert_array_equal(standing.estimates, [2.0, 2.5, 2.0])
    np.testing.assert_array_equal(np.isnan(standing.std_errors), [True, False, True])


def test_one_sample_gives_an_estimate_but_no_error():
    standing = with_samples([[1.0, 5.0]])
    np.testing.assert_array_equal(standing.estimates, [1.0, 5.0])
    assert np.isnan(standing.std_errors).all()


def test_the_standard_error_is_the_deviation_over_the_root_of_the_count():
    samples = np.random.default_rng(0).normal(7.0, 3.0, size=(40, 5))
    standing = with_samples(samples)
    np.testing.assert_allclose(standing.std_errors, samples.std(axis=0, ddof=1) / np.sqrt(40))


def test_the_covariance_of_common_rounds_is_that_of_the_means():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(60, 1)) + rng.normal(2.0, 1.0, size=(60, 4))
    np.testing.assert_allclose(with_samples(samples).covariance(), np.cov(samples.T) / 60, atol=1e-12)


def test_rounds_that_are_not_shared_add_no_covariance():
    rng = np.random.default_rng(0)
    shared, alone = rng.normal(size=(30, 2)) + rng.normal(size=(30, 1)), rng.normal(size=(50, 1))
    standing = with_samples(shared)
    standing.add(alone, np.array([1]))
    covariance = standing.covariance()
    variances = standing.variances()
    per_round = (variances[0] + variances[1] - (shared[:, 1] - shared[:, 0]).var(ddof=1)) / 2
    assert covariance[0, 1] == pytest.approx(30 * per_round / (30 * 80))
    np.testing.assert_allclose(np.diag(covariance), standing.std_errors**2)


def test_there_is_no_covariance_while_a_player_was_sampled_less_than_twice():
    standing = with_samples([[1.0, 2.0], [3.0, 5.0]])
    assert standing.covariance() is not None
    lonely = mean_standing(3)
    lonely.add(np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([0, 1]))
    assert lonely.covariance() is None


def pair_variances(standing):
    players = np.arange(standing.n_players)
    return standing.differences(players, players)[2]


def test_updated_errors_equal_recomputed_errors():
    """Samples of some players vary and those of others are equal; the largest sample changes."""
    rng = np.random.default_rng(0)
    samples = rng.normal([0.0, 1.0, 5.0, 0.0, 2.0], [1.0, 0.1, 0.5, 0.0, 0.0], size=(10, 5))
    standing = with_samples(samples)
    for step in range(200):
        i, j = rng.choice(5, 2, replace=False).tolist()
        draw = rng.normal([0.0, 1.0, 5.0, 0.0, 2.0], [1.0, 0.1, 0.5, 0.0, 0.0])
        standing.add_few([draw[i] * (1 + 2 * (step == 120)), draw[j]], (i, j))
        kept = standing.std_errors.copy()
        standing._errors = None
        np.testing.assert_allclose(kept, standing.std_errors, rtol=1e-12)


def test_a_standing_without_pairs_has_no_covariance():
    standing = with_samples([[1.0, 2.0], [3.0, 5.0]], pairs=False)
    assert standing.covariance() is None
    with pytest.raises(ValueError, match="pairs"):
        pair_variances(standing)


def test_equal_samples_have_a_positive_variance():
    samples = np.random.default_rng(0).normal(0.0, 2.0, size=(30, 3))
    samples[:, 1] = 0.0
    standing = with_samples(samples)
    largest_mean_square = (samples**2).mean(axis=0).max()
    assert standing.variances()[1] == pytest.approx(largest_mean_square / 31)


def test_errors_of_equal_samples_decrease_with_their_number():
    errors = [with_samples(np.tile([3.0, 1.0], (m, 1))).std_errors for m in (5, 50, 500)]
    assert np.all(np.diff(errors, axis=0) < 0)
    assert np.min(errors) > 0


def test_while_all_samples_are_zero_the_variance_follows_from_the_gain():
    np.testing.assert_allclose(with_samples(np.zeros((9, 2)), gain=4.0).variances(), 16.0 / 10)


def test_equal_differences_have_a_positive_variance():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(30, 1))
    standing = with_samples(np.hstack([common, common + 1.0, rng.normal(size=(30, 1))]))
    assert pair_variances(standing)[0, 1] > 0
    assert standing.covariance()[0, 1] < standing.std_errors[0] * standing.std_errors[1]


@given(st.integers(0, 999), st.sampled_from([1e-9, 1.0, 1e9]))
def test_the_floor_does_not_change_positive_variances(seed, scale):
    samples = scale * np.random.default_rng(seed).normal(1.0, [1.0, 1e-3, 1e-5], size=(20, 3))
    standing = with_samples(samples)
    np.testing.assert_allclose(standing.variances(), samples.var(axis=0, ddof=1), rtol=1e-9)
    differences = samples[:, None, :] - samples[:, :, None]
    off_diagonal = ~np.eye(3, dtype=bool)
    expected = differences.var(axis=0, ddof=1)[off_diagonal]
    np.testing.assert_allclose(pair_variances(standing)[off_diagonal], expected, rtol=1e-9)


def test_rounding_errors_do_not_count_as_variance():
    samples = np.tile([0.1 + 0.2, 1.0], (50, 1))
    samples[::2, 0] = 0.3  # differs from 0.1 + 0.2 in the last bit
    standing = with_samples(samples)
    assert standing.variances()[0] == pytest.approx(1.0 / 51)


def test_comparing_two_players_is_a_round_of_these_two():
    rng = np.random.default_rng(0)
    compared, in_rounds = mean_standing(3), mean_standing(3)
    for samples in rng.normal(size=(15, 2)):
        compared.add_few(samples.tolist(), (2, 0))
        in_rounds.pairs.add(samples[None], np.array([2, 0]))
    np.testing.assert_array_equal(compared.counts, [15, 0, 15])
    np.testing.assert_allclose(compared.estimates, in_rounds.estimates)
    np.testing.assert_allclose(compared.variances(), in_rounds.variances())
    assert pair_variances(compared)[0, 2] == pytest.approx(pair_variances(in_rounds)[0, 2])
    assert compared.pairs.mean[0, 2] == pytest.approx(in_rounds.pairs.mean[0, 2])


@pytest.mark.parametrize("known", [0, 1])
def test_an_incomplete_comparison_counts_for_the_sampled_player(known):
    standing = mean_standing(3)
    standing.add_few([4.0, 1.0][:known], (2, 0))
    np.testing.assert_array_equal(standing.counts, [0, 0, known])
    assert not standing.pairs.count.any()


def test_the_ranking_is_by_estimate_best_first():
    standing = with_samples([[1.0, 5.0, 3.0]])
    assert standing.ranking().tolist() == [1, 2, 0]
    top, rest = standing.partition(2)
    assert (top.tolist(), rest.tolist()) == ([1, 2], [0])


@given(st.permutations(range(5)))
def test_ties_are_ranked_in_the_tie_order(order):
    standing = with_samples([[2.0, 2.0, 7.0, 2.0, 2.0]], tie_order=order)
    assert standing.ranking().tolist() == [2, *(player for player in order if player != 2)]


@given(st.permutations(range(4)))
def test_estimates_that_differ_by_rounding_alone_are_ties(order):
    standing = with_samples([[0.1 + 0.2, 0.3, 7.0, 0.3]], tie_order=order)  # the first differs in its last bit
    assert standing.ranking(resolution=1e-12).tolist() == [2, *(player for player in order if player != 2)]


def test_a_fitted_standing_has_no_error_until_it_is_set():
    standing = FittedStanding(np.arange(2), np.array([1.0, 3.0]))
    assert np.isnan(standing.std_errors).all()
    assert standing.covariance() is None
    standing.set(np.array([2.0, 1.0]), np.array([[4.0, 1.0], [1.0, 9.0]]))
    np.testing.assert_array_equal(standing.estimates, [2.0, 1.0])
    np.testing.assert_array_equal(standing.std_errors, [2.0, 3.0])
    np.testing.assert_array_equal(standing.covariance(), [[4.0, 1.0], [1.0, 9.0]])


def test_errors_stay_unknown_while_all_samples_and_the_gain_are_zero():
    standing = mean_standing(3, gain=0.0)
    for _ in range(3):
        standing.add(np.zeros(3))
    assert np.isnan(standing.std_errors).all()
    standing.add_few([0.0, 0.0], [0, 1])
    assert np.isnan(standing.std_errors).all()
