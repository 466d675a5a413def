"""Running moments, compared with those of all samples at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.statistics.moments import PairMoments, PlayerMoments

N = 4


@st.composite
def rounds(draw):
    """Rounds of samples: the sampled players, and a few rows of numbers for them."""
    blocks = []
    for _ in range(draw(st.integers(1, 5))):
        players = draw(st.one_of(st.just(range(N)), st.lists(st.integers(0, N - 1), unique=True, max_size=N)))
        seed, rows = draw(st.integers(0, 999)), draw(st.integers(0, 4))
        samples = np.random.default_rng(seed).normal(3.0, 2.0, (rows, len(players)))
        blocks.append((np.array(players, dtype=int), samples))
    return blocks


def add_all(moments, blocks):
    for players, samples in blocks:
        everyone = players.tolist() == list(range(N))
        moments.add(samples, slice(None) if everyone else players)


def sampled(blocks, *players):
    """The rows of all blocks in which all of `players` were sampled, one column each."""
    rows = [
        samples[:, [list(block).index(player) for player in players]]
        for block, samples in blocks
        if set(players) <= set(block.tolist())
    ]
    return np.concatenate([np.empty((0, len(players))), *rows])


def variances(moments):
    everyone = np.arange(N if isinstance(moments, PlayerMoments) else len(moments.count))
    return moments.variances() if isinstance(moments, PlayerMoments) else moments.between(everyone, everyone)[2]


@given(rounds())
def test_player_moments_are_those_of_all_samples_at_once(blocks):
    moments = PlayerMoments(N)
    add_all(moments, blocks)
    variances = moments.variances()
    for i in range(N):
        mine = sampled(blocks, i)[:, 0]
        assert moments.count[i] == len(mine)
        assert moments.mean[i] == pytest.approx(mine.mean() if len(mine) else 0.0, abs=1e-12)
        assert variances[i] == pytest.approx(mine.var(ddof=1) if len(mine) > 1 else np.nan, abs=1e-12, nan_ok=True)
        assert moments.mean_squares()[i] == pytest.approx((mine**2).mean() if len(mine) else 0.0, abs=1e-12)


@given(rounds())
def test_pair_moments_are_those_of_the_rounds_in_which_both_were_sampled(blocks):
    pairs = PairMoments(N)
    add_all(pairs, blocks)
    of_pairs = variances(pairs)
    for i in range(N):
        for j in range(N):
            shared = sampled(blocks, i, j) if i != j else np.repeat(sampled(blocks, i), 2, axis=1)
            difference = shared[:, 1] - shared[:, 0]
            assert pairs.count[i, j] == len(difference)
            assert pairs.mean[i, j] == pytest.approx(difference.mean() if len(difference) else 0.0, abs=1e-12)
            expected = difference.var(ddof=1) if len(difference) > 1 else np.nan
            assert of_pairs[i, j] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(rounds())
def test_pair_means_are_antisymmetric_and_pair_variances_symmetric_to_the_bit(blocks):
    pairs = PairMoments(N)
    add_all(pairs, blocks)
    np.testing.assert_array_equal(pairs.mean, -pairs.mean.T)
    np.testing.assert_array_equal(variances(pairs), variances(pairs).T)


def test_adding_one_sample_equals_adding_a_row_of_one():
    rng = np.random.default_rng(0)
    one, row = PlayerMoments(2), PlayerMoments(2)
    for sample in rng.normal(size=20):
        one.add_one(float(sample), 1)
        row.add(np.array([[sample]]), np.array([1]))
    np.testing.assert_array_equal(one.count, row.count)
    np.testing.assert_allclose(one.mean, row.mean, rtol=1e-14)
    np.testing.assert_allclose(one.variances(), row.variances(), rtol=1e-12)


def test_adding_one_difference_equals_adding_a_round_of_two():
    rng = np.random.default_rng(0)
    one, row = PairMoments(3), PairMoments(3)
    for samples in rng.normal(size=(20, 2)):
        one.add_two(*samples.tolist(), 2, 0)  # type: ignore[call-arg]
        row.add(samples[None], np.array([2, 0]))
    for pair in ((2, 0), (0, 2)):
        assert one.count[pair] == row.count[pair] == 20
        assert one.mean[pair] == pytest.approx(row.mean[pair], rel=1e-13)
        assert variances(one)[pair] == pytest.approx(variances(row)[pair], rel=1e-12)


def test_all_players_may_be_given_as_indices_or_as_a_slice():
    samples = np.random.default_rng(0).normal(5.0, 1.0, (9, N))
    for moments in (PlayerMoments, PairMoments):
        named, taken = moments(N), moments(N)
        for part in (samples[:4], samples[4:]):
            named.add(part, np.arange(N))
            taken.add(part, slice(None))
        np.testing.assert_array_equal(named.count, taken.count)
        np.testing.assert_allclose(named.mean, taken.mean, rtol=1e-13)
        np.testing.assert_allclose(variances(named), variances(taken), rtol=1e-12)


def test_variances_of_some_pairs_are_part_of_the_whole_matrix():
    pairs = PairMoments(5)
    pairs.add(np.random.default_rng(0).normal(size=(6, 5)), slice(None))
    i, j = np.array([3, 0]), np.array([1, 2, 4])
    np.testing.assert_array_equal(pairs.between(i, j)[2], variances(pairs)[np.ix_(i, j)])


@pytest.mark.parametrize("baseline", [1e9, -1e9])
def test_a_small_variance_survives_beside_a_large_mean(baseline):
    noise = np.random.default_rng(0).integers(-4, 5, size=(200, 1)) / 16  # exact beside the baseline
    by_row, at_once = PlayerMoments(1), PlayerMoments(1)
    for row in noise:
        by_row.add(baseline + row[None], slice(None))
    at_once.add(baseline + noise, slice(None))
    for moments in (by_row, at_once):
        assert moments.variances()[0] == pytest.approx(noise.var(ddof=1), rel=1e-6)


def test_a_variance_is_never_negative():
    moments = PlayerMoments(1)
    for _ in range(100):
        moments.add_one(0.1 + 1e9, 0)
        assert not moments.variances()[0] < 0


def test_no_rows_and_no_players_change_nothing():
    moments, pairs = PlayerMoments(3), PairMoments(3)
    for samples, players in ((np.empty((0, 3)), slice(None)), (np.empty((1, 0)), np.empty(0, dtype=int))):
        moments.add(samples, players)
        pairs.add(samples, players)
    assert not moments.count.any()
    assert not pairs.count.any()
