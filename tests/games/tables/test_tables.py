"""Tables: the same operations for every library."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import PredictionGame, RetrainingGame, UnsupervisedGame
from topshap.games.tables import SparseTable, as_table, column_labels, dense_table

NUMBERS = np.random.default_rng(0).integers(-9, 9, size=(7, 4)) / 4.0
NAMES = ["a", "b", "c", "d"]


def columns(data):
    return {name: data[:, j] for j, name in enumerate(NAMES)}


MAKE = {
    "numpy": lambda data: data,
    "pandas": lambda data: pd.DataFrame(columns(data)),
    "polars": lambda data: pl.DataFrame(columns(data)),
    "pyarrow": lambda data: pa.table(columns(data)),
}


def values(frame):
    return np.asarray(frame)


@pytest.fixture(params=MAKE)
def kind(request):
    return request.param


@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "conditional"])
def test_every_kind_of_table_gives_the_same_game(kind, imputer):
    seen = []

    def predict(rows):
        seen.append(rows)
        a, b, c, d = values(rows).T
        return np.sin(a) * b + c**2 - d * a

    background = MAKE[kind](NUMBERS)
    game = PredictionGame(predict, background[2:3], background, imputer=imputer, feature_names=NAMES)
    same = PredictionGame(predict, NUMBERS[2], NUMBERS, imputer=imputer, feature_names=NAMES)
    coalitions = from_ids(np.arange(16), 4)
    np.testing.assert_array_equal(game(coalitions), same(coalitions))
    assert game.player_names == same.player_names == tuple(NAMES)
    assert type(seen[0]) is type(background)
    copy = pickle.loads(pickle.dumps(game._table))
    np.testing.assert_array_equal(values(copy.data), values(game._table.data))


def test_every_kind_of_table_gives_the_same_total_correlation(kind):
    coalitions = from_ids(np.arange(16), 4)
    for method in ("gaussian", "discrete"):
        game = UnsupervisedGame(MAKE[kind](NUMBERS), method=method, feature_names=NAMES)
        same = UnsupervisedGame(NUMBERS, method=method)
        np.testing.assert_allclose(game(coalitions), same(coalitions), atol=1e-12)


@given(st.data())
def test_rows_columns_and_cells_are_selected_by_position(data):
    kind = data.draw(st.sampled_from(sorted(MAKE)))
    table = as_table("X", MAKE[kind](NUMBERS))
    rows = np.array(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=9)))
    taken = np.array(data.draw(st.lists(st.integers(0, 3), min_size=1, unique=True)))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=7, max_size=7)))
    row_of = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=9)))
    np.testing.assert_array_equal(values(table.rows(rows).data), NUMBERS[rows])
    np.testing.assert_array_equal(values(table.rows(mask).data), NUMBERS[mask])
    np.testing.assert_array_equal(values(table.columns(taken).data), NUMBERS[:, taken])
    np.testing.assert_array_equal(values(table.mix(row_of)), NUMBERS[row_of, np.arange(4)])
    both = table.rows(rows).over(table)
    np.testing.assert_array_equal(values(both.data), np.concatenate([NUMBERS[rows], NUMBERS]))
    assert type(both.mix(row_of)) is type(table.data)


def test_a_table_describes_its_columns(kind):
    table = as_table("X", MAKE[kind](NUMBERS))
    assert table.labels == (NAMES if kind != "numpy" else [0, 1, 2, 3])
    assert table.n_rows == 7
    assert table.row_bytes >= 4 * 8
    for j in range(4):
        np.testing.assert_array_equal(table.column(j), NUMBERS[:, j])
        np.testing.assert_array_equal(table.column_codes(j), np.unique(NUMBERS[:, j], return_inverse=True)[1])
    np.testing.assert_allclose(values(table.typical(set()).data), [NUMBERS.mean(axis=0)])


def test_names_may_be_given():
    table = as_table("X", NUMBERS)
    assert column_labels(table, None) == [0, 1, 2, 3]
    assert column_labels(table, NAMES) == NAMES
    with pytest.raises(ParameterError, match="one name for each of the 4"):
        column_labels(table, NAMES[:2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1.0, 2.0], r"must be a table: .* Got a list of shape \(2,\)"),
        ([[1.0], [1.0, 2.0]], "must be a table"),
        (3, "must be a table"),
        (pd.Series([1.0]), "must be a table"),
        (pl.LazyFrame({"a": [1.0]}), "must be a table"),
        (np.zeros((0, 3)), r"at least one row and one column. Got a ndarray of shape \(0, 3\)"),
        (pd.DataFrame({"a": []}), "at least one row and one column. Got a DataFrame"),
        (pl.DataFrame(), "at least one row and one column"),
        (pa.table({"a": pa.array([], pa.float64())}), "at least one row and one column. Got a Table"),
    ],
)
def test_data_that_are_not_a_table_are_refused(data, message):
    with pytest.raises(ParameterError, match=f"The 'X' parameter must be .*{message.removeprefix('must be ')}"):
        as_table("X", data)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array])
def test_a_sparse_matrix_stays_sparse_where_it_is_allowed(make):
    table = as_table("X", make(np.eye(3)))
    assert isinstance(table, SparseTable)
    np.testing.assert_array_equal(table.rows(np.array([2])).columns(np.array([0, 2])).data.toarray(), [[0.0, 1.0]])
    with pytest.raises(ParameterError, match="'X' parameter must be a dense array: call its method toarray"):
        dense_table("X", make(np.eye(3)))


def test_the_error_about_missing_narwhals_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    for name, library in (("pandas", "DataFrame of pandas"), ("polars", "DataFrame of polars"), ("pyarrow", "Table")):
        with pytest.raises(ImportError, match=rf"a {library}.* needs narwhals: pip install 'topshap\[frames\]'"):
            as_table("X", MAKE[name](NUMBERS))
    assert as_table("X", NUMBERS).n_rows == 7


def test_arrays_need_neither_narwhals_nor_pandas():
    code = (
        "import sys\n"
        "for name in ('narwhals', 'pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "import numpy as np, topshap\n"
        "from topshap.games import PredictionGame, UnsupervisedGame\n"
        "X = np.arange(12.0).reshape(4, 3) ** 2\n"
        "for imputer in ('mean-mode', 'marginal', 'conditional'):\n"
        "    game = PredictionGame(lambda rows: rows @ [1.0, 2.0, 3.0], X[3], X, imputer=imputer)\n"
        "    print(topshap.identify(game, k=1).grand == X[3] @ [1.0, 2.0, 3.0])\n"
        "UnsupervisedGame(X, method='discrete')(np.ones((1, 3), dtype=bool))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 3


def test_a_forest_takes_any_kind_of_table(kind):
    y = NUMBERS[:, 0] > 0
    game = RetrainingGame.random_forest(MAKE[kind](NUMBERS), y, task="classification", n_trees=2, test_size=0.4)
    same = RetrainingGame.random_forest(NUMBERS, y, task="classification", n_trees=2, test_size=0.4)
    coalitions = from_ids(np.arange(16), 4)
    np.testing.assert_array_equal(game(coalitions), same(coalitions))


def test_a_sample_is_reproducible_and_keeps_the_order(kind):
    table = as_table("X", MAKE[kind](NUMBERS))
    samples = [values(table.sample(3, random_state=5).data) for _ in range(2)]
    np.testing.assert_array_equal(samples[0], samples[1])
    positions = [np.flatnonzero((row == NUMBERS).all(axis=1))[0] for row in samples[0]]
    assert positions == sorted(set(positions))
    assert type(table.sample(3, random_state=5).data) is type(table.data)
    assert len({tuple(values(table.sample(3, seed).data)[:, 0]) for seed in range(20)}) > 1


def test_a_table_of_few_rows_is_its_own_sample(kind):
    table = as_table("X", MAKE[kind](NUMBERS))
    assert table.sample(7, random_state=0) is table


@given(st.integers(0, 999))
def test_assembled_rows_are_made_of_the_cells_of_their_sources(seed):
    row_of = np.random.default_rng(seed).integers(0, 7, size=(5, 4))
    for make in MAKE.values():
        table = as_table("X", make(NUMBERS))
        assembled = table.assembled(table.sources()[row_of, np.arange(4)])
        assert type(assembled) is type(table.data)
        np.testing.assert_array_equal(values(assembled), NUMBERS[row_of, np.arange(4)])


def test_rows_are_matched_to_a_table(kind):
    table = as_table("background", MAKE[kind](NUMBERS))
    for rows in (MAKE[kind](NUMBERS[:3]), NUMBERS[:3].tolist()):
        np.testing.assert_array_equal(values(table.all_like(rows).data), NUMBERS[:3])
