"""Exact Shapley values: the axioms, the arithmetic, the errors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from topshap.core.coalitions import from_ids
from topshap.core.errors import GameError, ParameterError
from topshap.core.tables import coalition_sizes, shapley_from_table
from topshap.reference.exact import shapley_values, value_table

NUMBERS = st.floats(-100, 100, allow_subnormal=False)
TABLES = st.integers(1, 6).flatmap(lambda n: arrays(np.float64, 2**n, elements=NUMBERS))


def by_permutations(table, n):
    """Return Shapley values by definition: the mean marginal contribution over all orders of the players."""
    phi = np.zeros(n)
    for order in itertools.permutations(range(n)):
        before = 0
        for player in order:
            phi[player] += table[before | 1 << player] - table[before]
            before |= 1 << player
    return phi / math.factorial(n)


def swapped(table, i, j):
    """Return the same game with players i and j swapped."""
    n = len(table).bit_length() - 1
    rows = from_ids(np.arange(2**n), n)
    rows[:, [i, j]] = rows[:, [j, i]]
    return table[rows @ (1 << np.arange(n))]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_shapley_value_is_the_mean_over_all_orders_of_the_players(n):
    table = np.random.default_rng(n).normal(size=2**n)
    np.testing.assert_allclose(shapley_from_table(table), by_permutations(table, n), atol=1e-14)


@given(TABLES)
def test_the_values_add_up_to_the_gain(table):
    assert math.isclose(shapley_from_table(table).sum(), table[-1] - table[0], abs_tol=1e-10)


@given(TABLES, st.data())
def test_swapping_two_players_swaps_their_values(table, data):
    n = len(table).bit_length() - 1
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    phi = shapley_from_table(table)
    phi[[i, j]] = phi[[j, i]]
    np.testing.assert_allclose(shapley_from_table(swapped(table, i, j)), phi, atol=1e-10)


@given(TABLES, st.data())
def test_a_dummy_player_has_the_value_zero(table, data):
    n = len(table).bit_length() - 1
    dummy = data.draw(st.integers(0, n))
    wider = np.repeat(table.reshape(-1, 1, 2**dummy), 2, axis=1).ravel()
    phi = shapley_from_table(wider)
    assert phi[dummy] == 0.0
    np.testing.assert_allclose(np.delete(phi, dummy), shapley_from_table(table), atol=1e-10)


@given(TABLES, NUMBERS, NUMBERS)
def test_shapley_values_are_linear_in_the_game(table, a, b):
    other = table[::-1] ** 2 / 100
    expected = a * shapley_from_table(table) + b * shapley_from_table(other)
    np.testing.assert_allclose(shapley_from_table(a * table + b * other), expected, atol=1e-8)


def test_a_large_baseline_does_not_change_the_values():
    table = np.random.default_rng(0).integers(0, 8, size=2**8).astype(float)
    np.testing.assert_array_equal(shapley_from_table(table + 2.0**40), shapley_from_table(table))


def test_a_symmetric_game_of_sixteen_players_has_equal_values():
    sizes = coalition_sizes(16)
    np.testing.assert_allclose(shapley_from_table(sizes.astype(float) ** 2), np.full(16, 16.0))


def test_the_sizes_count_the_members():
    np.testing.assert_array_equal(coalition_sizes(9), from_ids(np.arange(2**9), 9).sum(axis=1))


def test_a_table_may_be_a_list_of_ints_or_strided():
    assert shapley_from_table([0, 1, 2, 5]).tolist() == [2.0, 3.0]
    assert shapley_from_table(np.arange(16.0)[::2]).tolist() == [2.0, 4.0, 8.0]


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 1.0, 2.0], np.zeros((3, 2)), np.zeros((2, 2, 2)), 3.0])
def test_a_table_of_the_wrong_shape_is_refused(values):
    shape = r"\(" + ", ".join(map(str, np.shape(values)))
    with pytest.raises(ParameterError, match=rf"'values' parameter of shapley_from_table .*2\*\*n.*{shape}"):
        shapley_from_table(values)


@pytest.mark.parametrize("values", [["a", "b"], [0, None], [0j, 1j], [[0], [1, 2]]])
def test_a_table_of_anything_but_real_numbers_is_refused(values):
    with pytest.raises(ParameterError, match="must be an array of real numbers"):
        shapley_from_table(values)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_named(bad):
    with pytest.raises(GameError, match=rf"{bad} for \{{0, 2\}}"):
        shapley_from_table([0, 0, 0, 0, 0, bad, 0, 0])


def test_every_coalition_is_evaluated_once_in_the_order_of_ids():
    seen = []

    def game(coalitions):
        seen.append(coalitions.copy())
        return coalitions @ np.array([1, 2, 4, 8, 16])

    np.testing.assert_array_equal(value_table(game, 5, batch_bytes=50), np.arange(32))
    assert [len(batch) for batch in seen] == [10, 10, 10, 2]
    np.testing.assert_array_equal(np.concatenate(seen), from_ids(np.arange(32), 5))


@given(TABLES, st.integers(1, 1000))
def test_the_size_of_a_batch_changes_nothing(table, batch_bytes):
    def game(coalitions):
        return table[coalitions @ (1 << np.arange(coalitions.shape[1]))]

    n = len(table).bit_length() - 1
    np.testing.assert_array_equal(shapley_values(game, n, batch_bytes=batch_bytes), shapley_from_table(table))


def test_the_number_of_players_may_be_an_attribute_of_the_game():
    class Count:
        n_players = 4

        def __call__(self, coalitions):
            return coalitions.sum(axis=1)

    np.testing.assert_allclose(shapley_values(Count()), np.ones(4))
    np.testing.assert_allclose(shapley_values(Count(), 3), np.ones(3))


def test_too_many_players_are_refused_before_anything_is_evaluated():
    with pytest.raises(ParameterError, match=r"Got 30 instead, which needs 2\*\*30 evaluations"):
        shapley_values(pytest.fail, 30)
    with pytest.raises(ParameterError, match=r"in \[1, 3\].*2\*\*4 "):
        value_table(pytest.fail, 4, max_players=3)


@pytest.mark.parametrize("n_players", [None, 0, -1, 2.0, "3", True])
def test_an_invalid_number_of_players_is_refused(n_players):
    with pytest.raises(ParameterError, match=f"'n_players' parameter of value_table .*Got {n_players!r} instead"):
        value_table(lambda coalitions: coalitions.sum(axis=1), n_players)


@pytest.mark.parametrize("answer", [1.0, [1.0], np.zeros((4, 1)), ["a"] * 4, [1j] * 4, [None] * 4])
def test_an_answer_that_is_not_one_number_per_coalition_is_refused(answer):
    with pytest.raises(GameError, match="must return"):
        value_table(lambda _: answer, 2)


def test_a_nan_is_reported_with_its_coalition():
    with pytest.raises(GameError, match=r"nan for \{1\}"):
        value_table(lambda coalitions: np.where(coalitions[:, 1] & ~coalitions[:, 0], np.nan, 0.0), 3)
