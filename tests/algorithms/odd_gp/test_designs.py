import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import all_pairs, draw_pairs, fill, pair_keys, pairs_of_size, without


@given(n=st.integers(2, 12), count=st.integers(0, 400), exponent=st.sampled_from([0.0, 0.5, 3.0]))
def test_pairs_are_different_and_as_many_as_asked_for_if_there_are(n, count, exponent):
    rows = draw_pairs(n, count, exponent, np.random.default_rng(0))
    assert len(rows) == len(set(pair_keys(rows))) == min(count, 2 ** (n - 1) - 1)
    sizes = rows.sum(axis=1)
    assert ((sizes > 0) & (sizes < n)).all()


@pytest.mark.parametrize("n", [5, 6])
def test_all_pairs_are_all_pairs(n):
    assert (
        len(set(pair_keys(all_pairs(n)))) == 2 ** (n - 1) - 1 == sum(pairs_of_size(n, s) for s in range(1, n // 2 + 1))
    )


def test_a_strong_emphasis_takes_the_single_players_first():
    rows = draw_pairs(20, 30, 3.0, np.random.default_rng(0))
    sizes = np.minimum(rows.sum(axis=1), 20 - rows.sum(axis=1))
    assert (sizes == 1).sum() == 20


def test_players_occur_about_equally_often():
    rows = draw_pairs(30, 600, 0.0, np.random.default_rng(0))
    small = np.where(rows.sum(axis=1, keepdims=True) <= 15, rows, ~rows)
    times = small.sum(axis=0)
    assert times.max() - times.min() < 0.2 * times.mean()


@given(
    count=st.integers(0, 100),
    weights=st.lists(st.floats(0.01, 10.0), min_size=3, max_size=3),
    available=st.lists(st.integers(0, 30), min_size=3, max_size=3),
)
def test_filling_spends_all_and_overfills_nothing(count, weights, available):
    counts = fill(count, np.array(weights), np.array(available, dtype=float), np.random.default_rng(0))
    assert counts.sum() == min(count, sum(available))
    assert (counts <= available).all()


def test_used_and_repeated_pairs_are_left_out():
    rows = np.array([[True, False, False], [False, True, True], [False, True, False], [True, False, True]])
    used = pair_keys(rows[2:3])
    assert len(without(rows, used)) == 1
