import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import (
    all_pairs,
    allocate,
    draw_pairs,
    draw_sets_of_size,
    drop_used,
    first_design,
    pair_keys,
    pairs_of_size,
)


@given(n=st.integers(2, 12), count=st.integers(0, 400), exponent=st.sampled_from([0.0, 0.5, 3.0]))
def test_as_many_distinct_pairs_are_drawn_as_requested_or_available(n, count, exponent):
    rows = draw_pairs(n, count, exponent, np.random.default_rng(0))
    assert len(rows) == len(set(pair_keys(rows))) == min(count, 2 ** (n - 1) - 1)
    sizes = rows.sum(axis=1)
    assert ((sizes > 0) & (sizes < n)).all()


@pytest.mark.parametrize("n", [5, 6])
def test_all_pairs_lists_every_pair_once(n):
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
def test_an_allocation_uses_the_total_within_the_capacities(count, weights, available):
    counts = allocate(count, np.array(weights), np.array(available, dtype=float), np.random.default_rng(0))
    assert counts.sum() == min(count, sum(available))
    assert (counts <= available).all()


def test_used_and_repeated_pairs_are_left_out():
    rows = np.array([[True, False, False], [False, True, True], [False, True, False], [True, False, True]])
    used = pair_keys(rows[2:3])
    assert len(drop_used(rows, used)) == 1


def test_drawn_sets_are_distinct_and_of_the_requested_size():
    rng = np.random.default_rng(0)
    for count in (1, 5, 20):
        rows = draw_sets_of_size(6, 3, count, rng)
        assert len({row.tobytes() for row in rows}) == count
        assert (rows.sum(axis=1) == 3).all()


@pytest.mark.parametrize("singles_first", [True, False])
@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 3), (4, 7), (6, 9), (20, 27)])
def test_the_first_design_has_the_requested_number_of_distinct_pairs(n, count, singles_first):
    rows = first_design(n, count, np.random.default_rng(0), singles_first=singles_first)
    assert len(rows) == len(set(pair_keys(rows))) == count
    if singles_first and count >= n:
        assert np.array_equal(rows[:n], np.eye(n, dtype=bool))
