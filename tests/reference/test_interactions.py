"""Exact interactions: the definition, the axioms, the errors, and the numbers of shapiq."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import topshap
from topshap.core.errors import GameError, ParameterError
from topshap.core.pairs import all_pairs
from topshap.core.tables import shapley_from_table
from topshap.reference.exact import interactions_from_table, shapley_interactions

NUMBERS = st.floats(-100, 100, allow_subnormal=False)
TABLES = st.integers(2, 6).flatmap(lambda n: arrays(np.float64, 2**n, elements=NUMBERS))


def by_definition(table):
    """Return the weighted sums of second differences over all sets of other players, in a loop."""
    n = len(table).bit_length() - 1
    found = []
    for i, j in all_pairs(n).tolist():
        total = 0.0
        others = [player for player in range(n) if player not in (i, j)]
        for size in range(n - 1):
            weight = math.factorial(size) * math.factorial(n - size - 2) / math.factorial(n - 1)
            for chosen in itertools.combinations(others, size):
                s = sum(1 << player for player in chosen)
                a, b = 1 << i, 1 << j
                total += weight * (table[s | a | b] - table[s | a] - table[s | b] + table[s])
        found.append(total)
    return np.array(found)


@given(TABLES)
def test_it_is_the_definition(table):
    np.testing.assert_allclose(interactions_from_table(table), by_definition(table), atol=1e-10)


@pytest.mark.parametrize("n", [7, 8])
def test_it_is_the_definition_for_more_players(n):
    table = np.random.default_rng(n).normal(size=2**n)
    np.testing.assert_allclose(interactions_from_table(table), by_definition(table), atol=1e-12)


@given(TABLES)
def test_it_depends_only_on_the_even_part(table):
    odd = (table - table[::-1]) / 2.0
    np.testing.assert_allclose(interactions_from_table(odd), 0.0, atol=1e-10)


@given(TABLES)
def test_it_is_the_change_of_a_shapley_value(table):
    """The interaction of the last two players is what the one adds to the other's Shapley value in the smaller game."""
    n = len(table).bit_length() - 1
    with_last, without_last = table[2 ** (n - 1) :], table[: 2 ** (n - 1)]
    gain = shapley_from_table(with_last) - shapley_from_table(without_last)
    np.testing.assert_allclose(interactions_from_table(table)[-1], gain[-1], atol=1e-9)


def test_a_large_baseline_cancels():
    table = np.random.default_rng(0).integers(0, 9, size=32).astype(float)
    assert np.array_equal(interactions_from_table(table + 2.0**40), interactions_from_table(table))


@pytest.mark.parametrize("factor", [2.0**-1000, 2.0**900])
def test_values_of_any_size_are_exact(factor):
    table = np.random.default_rng(0).normal(size=32)
    assert np.array_equal(interactions_from_table(factor * table), factor * interactions_from_table(table))


def test_an_additive_game_has_none_and_a_unanimity_game_shares_its_own():
    assert not shapley_interactions(topshap.games.AdditiveGame([3.0, 1.0, -2.0])).any()
    found = shapley_interactions(topshap.games.UnanimityGame([[0, 1, 3]], [6.0], n_players=4))
    np.testing.assert_allclose(found, [3.0, 0.0, 3.0, 0.0, 3.0, 0.0], atol=1e-15)


def test_invalid_tables_are_refused():
    with pytest.raises(ParameterError, match="at least two players"):
        interactions_from_table([0.0, 1.0])
    with pytest.raises(ParameterError, match="one-dimensional"):
        interactions_from_table(np.zeros((4, 2)))
    with pytest.raises(GameError, match=r"Got nan for \{0, 1\}"):
        interactions_from_table([0.0, 1.0, 2.0, np.nan])


def test_shapiq_computes_the_same():
    shapiq = pytest.importorskip("shapiq")
    table = np.random.default_rng(3).normal(size=2**6)
    game = topshap.games.TableGame(table)
    computer = shapiq.ExactComputer(topshap.interop.to_shapiq(game), 6)
    exact = computer(index="SII", order=2)
    theirs = [exact[tuple(pair)] for pair in all_pairs(6).tolist()]
    np.testing.assert_allclose(interactions_from_table(table), theirs, atol=1e-12)
