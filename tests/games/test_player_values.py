"""The value of each player of a PredictionGame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from topshap.games import PredictionGame


def game_of(frame, row=0, **options):
    x = frame[row : row + 1]
    return PredictionGame(lambda rows: np.zeros(len(rows)), x, frame, **options)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_the_value_of_a_column_is_its_cell(kind):
    frame = kind({"age": [39, 50], "job": ["a", None], "rate": [0.5, 1.5], "old": [True, False]})
    assert game_of(frame).player_values == (39, "a", 0.5, True)
    assert game_of(frame, always=["job"]).player_values == (39, 0.5, True)


def test_the_values_of_an_array_are_its_cells():
    assert game_of(np.array([[1.5, 2.0], [0.0, 0.0]])).player_values == (1.5, 2.0)


@pytest.mark.parametrize(
    ("columns", "rows", "value"),
    [
        (["city_Graz", "city_Wien"], [[0, 1], [1, 0]], "Wien"),
        (["city_Graz", "city_Wien"], [[0.0, 1.0], [0.0, 0.0]], "Wien"),
        (["Graz", "Wien"], [[True, False], [False, True]], "Graz"),
        (["cityscape", "cityhall"], [[1, 0], [0, 1]], "cityscape"),
        (["city_Graz", "city_Wien"], [[0, 0], [1, 0]], None),
        (["likes", "dislikes"], [[0, 1], [1, 1]], None),
        (["height", "width"], [[0.5, 1.0], [1, 0]], None),
        (["a", "b"], [["x", "y"], ["x", "y"]], None),
    ],
)
def test_only_one_hot_groups_have_a_value(columns, rows, value):
    frame = pd.DataFrame(rows, columns=columns)
    assert game_of(frame, groups={"city": columns}).player_values == (value,)
