"""FrameTable: it keeps the labels, dtypes and rows of frames."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from topshap.core.errors import ParameterError
from topshap.core.fingerprints import fingerprint_of
from topshap.games import PredictionGame
from topshap.games.tables import as_table
from topshap.games.tables.cells import is_missing

DAY = dt.date(2020, 1, 1)
CELLS = {
    "number": [1.5, 2.5, None, 4.0],
    "whole": [1, 2, 3, 5],
    "text": ["x", "y", "y", None],
    "flag": [True, False, True, True],
    "day": [DAY, DAY, None, DAY + dt.timedelta(1)],
    "maybe": [1, None, 2, 4],
}


def pandas_frame():
    frame = pd.DataFrame(CELLS).astype({"maybe": "Int64"})
    frame["kind"] = pd.Categorical(["u", "v", "u", "u"], categories=["w", "v", "u"])
    frame["rank"] = pd.Categorical(["lo", "hi", "lo", "hi"], categories=["lo", "mid", "hi"], ordered=True)
    frame["moment"] = pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-02"]).tz_localize("UTC")
    frame["month"] = pd.period_range("2020-01", periods=4, freq="M")
    frame["mixed"] = pd.Series([1, "a", None, 2.5], dtype=object)
    frame["answer"] = pd.array([True, None, False, True], dtype="boolean")
    frame["sparse"] = pd.arrays.SparseArray([0.0, 0.0, 1.0, 0.0])
    frame["small"] = np.array([1, 2, 3, 4], dtype=np.int8)
    return frame


def polars_frame():
    return pl.DataFrame(CELLS).with_columns(
        kind=pl.Series(["u", "v", "u", "u"], dtype=pl.Enum(["w", "v", "u"])),
        name=pl.Series(["u", "v", "u", None], dtype=pl.Categorical),
        price=pl.Series([decimal.Decimal("1.10"), None, decimal.Decimal("2.30"), decimal.Decimal("2.30")]),
        small=pl.Series([1, 2, 3, 4], dtype=pl.Int8),
        nothing=pl.Series([None] * 4),
    )


def pyarrow_frame():
    extra = {
        "kind": pa.array(["u", "v", "u", "u"]).dictionary_encode(),
        "short": pa.array(["u", "v", "u", None]).cast(pa.dictionary(pa.int8(), pa.large_string())),
        "price": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("2.30"), None], pa.decimal128(10, 2)),
        "moment": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 4, pa.timestamp("ms", "UTC")),
        "small": pa.array([1, 2, None, 4], pa.int8()),
        "large": pa.array([2**63, 1, 2, 3], pa.uint64()),
        "nothing": pa.nulls(4),
    }
    return pa.table(CELLS | extra)


FRAMES = {"pandas": pandas_frame, "polars": polars_frame, "pyarrow": pyarrow_frame}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def dtypes(frame):
    return frame.schema if isinstance(frame, pa.Table) else list(frame.dtypes)


def lists(frame):
    """Return the cells by column, with None for missing values."""
    if isinstance(frame, pa.Table):
        return [column.to_pylist() for column in frame.columns]
    cells = [
        (frame.iloc[:, j] if isinstance(frame, pd.DataFrame) else frame[:, j]).to_list() for j in range(frame.shape[1])
    ]
    return [[None if is_missing(cell) else cell for cell in column] for column in cells]


@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "conditional"])
def test_a_model_gets_the_users_columns_and_dtypes(frame, imputer):
    seen = []

    def predict(rows):
        seen.append(rows)
        return np.arange(float(len(rows)))

    game = PredictionGame(predict, frame[1:2], frame, imputer=imputer)
    game(np.eye(game.n_players, dtype=bool))
    for rows in seen:
        assert type(rows) is type(frame)
        assert as_table("X", rows).labels == as_table("X", frame).labels
        assert dtypes(rows) == dtypes(frame)
    assert [column[:1] for column in lists(seen[0])] == [column[1:2] for column in lists(frame)]  # x itself


def test_combining_rows_keeps_their_cells(frame):
    table = as_table("X", frame)
    row_of = np.tile(np.array([3, 0, 2, 1, 1])[:, None], (1, frame.shape[1]))
    expected = [[column[i] for i in (3, 0, 2, 1, 1)] for column in lists(frame)]
    assert lists(table.mix(row_of)) == expected
    assert lists(table.rows(np.array([3, 0, 2, 1, 1])).data) == expected


def test_a_row_may_have_any_form(frame):
    table = as_table("X", frame)
    expected = [column[1:2] for column in lists(frame)]
    labels, cells = table.labels, [column[0] for column in expected]
    forms = [
        frame[1:2],
        dict(zip(labels, cells, strict=True)),
        dict(zip(labels[::-1], cells[::-1], strict=True)),
        cells,
    ]
    for x in forms:
        row = table.like(x)
        assert dtypes(row.data) == dtypes(frame)
        assert lists(row.data) == expected


def test_the_typical_row_has_means_and_most_frequent_values(frame):
    typical = as_table("X", frame).typical(set())
    assert dtypes(typical.data) == dtypes(frame)
    first = dict(zip(typical.labels, [column[0] for column in lists(typical.data)], strict=True))
    expected = {
        "number": pytest.approx(8 / 3),
        "whole": 3,
        "text": "y",
        "flag": True,
        "day": DAY,
        "maybe": 2,
        "kind": "u",
    }
    assert {name: first[name] for name in expected} == expected


def test_the_typical_value_of_an_empty_column_is_missing():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([None, None], dtype="Int64"), "c": [np.nan] * 2})
    typical = as_table("X", frame).typical(set()).data
    assert typical.isna().to_numpy().tolist() == [[False, True, True]]
    assert list(typical.dtypes) == list(frame.dtypes)


def test_missing_values_are_equal_to_each_other():
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        table = as_table("X", make({"a": [1.0, None, None, 1.0], "b": ["x", None, None, "x"]}))
        for j in range(2):
            codes = table.column_codes(j)
            assert codes[0] == codes[3] != codes[1] == codes[2]


def test_integers_too_large_for_floats_are_distinguished():
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert len(set(as_table("X", make({"a": [2**60, 2**60 + 1, 3]})).column_codes(0).tolist())) == 3


LABELS = {
    "ints": [0, 1, 2],
    "mixed": [0, "b", ("t", 1)],
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["first", "second"]),
    "named": pd.Index(["a", "b", "c"], name="columns"),
    "repeated": ["a", "a", "b"],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_a_pandas_frame_may_have_any_labels(labels):
    frame = pd.DataFrame({"p": [1.0, 2.0, 3.0], "q": ["x", "y", "x"], "r": [1, 2, 3]}, index=[7, 7, "z"])
    frame.columns = labels
    table = as_table("X", frame)
    assert table.labels == list(frame.columns)
    row_of = np.array([[0, 1, 2], [2, 2, 2]])
    mixed = table.mix(row_of)
    pd.testing.assert_index_equal(mixed.columns, frame.columns)
    assert mixed.index.tolist() == [0, 1]
    assert mixed.to_numpy().tolist() == [[1.0, "y", 3], [3.0, "x", 3]]
    pd.testing.assert_frame_equal(table.rows(np.array([2, 0])).data, frame.iloc[[2, 0]])
    pd.testing.assert_frame_equal(table.columns(np.array([2, 0])).data, frame.iloc[:, [2, 0]])
    for x in (frame.iloc[[1]], frame.iloc[1], frame.iloc[1].to_numpy()):
        assert table.like(x).data.to_numpy().tolist() == [[2.0, "y", 2]]
    game = PredictionGame(lambda rows: rows.iloc[:, 0], frame.iloc[[1]], frame, feature_names=["p", "q", "r"])
    assert game.player_names == ("p", "q", "r")
    assert frame.columns.equals(pd.Index(labels))  # the user's frame is not modified


def test_repeated_labels_in_another_order_are_refused():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"])
    with pytest.raises(
        ParameterError, match=r"same columns as the background. Got repeated labels in a different order"
    ):
        as_table("background", frame).like(frame.iloc[:, [2, 0, 1]])


def test_repeated_labels_need_names():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"])
    with pytest.raises(
        ParameterError, match=r"'feature_names' parameter of PredictionGame must be given.* 'a' is repeated"
    ):
        PredictionGame(lambda rows: rows.iloc[:, 0], frame, frame)


@pytest.mark.parametrize(
    ("make", "x", "message"),
    [
        (pandas_frame, {"kind": "z"}, r"known categories; those of column 'kind' are \['w', 'v', 'u'\]. Got 'z'"),
        (
            pandas_frame,
            {"rank": "top"},
            r"known categories; those of column 'rank' are \['lo', 'mid', 'hi'\]. Got 'top'",
        ),
        (pandas_frame, {"number": "high"}, "column 'number' has float64. Got 'high'"),
        (pandas_frame, {"maybe": "many"}, "column 'maybe' has Int64. Got 'many'"),
        (polars_frame, {"kind": "z"}, r"known categories; those of column 'kind' are \['w', 'v', 'u'\]. Got 'z'"),
        (polars_frame, {"number": "high"}, "column 'number' has Float64. Got 'high'"),
        (pyarrow_frame, {"number": "high"}, "column 'number' has double. Got 'high'"),
        (pyarrow_frame, {"whole": 2.5}, "column 'whole' has int64. Got 2.5"),
    ],
)
def test_a_row_that_does_not_match_the_table_is_refused(make, x, message):
    table = as_table("background", make())
    cells = dict(zip(table.labels, [column[0] for column in lists(table.data)], strict=True))
    assert table.like(cells).n_rows == 1
    with pytest.raises(ParameterError, match=message):
        table.like(cells | x)


def test_a_row_may_have_a_category_that_no_other_row_has(frame):
    if not isinstance(frame, pa.Table):
        table = as_table("background", frame)
        cells = dict(zip(table.labels, [column[0] for column in lists(frame)], strict=True))
        assert lists(table.like(cells | {"kind": "w"}).data)[table.labels.index("kind")] == ["w"]


def test_rows_of_another_library_are_converted():
    background = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    for x in (
        pd.DataFrame({"b": ["y"], "a": [3]}),
        pa.table({"a": [3.0], "b": ["y"]}),
        pd.Series({"a": 3.0, "b": "y"}),
    ):
        assert as_table("background", background).like(x).data.rows() == [(3.0, "y")]


def test_the_fingerprint_of_an_arrow_table_depends_on_its_content_and_not_on_its_chunks():
    table = pyarrow_frame()
    mark = fingerprint_of("test", rows=table)
    assert mark == fingerprint_of("test", rows=pa.concat_tables([table[:1], table[1:]]))
    others = [table[1:], table.rename_columns([*table.column_names[:-1], "other"]), table.take([1, 0, 2, 3])]
    assert len({mark, *(fingerprint_of("test", rows=other) for other in others)}) == 4
    missing, nan = (pa.table({"a": pa.array([1.0, cell])}) for cell in (None, float("nan")))
    assert fingerprint_of("test", rows=missing) != fingerprint_of("test", rows=nan)


def test_rows_keep_labels_dtypes_and_cells(frame):
    same = as_table("background", frame).all_like(frame).data
    assert dtypes(same) == dtypes(frame)
    assert lists(same) == lists(frame)


def test_rows_of_objects_are_cast_to_the_dtypes_of_the_background():
    frame = pandas_frame()
    cast = as_table("background", frame).all_like(frame.astype(object).set_axis([7, 8, 9, 9])).data
    assert dtypes(cast) == dtypes(frame)
    assert lists(cast) == lists(frame)


def test_numbers_of_several_types_are_cast_one_by_one():
    background = pl.DataFrame({"a": [1.0, 2.0]})
    cells = as_table("background", background).all_like(np.array([[1], [2.5]], dtype=object)).data
    assert cells["a"].to_list() == [1.0, 2.5]


def test_rows_of_another_library_are_cast():
    background = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}).astype({"b": "category"})
    rows = as_table("background", background).all_like(pl.DataFrame({"b": ["v", "u", "v"], "a": [1, 2, 3]})).data
    assert dtypes(rows) == dtypes(background)
    assert rows["b"].tolist() == ["v", "u", "v"]


def test_repeated_labels_must_be_in_the_same_order():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"])
    table = as_table("background", frame)
    assert table.all_like(frame).data.to_numpy().tolist() == [[1.0, 2.0, 3.0]]
    with pytest.raises(ParameterError, match=r"'X' parameter must be rows with the same columns.* repeated labels"):
        table.all_like(frame.iloc[:, [2, 0, 1]])
