"""The parts that games with a closed form share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.errors import ParameterError
from topshap.games.closed_form import numbers, sum_inside


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.integers(0, 99))
def test_the_sum_of_a_coalition_does_not_depend_on_the_batch(amounts, seed):
    weights = np.array(amounts)
    rows = np.random.default_rng(seed).random((7, len(weights))) < 0.5
    together = sum_inside(rows, weights)
    np.testing.assert_array_equal([sum_inside(row[None], weights)[0] for row in rows], together)


def test_parameters_are_copied_and_read_only():
    given_weights = np.array([1.0, 2.0])
    weights = numbers("weights", given_weights)
    given_weights[0] = 9.0
    assert weights.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 3.0
    with pytest.raises(ParameterError, match="'weights' parameter must be a non-empty one-dimensional array"):
        numbers("weights", [])
