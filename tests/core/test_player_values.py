"""Values of players: any object becomes None, a bool, a number or a text."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.errors import ParameterError
from topshap.core.player_values import check_player_values, plain_value


class Rude:
    def __str__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (np.bool_(True), True),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("Wien"), "Wien"),
        (np.datetime64("2024-05-01"), "2024-05-01"),
        (pd.Timestamp("2024-05-01 12:00"), "2024-05-01 12:00:00"),
        (pd.NaT, "NaT"),
        (b"x", "b'x'"),
        ([1, "a"], "[1, 'a']"),
        (2**999, 2**999),
        (10**5000, "int of 16610 bits"),
        (Rude(), "Rude"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_becomes_a_plain_object(value, plain):
    found = plain_value(value)
    assert found == plain
    assert type(found) is type(plain)


def test_nan_stays_nan():
    assert np.isnan(plain_value(np.float64("nan")))


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates()))
def test_every_plain_value_can_be_written_as_json(value):
    json.dumps(plain_value(value))


@pytest.mark.parametrize("values", [[1, 2], "abc", 5])
def test_there_is_one_value_per_player(values):
    with pytest.raises(ParameterError, match="one value for each of the 3 players"):
        check_player_values(values, 3)


def test_the_attributes_of_a_game_reach_the_result():
    class Game:
        n_players, player_values, output_name = 3, [np.int64(1), "b", None], "price"

        def __call__(self, coalitions):
            return coalitions @ np.array([3.0, 1.0, 2.0])

    top = topshap.identify(Game(), k=2)
    assert top.player_values == (1, "b", None)
    assert top.output_name == "price"
    assert topshap.identify(topshap.Oracle(Game()), k=2).player_values == (1, "b", None)


def test_a_game_with_the_wrong_number_of_values_is_refused():
    class Game:
        n_players, player_values = 3, [1, 2]

        def __call__(self, coalitions):
            return coalitions.sum(axis=1)

    with pytest.raises(ParameterError, match=r"'player_values' .* must be one value for each of the 3 players"):
        topshap.identify(Game(), k=2)
