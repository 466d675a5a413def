"""The columns of a table: features, target and task."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import topshap
from topshap.cli.tables import Task, as_features, column, task_of, trainable, without


def test_the_error_about_a_missing_column_suggests_the_closest_name(houses):
    path = Path("houses.csv")
    for near, meant in (("Price", "price"), ("rooom", "rooms"), ("CITY", "city")):
        with pytest.raises(topshap.ParameterError, match=f"no column '{near}'.*Did you mean '{meant}'"):
            column(houses, near, path)
    with pytest.raises(topshap.ParameterError, match="The columns are id, rooms, city"):
        column(houses, "xyzzy", path)
    with pytest.raises(topshap.ParameterError, match=r"No columns of .* are left"):
        without(houses, houses.columns, path)


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1, 1, 0], Task.classification),
        ([0.0, 1.0, 2.0], Task.classification),
        (["a", "b"], Task.classification),
        ([True, False], Task.classification),
        ([0.5, 1.0], Task.regression),
        (list(range(11)), Task.regression),
    ],
)
def test_the_task_is_inferred(values, task):
    assert task_of(pd.Series(values)) is task


def test_rows_without_a_target_are_dropped_with_a_message(houses):
    frame = houses.assign(price=houses["price"].where(houses.index != 3))
    X, y, task, said = trainable(frame, "price", ["id"], None, path=Path("houses.csv"))
    assert len(X) == len(y) == 119
    assert 3 not in X.index
    assert task is Task.regression
    assert "Rows without a target are skipped: 1 of 120" in said
    assert list(X) == ["rooms", "city", "noise", "old", "dear"]


def test_a_target_that_cannot_be_predicted_is_refused(houses):
    path = Path("houses.csv")
    for changed, target, task, message in (
        ({"price": 1.0}, "price", None, "must have at least two distinct values"),
        ({}, "dear", Task.regression, "must be numeric"),
        ({"dear": ["maybe"] + ["no"] * 119}, "dear", None, "at least 3 rows. 'maybe' has 1"),
    ):
        with pytest.raises(topshap.ParameterError, match=message):
            trainable(houses.assign(**changed), target, [], task, path=path, rows_a_class=3)


def test_features_become_numbers_with_missing_values_or_text():
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["1970-01-02", None]),
            "far": pd.to_datetime(["1970-01-03", None]).tz_localize("Europe/Vienna"),
            "count": pd.array([1, None], dtype="Int64"),
            "kind": pd.Categorical(["a", None]),
        }
    )
    features = as_features(frame)
    assert features["when"].tolist()[0] == 1.0
    assert features["far"].tolist()[0] == pytest.approx(2.0, abs=0.1)
    assert features["count"].tolist()[0] == 1.0
    assert features["kind"].tolist()[0] == "a"
    assert features.loc[1].isna().all()
    assert [features[name].dtype for name in features] == [np.float64, np.float64, np.float64, object]
