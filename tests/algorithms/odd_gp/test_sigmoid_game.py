"""Shapley values of the sigmoid of an additive game."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from topshap.algorithms.odd_gp.sigmoid_game import sigmoid_shapley_values
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table

effects_of_players = st.integers(1, 7).flatmap(lambda n: arrays(np.float64, n, elements=st.floats(-20.0, 20.0)))


@given(constant=st.floats(-20.0, 20.0), effects=effects_of_players)
def test_values_are_those_of_all_coalitions(constant, effects):
    n = len(effects)
    signs = np.where(from_ids(np.arange(2**n), n), 1.0, -1.0)
    table = expit(constant + signs @ effects)
    exact = shapley_from_table(table - table[0])
    assert sigmoid_shapley_values(constant, effects) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("n", [60, 150])
def test_values_of_many_players_add_up_and_are_equal_for_equal_players(n):
    effects = np.random.default_rng(n).normal(size=n)
    effects[1] = effects[0]
    values = sigmoid_shapley_values(0.5, effects)
    assert values.sum() == pytest.approx(expit(0.5 + effects.sum()) - expit(0.5 - effects.sum()), abs=1e-9)
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert np.all(np.sign(values) == np.sign(effects))
