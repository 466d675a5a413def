"""Background sets in a random order that all pairs share."""

import math

import numpy as np
import pytest

from topshap.algorithms.swap.orders import (
    SINGLE_SIZES_UP_TO,
    SharedOrder,
    shared_orders,
    size_blocks,
    stratum_weights,
    to_masks,
    to_rows,
)
from topshap.core.coalitions import draw_anchors, keys


def anchors(order, positions, n):
    return to_rows([order.anchors[position] for position in positions], n)


def background(order, positions, n, i, j):
    """The sets S of these anchors, without i and j."""
    rows = anchors(order, positions, n)
    rows[:, [i, j]] = False
    return rows


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 64, 65, 300])
def test_masks_and_rows_are_the_same_coalitions(n):
    rows = draw_anchors(20, n, np.random.default_rng(n))
    masks = to_masks(rows)
    np.testing.assert_array_equal(to_rows(masks, n), rows)
    assert [sum(1 << int(p) for p in np.flatnonzero(row)) for row in rows] == masks


@pytest.mark.parametrize("n", [2, 3, 4, 5, 14, 20, 21, 22, 30, 61, 300, 1000])
def test_the_strata_hold_every_size_once_and_none_lies_on_both_sides_of_the_middle(n):
    blocks = size_blocks(n)
    assert [s for block in blocks for s in block] == list(range(n - 1))
    assert all((2 * block[0] > n - 2) == (2 * block[-1] > n - 2) for block in blocks)
    assert stratum_weights(blocks, n).sum() == pytest.approx(1.0)
    assert len(blocks) <= SINGLE_SIZES_UP_TO


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_a_pair_goes_through_all_its_sets_once(n):
    for order in shared_orders(n, np.random.default_rng(n)):
        (size,) = order.sizes
        for i, j in ((0, 1), (0, n - 1)):
            positions = order.next_for(i, j, 0, 10**6)
            rows = background(order, positions, n, i, j)
            assert len(positions) == len(set(keys(rows))) == order.population == math.comb(n - 2, size)
            assert (rows.sum(axis=1) == size).all()
            assert (np.diff(positions) > 0).all()


@pytest.mark.parametrize("size", [2, 5])
def test_flipping_i_or_j_in_an_anchor_adds_it_to_the_same_background_set(size):
    order = SharedOrder(8, range(size, size + 1), np.random.default_rng(0))
    positions = order.next_for(1, 4, 0, 5)
    anchor = anchors(order, positions, 8)
    without = background(order, positions, 8, 1, 4)
    for player, other in ((1, 4), (4, 1)):
        flipped = anchor.copy()
        flipped[:, player] ^= True
        expected = without.copy()
        expected[:, player if order.sign > 0 else other] = True
        np.testing.assert_array_equal(flipped, expected)


def test_a_longer_order_has_the_shorter_one_as_its_prefix():
    order = SharedOrder(12, range(5, 6), np.random.default_rng(0))
    first = order.next_for(0, 1, 0, 3)
    rows = anchors(order, first, 12)
    everything = order.next_for(0, 1, 0, 10**6)
    np.testing.assert_array_equal(everything[:3], first)
    np.testing.assert_array_equal(anchors(order, first, 12), rows)
    np.testing.assert_array_equal(order.next_for(0, 1, first[-1] + 1, 10**6), everything[3:])


@pytest.mark.parametrize("size", [1, 3])
def test_all_sets_of_a_pair_are_equally_likely_to_come_first(size):
    """2000 orders of the 4 sets: chi-square with 3 degrees of freedom is above 21.1 once in 10,000 times."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        order = SharedOrder(6, range(size, size + 1), rng)
        found.append(int(np.packbits(background(order, order.next_for(2, 5, 0, 1), 6, 2, 5))[0]))
    _, times = np.unique(found, return_counts=True)
    assert len(times) == 4
    assert ((times - 500) ** 2 / 500).sum() < 21.1


@pytest.mark.parametrize("sizes", [range(1, 5), range(30, 38)])
def test_all_sizes_of_a_block_occur_equally_often_for_a_pair(sizes):
    """With 4000 sets each of q sizes is expected 4000 / q times; 5 standard errors are allowed."""
    order = SharedOrder(40, sizes, np.random.default_rng(0))
    seen = background(order, order.next_for(3, 17, 0, 4000), 40, 3, 17).sum(axis=1)
    times = np.bincount(seen, minlength=40)[list(sizes)]
    expected = 4000 / len(sizes)
    assert times.sum() == 4000
    assert np.abs(times - expected).max() < 5 * math.sqrt(expected)
    assert order.population == math.inf


def test_in_a_noisy_game_sets_occur_repeatedly():
    order = SharedOrder(4, range(1), np.random.default_rng(0), repeat=True)
    assert len(order.next_for(0, 1, 0, 500)) == 500
    assert order.population == math.inf


def test_the_first_anchors_are_drawn_when_they_are_needed():
    order = SharedOrder(5, range(1), np.random.default_rng(0))
    assert order.draw_first(3) == 1  # there is only the empty set
    assert order.swappable(0).tolist() == [True] * 5
    assert SharedOrder(5, range(3, 4), np.random.default_rng(0)).draw_first(1) == 1
