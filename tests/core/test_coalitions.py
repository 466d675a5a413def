"""Coalitions as rows, keys and ids, and their random draws."""

import itertools
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from topshap.core import coalitions as co


def batches_of(n_max, n_min=1):
    shapes = st.tuples(st.integers(0, 12), st.integers(n_min, n_max))
    return shapes.flatmap(lambda shape: hnp.arrays(np.bool_, shape))


def sizes_are_uniform(sizes, low, high):
    """Chi-square far below its 1e-6 quantile for up to 12 sizes."""
    counts = np.bincount(sizes - low, minlength=high - low + 1)
    expected = len(sizes) / (high - low + 1)
    return len(counts) == high - low + 1 and ((counts - expected) ** 2 / expected).sum() < 50


@given(batches_of(40))
def test_rows_have_the_same_key_exactly_when_they_are_the_same(coalitions):
    keys = co.keys(coalitions)
    for i, j in itertools.combinations(range(len(coalitions)), 2):
        assert (keys[i] == keys[j]) == np.array_equal(coalitions[i], coalitions[j])


def test_a_key_does_not_depend_on_the_memory_layout():
    coalitions = np.random.default_rng(0).random((7, 11)) < 0.5
    assert co.keys(np.asfortranarray(coalitions)) == co.keys(coalitions)
    assert co.keys(coalitions[::-1]) == co.keys(coalitions)[::-1]


def test_an_empty_array_of_coalitions_has_no_keys():
    assert co.keys(np.empty((0, 9), dtype=bool)) == []


@given(batches_of(62))
def test_ids_and_rows_translate_both_ways(coalitions):
    ids = co.to_ids(coalitions)
    np.testing.assert_array_equal(co.from_ids(ids, coalitions.shape[1]), coalitions)


def test_player_i_is_bit_i():
    np.testing.assert_array_equal(co.to_ids(np.eye(20, dtype=bool)), 2 ** np.arange(20))


def test_smallest_takes_the_players_with_the_smallest_entries():
    order = np.array([[0.3, 0.1, 0.2], [0.3, 0.1, 0.2], [0.5, 0.6, 0.4], [0.5, 0.6, 0.4]])
    expected = [[False, False, False], [False, True, False], [True, False, True], [True, True, True]]
    np.testing.assert_array_equal(co.smallest(np.array([0, 1, 2, 3]), order), expected)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 99))
def test_a_drawn_coalition_has_the_requested_size(sizes, seed):
    drawn = co.draw_of_sizes(np.array(sizes, dtype=int), 9, np.random.default_rng(seed))
    assert drawn.sum(axis=1).tolist() == sizes


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_sizes_of_anchors_are_uniform_from_0_to_n(n):
    sizes = co.draw_anchors(6000, n, np.random.default_rng(n)).sum(axis=1)
    assert sizes_are_uniform(sizes, 0, n)


def test_anchors_of_one_size_are_equally_likely():
    anchors = co.draw_anchors(14000, 6, np.random.default_rng(0))
    of_size_3 = co.to_ids(anchors[anchors.sum(axis=1) == 3])
    counts = np.unique(of_size_3, return_counts=True)[1]
    assert len(counts) == 20
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 60  # chi-square with 19 degrees, 1e-6 quantile


@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 99))
def test_drawing_one_by_one_or_many_at_a_time_gives_the_same_anchors(n, count, seed):
    together = co.draw_anchors(count, n, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(np.stack(list(islice(co.anchors(n, rng), count))), together)
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(np.concatenate([co.draw_anchors(1, n, rng) for _ in range(count)]), together)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_coalition_drawn_without_a_player_is_uniform_in_size_and_never_has_it(n):
    players = np.tile(np.arange(n), 6000 // n)
    drawn = co.draw_without(players, n, np.random.default_rng(n))
    assert not drawn[np.arange(len(players)), players].any()
    assert sizes_are_uniform(drawn.sum(axis=1), 0, n - 1)


def test_the_others_are_equally_likely_to_be_drawn():
    players = np.full(9000, 2)
    inside = co.draw_without(players, 6, np.random.default_rng(0)).mean(axis=0)
    assert np.abs(np.delete(inside, 2) - 0.5).max() < 5 * 0.5 / np.sqrt(9000)


@given(batches_of(10), st.data())
def test_the_rows_with_and_without_a_player_differ_only_in_it(coalitions, data):
    m, n = coalitions.shape
    players = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=m, max_size=m)), dtype=int)
    rows = co.with_and_without(coalitions, players)
    assert rows.shape == (2 * m, n)
    for row, player in enumerate(players):
        with_it, without_it = rows[2 * row], rows[2 * row + 1]
        assert with_it[player]
        assert not without_it[player]
        for other in set(range(n)) - {player}:
            assert with_it[other] == without_it[other] == coalitions[row, other]


def test_a_coalition_is_named_by_its_players():
    assert co.names_of(np.array([False, False])) == "{}"
    assert co.names_of(np.array([True, False, True])) == "{0, 2}"
    assert co.names_of(np.array([True, False, True]), ("age", "sex", "bmi")) == "{age, bmi}"


def test_the_name_of_a_large_coalition_ends_with_the_number_of_further_players():
    assert co.names_of(np.ones(20, dtype=bool), at_most=3) == "{0, 1, 2, ... 17 more}"
    assert co.names_of(np.ones(3, dtype=bool), at_most=3) == "{0, 1, 2}"
