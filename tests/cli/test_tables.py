"""Tables from files: read completely, or refused with the number of the invalid line."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import topshap
from topshap.cli.tables import Task, as_features, column, read_table, task_of, trainable, without


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.parquet"])
def test_every_format_gives_the_same_table(tmp_path, houses, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        houses.to_parquet(path)
    else:
        houses.to_csv(path, index=False)
    frame = read_table(path)
    pd.testing.assert_frame_equal(frame, houses, check_dtype=False, check_exact=False)


def test_a_byte_order_mark_blank_lines_and_quoted_line_breaks_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfname,x\r\n\r\n"a\nb",1\r\nc,2\r\n')
    frame = read_table(path)
    assert frame["name"].tolist() == ["a\nb", "c"]
    assert frame["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n3,4,5\n", "Line 3 of '.*' has 3 fields, but the header has 2"),
        (b"a,b\n1,2\n3\n", "Line 3 of '.*' has 1 field, but the header has 2"),
        (b'a,b\n"1\n2",2\n3\n', "Line 4 of '.*' has 1 field"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "Cannot read line 3 of '.*': unexpected end of data"),
        (b"a,b\n1,2\n3,\xff\n", "Line 3 of '.*' is not UTF-8 text"),
        (b"a,b,a\n1,2,3\n", "The header of '.*', line 1, repeats the column 'a'"),
        (b"a;b\n1;2\n", "line 1, has a single column 'a;b'. Separate fields by commas"),
        (b"a,b\n", "has a header but no rows"),
        (b"", "is empty"),
    ],
)
def test_the_error_about_a_bad_file_names_the_line(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(path)
    zipped = tmp_path / "bad.csv.gz"
    zipped.write_bytes(gzip.compress(content))
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(zipped)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100)[:-12], "is not a complete gzip file"),
        ("t.csv.gz", b"a,b\n1,2\n", "is not a complete gzip file"),
        ("t.parquet", b"a,b\n1,2\n", "Cannot read .* as Parquet"),
        ("t.xlsx", b"", "ends in .csv, .csv.gz, .parquet"),
    ],
    ids=["cut short", "not zipped", "not parquet", "another kind"],  # gzip data contain the time
)
def test_a_file_that_is_not_a_table_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(topshap.ParameterError, match=message):
        read_table(tmp_path / name)
    with pytest.raises(topshap.ParameterError, match="does not exist"):
        read_table(tmp_path / f"other-{name}")


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
