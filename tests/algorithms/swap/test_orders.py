"""Sets in a random order that all pairs share."""

import math

import numpy as np
import pytest

from topshap.algorithms.swap.orders import SINGLE_SIZES_UP_TO, SharedPermutation, blocks_of_sizes, strata, weights
from topshap.core.coalitions import keys


def company(order, positions, i, j):
    """The sets S of these bases, without i and j."""
    rows = order.bases[positions].copy()
    rows[:, [i, j]] = False
    return rows


@pytest.mark.parametrize("n", [2, 3, 4, 5, 14, 20, 21, 22, 30, 61, 300, 1000])
def test_the_strata_hold_every_size_once_and_none_lies_on_both_sides_of_the_middle(n):
    blocks = blocks_of_sizes(n)
    assert [s for block in blocks for s in block] == list(range(n - 1))
    assert all((2 * block[0] > n - 2) == (2 * block[-1] > n - 2) for block in blocks)
    assert weights(blocks, n).sum() == pytest.approx(1.0)
    assert len(blocks) <= SINGLE_SIZES_UP_TO


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_a_pair_goes_through_all_its_sets_once(n):
    for order in strata(n, np.random.default_rng(n)):
        (size,) = order.sizes
        for i, j in ((0, 1), (0, n - 1)):
            positions = order.of_pair(i, j, 0, 10**6)
            rows = company(order, positions, i, j)
            assert len(positions) == len(set(keys(rows))) == order.population == math.comb(n - 2, size)
            assert (rows.sum(axis=1) == size).all()
            assert (np.diff(positions) > 0).all()


@pytest.mark.parametrize("size", [2, 5])
def test_flipping_i_or_j_in_a_base_adds_it_to_the_same_company(size):
    order = SharedPermutation(8, range(size, size + 1), np.random.default_rng(0))
    positions = order.of_pair(1, 4, 0, 5)
    base = order.bases[positions]
    without = company(order, positions, 1, 4)
    for player, other in ((1, 4), (4, 1)):
        flipped = base.copy()
        flipped[:, player] ^= True
        expected = without.copy()
        expected[:, player if order.sign > 0 else other] = True
        np.testing.assert_array_equal(flipped, expected)


def test_what_comes_later_does_not_change_what_came_before():
    order = SharedPermutation(12, range(5, 6), np.random.default_rng(0))
    first = order.of_pair(0, 1, 0, 3)
    rows = order.bases[first].copy()
    everything = order.of_pair(0, 1, 0, 10**6)
    np.testing.assert_array_equal(everything[:3], first)
    np.testing.assert_array_equal(order.bases[first], rows)
    np.testing.assert_array_equal(order.of_pair(0, 1, int(first[-1]) + 1, 10**6), everything[3:])


@pytest.mark.parametrize("size", [1, 3])
def test_every_set_of_a_pair_is_as_likely_to_come_first(size):
    """2000 orders of the 4 sets: chi-square with 3 degrees of freedom is above 21.1 once in 10,000 times."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        order = SharedPermutation(6, range(size, size + 1), rng)
        found.append(int(np.packbits(company(order, order.of_pair(2, 5, 0, 1), 2, 5))[0]))
    _, times = np.unique(found, return_counts=True)
    assert len(times) == 4
    assert ((times - 500) ** 2 / 500).sum() < 21.1


@pytest.mark.parametrize("sizes", [range(1, 5), range(30, 38)])
def test_in_a_block_of_sizes_a_pair_sees_all_of_them_equally_often(sizes):
    """With 4000 sets each of q sizes is expected 4000 / q times; 5 standard errors are allowed."""
    order = SharedPermutation(40, sizes, np.random.default_rng(0))
    seen = company(order, order.of_pair(3, 17, 0, 4000), 3, 17).sum(axis=1)
    times = np.bincount(seen, minlength=40)[list(sizes)]
    expected = 4000 / len(sizes)
    assert times.sum() == 4000
    assert np.abs(times - expected).max() < 5 * math.sqrt(expected)
    assert order.population == math.inf


def test_where_values_vary_sets_come_again_and_again():
    order = SharedPermutation(4, range(1), np.random.default_rng(0), repeat=True)
    assert len(order.of_pair(0, 1, 0, 500)) == 500
    assert order.population == math.inf


def test_the_first_bases_are_drawn_when_they_are_asked_for():
    order = SharedPermutation(5, range(1), np.random.default_rng(0))
    assert order.first(3) == 1  # there is only the empty set
    assert order.swappable(0, 1).tolist() == [[True] * 5]
    assert SharedPermutation(5, range(3, 4), np.random.default_rng(0)).first(1) == 1
