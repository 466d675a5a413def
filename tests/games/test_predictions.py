"""PredictionsGame: many rows at once have the values of a plain loop, for few predictions and in bounded memory."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from topshap.core.coalitions import from_ids
from topshap.core.errors import GameError, ParameterError
from topshap.games import PredictionGame, PredictionsGame, equal_rows, masked_rows
from topshap.games.outputs import prediction_of

IMPUTERS = ("mean-mode", "baseline", "marginal", "conditional")


def everybody(n):
    return from_ids(np.arange(2**n), n)


def nonlinear(rows):
    return np.sin(rows[:, 0]) * rows[:, 1] + rows[:, 2] ** 2 - rows[:, 3] * rows[:, 0]


class Counting:
    """A model that records the rows it predicts."""

    def __init__(self, predict=nonlinear):
        self.predict, self.calls = predict, []

    def __call__(self, rows):
        self.calls.append(rows)
        return self.predict(rows)

    @property
    def n_predicted(self):
        return sum(map(len, self.calls))


def averages_of_a_loop(predict, X, background, imputer, present):
    """Return the values of each coalition for each row, one prediction at a time."""
    fill = background.mean(axis=0)[None] if imputer == "mean-mode" else background
    values = np.empty((len(present), len(X)))
    for c, known in enumerate(present):
        for r, x in enumerate(X):
            predictions = np.array([predict(np.where(known, x, row)[None, :])[0] for row in fill])
            weights = np.ones(len(fill))
            if imputer == "conditional" and known.any():
                spread = background.std(axis=0)
                squared = (((background - x) / np.where(spread > 0.0, spread, 1.0)) ** 2)[:, known].mean(axis=1)
                weights = np.exp((squared.min() - squared) / (2 * 0.1**2))
            values[c, r] = np.average(predictions, weights=weights)
    return values


@st.composite
def tables(draw):
    """A random table of few distinct values, coalitions, and the rows that are wanted."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows, n_background = draw(st.integers(1, 9)), draw(st.integers(1, 7))
    cells = rng.integers(0, draw(st.sampled_from([2, 3, 50])), size=(n_rows + n_background, 4)).astype(float)
    coalitions = rng.random((draw(st.integers(0, 12)), 4)) < rng.random()
    return cells[:n_rows], cells[n_rows:], coalitions, rng.random((len(coalitions), n_rows)) < rng.random()


@settings(max_examples=60)
@given(
    tables(),
    st.sampled_from(IMPUTERS),
    st.sampled_from([1, 500, 5000, 2**26]),
    st.sampled_from([1, 2, 16]),
    st.booleans(),
)
def test_values_equal_a_plain_loop(table, imputer, batch_bytes, worth_merging, exact):
    X, background, coalitions, wanted = table
    background = background[:1] if imputer == "baseline" else background
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masked_rows, "_WORTH_MERGING", worth_merging)
        if not exact:
            patch.setattr(equal_rows, "_BITS", 6)  # keys of several numbers, and frequent collisions of hashes
        game = PredictionsGame(nonlinear, X, background, imputer=imputer, batch_bytes=batch_bytes)
        values, some = game(coalitions), game.evaluate_for(coalitions, wanted)
    expected = averages_of_a_loop(nonlinear, X, background, imputer, coalitions)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(some, np.where(wanted, expected, np.nan), atol=1e-9)


@settings(max_examples=25)
@given(tables(), st.sampled_from(IMPUTERS))
def test_each_row_has_the_values_of_its_own_game(table, imputer):
    X, background, coalitions, _ = table
    background = background[:1] if imputer == "baseline" else background
    options = {"imputer": imputer, "groups": {"pair": [1, 3]}, "always": [0]}
    coalitions = coalitions[:, :2]
    values = PredictionsGame(nonlinear, X, background, **options)(coalitions)
    for r, x in enumerate(X):
        np.testing.assert_allclose(values[:, r], PredictionGame(nonlinear, x, background, **options)(coalitions))


@settings(max_examples=40)
@given(tables(), st.sampled_from([1, 16]))
def test_equal_masked_rows_are_predicted_once(table, worth_merging):
    X, background, coalitions, _ = table
    model = Counting()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masked_rows, "_WORTH_MERGING", worth_merging)
        game = PredictionsGame(model, X, background, imputer="marginal")
        model.calls.clear()
        game(coalitions)
    masked = [np.where(known, x, row) for known in coalitions for x in X for row in background]
    assert model.n_predicted == len(np.unique(masked, axis=0)) if masked else model.n_predicted == 0


def test_rows_that_agree_are_merged_even_if_coalitions_do_not_fit_into_memory_together():
    rng = np.random.default_rng(0)
    X, background = rng.integers(0, 2, size=(40, 4)).astype(float), rng.integers(0, 2, size=(30, 4)).astype(float)
    model = Counting()
    game = PredictionsGame(model, X, background, imputer="marginal", batch_bytes=64 * 16)
    model.calls.clear()
    np.testing.assert_allclose(
        game(everybody(4)), averages_of_a_loop(nonlinear, X, background, "marginal", everybody(4))
    )
    assert model.n_predicted <= 16 * 16  # at most all rows of four bits for each of 16 coalitions, of 19,200


def test_hashes_that_all_collide_change_no_value(monkeypatch):
    rng = np.random.default_rng(1)
    X, background = rng.normal(size=(20, 4)), rng.normal(size=(20, 4))
    expected = PredictionsGame(nonlinear, X, background, imputer="marginal")(everybody(4))
    monkeypatch.setattr(equal_rows, "_BITS", 10)
    monkeypatch.setattr(equal_rows, "_random_numbers", lambda codes: np.zeros(codes.shape))
    np.testing.assert_allclose(PredictionsGame(nonlinear, X, background, imputer="marginal")(everybody(4)), expected)


@given(st.integers(1, 30_000), st.sampled_from(IMPUTERS))
def test_values_do_not_depend_on_the_batch_size(batch_bytes, imputer):
    rng = np.random.default_rng(2)
    X, background = rng.integers(0, 3, size=(18, 4)).astype(float), rng.normal(size=(17, 4))
    background = background[:1] if imputer == "baseline" else background
    coalitions = everybody(4)
    small = PredictionsGame(nonlinear, X, background, imputer=imputer, batch_bytes=batch_bytes)
    large = PredictionsGame(nonlinear, X, background, imputer=imputer)
    np.testing.assert_array_equal(small(coalitions), large(coalitions))


def test_a_call_of_the_model_is_bounded_by_batch_bytes():
    rng = np.random.default_rng(3)
    model = Counting()
    game = PredictionsGame(
        model, rng.normal(size=(50, 4)), rng.normal(size=(60, 4)), imputer="marginal", batch_bytes=9000
    )
    game(everybody(4))
    assert max(rows.nbytes for rows in model.calls) <= 9000


CELLS = {
    "number": [1.5, 2.5, None, 4.0, 1.5],
    "whole": [1, 2, 3, 5, 5],
    "text": ["x", "y", "y", None, "x"],
    "kind": ["u", "v", "u", "u", "v"],
}
FRAMES = {
    "pandas": lambda: pd.DataFrame(CELLS).astype({"kind": "category"}),
    "polars": lambda: pl.DataFrame(CELLS).with_columns(pl.col("kind").cast(pl.Enum(["u", "v", "w"]))),
    "pyarrow": lambda: pa.table(CELLS | {"kind": pa.array(CELLS["kind"]).dictionary_encode()}),
}


def cells_of(frame, name):
    column = frame[name]
    return column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()


def predict_frame(frame):
    number = np.array([np.nan if v is None else v for v in cells_of(frame, "number")], dtype=float)
    text = [v == "y" for v in cells_of(frame, "text")]
    kind = [v == "v" for v in cells_of(frame, "kind")]
    return np.nan_to_num(number, nan=-1.0) * (1.0 + np.array(kind)) + np.array(text) * np.array(
        cells_of(frame, "whole")
    )


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "conditional"])
def test_frames_have_the_values_of_one_game_per_row(library, imputer):
    frame = FRAMES[library]()
    model = Counting(predict_frame)
    options = {"imputer": imputer, "groups": {"both": ["text", "kind"]}}
    values = PredictionsGame(model, frame, frame, **options)(everybody(3))
    for seen in model.calls:
        assert type(seen) is type(frame)
        assert (seen.schema if library == "pyarrow" else list(seen.dtypes)) == (
            frame.schema if library == "pyarrow" else list(frame.dtypes)
        )
    for r in range(5):
        row = frame.slice(r, 1) if library == "pyarrow" else frame[r : r + 1]
        np.testing.assert_allclose(values[:, r], PredictionGame(predict_frame, row, frame, **options)(everybody(3)))


def test_a_frame_of_one_dtype_is_assembled_as_one_array():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(9, 4)).astype(np.float32), columns=list("abcd"))
    model = Counting(lambda rows: nonlinear(rows.to_numpy()))
    values = PredictionsGame(model, frame, frame, imputer="marginal")(everybody(4))
    assert all(seen.dtypes.tolist() == [np.float32] * 4 and list(seen.columns) == list("abcd") for seen in model.calls)
    data = frame.to_numpy()
    np.testing.assert_array_equal(values, PredictionsGame(nonlinear, data, data, imputer="marginal")(everybody(4)))


def test_columns_of_a_frame_are_matched_by_name_and_cast():
    background = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}).astype({"b": "category"})
    X = pd.DataFrame({"b": ["v", "u"], "a": [3, 4]}, index=[7, 8])
    game = PredictionsGame(lambda frame: frame["a"] * (frame["b"] == "v"), X, background)
    assert game(np.ones((1, 2), dtype=bool)).tolist() == [[3.0, 0.0]]
    by_cells = PredictionsGame(lambda frame: frame["a"] * (frame["b"] == "v"), [[3, "v"], [4, "u"]], background)
    assert by_cells(np.ones((1, 2), dtype=bool)).tolist() == [[3.0, 0.0]]


def test_arrays_of_strings_and_objects_are_assembled():
    for dtype in ("U1", object):
        X = np.array([["a", "b"], ["b", "b"], ["a", "c"]], dtype=dtype)
        game = PredictionsGame(lambda rows: (rows[:, 0] == "a") + 2.0 * (rows[:, 1] == "b"), X, X, imputer="marginal")
        np.testing.assert_allclose(
            game(np.array([[True, False], [False, True]])), [[7 / 3, 4 / 3, 7 / 3], [8 / 3, 8 / 3, 2 / 3]]
        )


def test_all_outputs_cost_the_predictions_of_one():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression(max_iter=999).fit(X, names)
    together = PredictionsGame(model.predict_proba, X[:20], X[::5], imputer="marginal", output="all")
    values = together(everybody(4)).reshape(16, 20, 3)
    assert together.outputs_per_row == 3
    assert together.output_names[:4] == ("row 0, setosa", "row 0, versicolor", "row 0, virginica", "row 1, setosa")
    for c, name in enumerate(model.classes_):
        one = PredictionsGame(model.predict_proba, X[:20], X[::5], imputer="marginal", output=name)
        np.testing.assert_array_equal(values[:, :, c], one(everybody(4)))
    counts = []
    for output in ("all", 0):
        counting = Counting(lambda rows: np.stack([rows[:, 0], rows[:, 1]], axis=1))
        PredictionsGame(counting, X[:5], X[::9], imputer="marginal", output=output)(everybody(4))
        counts.append(counting.n_predicted)
    assert counts[0] == counts[1]


def test_all_outputs_of_one_row_are_the_columns_of_a_prediction_game():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=999).fit(X, y)
    game = PredictionGame(prediction_of(model, "all"), X[0], X)
    assert game.output_names == ("0", "1", "2")
    np.testing.assert_array_equal(game(np.ones((1, 4), dtype=bool)), model.predict_proba(X[:1]))
    assert PredictionGame(model.predict_proba, X[0], X, output=1).output_names is None


def test_a_class_named_all_is_a_class():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=999).fit(X, np.array(["all", "some", "none"])[y])
    game = PredictionGame(prediction_of(model, "all"), X[0], X)
    assert game(np.ones((1, 4), dtype=bool)).tolist() == model.predict_proba(X[:1])[:, 0].tolist()


@settings(max_examples=40)
@given(tables(), st.sampled_from(IMPUTERS), st.booleans())
def test_the_flip_of_a_dummy_never_changes_a_value(table, imputer, grouped):
    X, background, _, _ = table
    X, background = X.copy(), background.copy()
    X[0, 2] = background[:, 2] = X[0, 1] = background[:, 1] = np.nan  # missing values equal missing values
    background = background[:1] if imputer == "baseline" else background
    groups = {"pair": [1, 2]} if grouped else None
    predict = lambda rows: nonlinear(np.nan_to_num(rows, nan=-2.0))  # noqa: E731
    game = PredictionsGame(predict, X, background, imputer=imputer, groups=groups, always=[3])
    dummies, n = game.dummies, game.n_players
    coalitions = everybody(n)
    values = game(coalitions)
    assert dummies.shape == (len(X), n)
    assert dummies[0, 1] == (imputer != "conditional" or len(background) == 1)
    for row, player in np.argwhere(dummies):
        flipped = coalitions ^ (np.arange(n) == player)
        np.testing.assert_allclose(values[:, row], game(flipped)[:, row], atol=1e-12)
    one = PredictionGame(predict, X[0], background, imputer=imputer, groups=groups, always=[3])
    assert one.dummies.tolist() == dummies[0].tolist()


def test_the_logit_of_averaged_probabilities_is_explained():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=999).fit(X, y)
    options = {"output": 2, "imputer": "marginal"}
    chances = PredictionsGame(model.predict_proba, X[:4], X[::9], **options)(everybody(4))
    values = PredictionsGame(model.predict_proba, X[:4], X[::9], link="logit", **options)(everybody(4))
    np.testing.assert_allclose(values, np.log(chances / (1.0 - chances)))
    one = PredictionGame(model.predict_proba, X[1], X[::9], link="logit", **options)
    np.testing.assert_allclose(one(everybody(4)), values[:, 1])


def test_probabilities_of_zero_and_one_have_finite_log_odds():
    game = PredictionGame(
        lambda rows: (rows[:, 0] > 0).astype(np.float32) * np.float32(1.0000001), [1.0], [[0.0]], link="logit"
    )
    np.testing.assert_allclose(game(np.array([[False], [True]])), [-27.631, 27.631], atol=1e-3)


def test_a_link_is_part_of_the_fingerprint():
    games = [PredictionsGame(nonlinear_0_1, [[0.5]], [[0.1]], link=link) for link in ("identity", "logit")]
    assert games[0].fingerprint != games[1].fingerprint


def nonlinear_0_1(rows):
    return np.clip(rows[:, 0], 0.0, 1.0)


def test_a_fingerprint_covers_rows_background_and_options():
    X, background = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(2, 4)
    base = {"predict": nonlinear, "X": X, "background": background}
    variants = [
        base,
        base | {"X": X[:2], "background": np.concatenate([X[2:], background])},
        base | {"X": X + 1.0},
        base | {"background": background + 1.0},
        base | {"imputer": "marginal"},
        base | {"imputer": "conditional"},
        base | {"imputer": "conditional", "categorical": [0]},
        base | {"groups": {"pair": [0, 1]}},
        base | {"always": [0]},
    ]
    for name in (None, "my-model"):
        fingerprints = [PredictionsGame(**variant, fingerprint=name).fingerprint for variant in variants]
        assert len(set(fingerprints)) == len(variants)
        assert all(each.startswith("my-model:") for each in fingerprints if name)
    same = PredictionsGame(**base, batch_bytes=100)
    assert same.fingerprint == PredictionsGame(**base).fingerprint


def test_a_copy_of_the_game_has_the_same_values():
    X = np.arange(20.0).reshape(5, 4)
    game = PredictionsGame(nonlinear, X, pd.DataFrame(X).to_numpy(), imputer="conditional")
    copy = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(copy(everybody(4)), game(everybody(4)))
    assert copy.fingerprint == game.fingerprint
    assert game.deterministic
    frame = PredictionsGame(predict_frame, FRAMES["pandas"](), FRAMES["pandas"]())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frame))(everybody(4)), frame(everybody(4)))


def test_nothing_is_wanted():
    model = Counting()
    game = PredictionsGame(model, np.ones((3, 4)), np.zeros((2, 4)), imputer="marginal")
    model.calls.clear()
    values = game.evaluate_for(everybody(4), np.zeros((16, 3), dtype=bool))
    assert np.isnan(values).all()
    assert game(np.empty((0, 4), dtype=bool)).shape == (0, 3)
    assert model.calls == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": [[1.0]]}, "'X' parameter of PredictionsGame must be rows with the 4 columns .* shape \\(1, 1\\)"),
        ({"X": [1.0, 2.0, 3.0, 4.0]}, "'X' parameter of PredictionsGame must be a table"),
        ({"X": np.empty((0, 4))}, "'X' parameter of PredictionsGame must be a table with at least one row"),
        ({"link": "log"}, "'link' parameter of PredictionsGame must be 'identity' or 'logit'. Got 'log'"),
        ({"link": "logit"}, "'link' parameter of PredictionsGame .* predictions in \\[0, 1\\].* Got"),
        ({"imputer": "median"}, "'imputer'"),
        ({"batch_bytes": 0}, "'batch_bytes'"),
        ({"output": 1}, "'output' .* None for a model with one output"),
        ({"predict": lambda rows: [1.0]}, "one number per row, 2 here. Got 1"),
    ],
)
def test_errors_say_what_to_do(options, message):
    chosen = {"predict": nonlinear, "X": np.full((2, 4), 2.0), "background": np.full((1, 4), 3.0)} | options
    with pytest.raises(ParameterError, match=message):
        PredictionsGame(**chosen)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            pd.DataFrame({"a": [1.0]}),
            "'X' .* must be rows with the same columns as the background. Got rows without .*'b'",
        ),
        (pd.DataFrame({"a": [1.0], "b": ["u"], "c": [2]}), "Got rows with .*'c'"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "w"]}), "'X' .* rows of known categories; .* 'b' .* Got 'w'"),
        (pd.DataFrame({"a": ["1", "high"], "b": ["u", "v"]}), "'X' .* column 'a' has float64. Got 'high'"),
        (np.ones((2, 3)), "'X' .* must be a frame or rows with the 2 columns of the background"),
    ],
)
def test_rows_that_do_not_fit_the_background_are_refused(X, message):
    background = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])})
    with pytest.raises(ParameterError, match=message):
        PredictionsGame(lambda frame: frame["a"], X, background)


def after_the_first_call(answer):
    """Return a model that is fine at first and then returns `answer(rows)`."""
    calls = []

    def predict(rows):
        calls.append(len(rows))
        return rows.sum(axis=1) if len(calls) == 1 else answer(rows)

    return predict


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: np.full(len(rows), np.nan), "must predict finite numbers. Their average is nan for row 0"),
        (lambda rows: np.full(len(rows), np.inf), "must predict finite numbers. Their average is inf"),
        (lambda rows: np.ones(len(rows) - 1), "must return one number per row. Got an array of shape"),
        (lambda rows: np.float64(1.0), "must return one number per row. Got 1.0"),
        (lambda rows: ["yes"] * len(rows), "must predict numbers"),
    ],
)
def test_wrong_answers_of_the_model_are_named(answer, message):
    game = PredictionsGame(after_the_first_call(answer), np.ones((3, 4)), np.zeros((2, 4)), imputer="marginal")
    with pytest.raises(GameError, match=message):
        game(everybody(4))


@pytest.mark.parametrize("wanted", [np.ones((16, 2), dtype=bool), np.ones((16, 3)), [True] * 16])
def test_wanted_rows_are_a_mask(wanted):
    game = PredictionsGame(nonlinear, np.ones((3, 4)), np.zeros((2, 4)))
    with pytest.raises(ParameterError, match=r"'wanted' parameter.* must be a bool array of shape \(16, 3\)"):
        game.evaluate_for(everybody(4), wanted)


def test_memory_is_bounded():
    X, background = np.arange(12_000.0).reshape(3000, 4), np.random.default_rng(5).normal(size=(300, 4))
    game = PredictionsGame(lambda rows: rows[:, 0], X, background, imputer="marginal", batch_bytes=2**20)
    tracemalloc.start()
    game(everybody(4)[5:8])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23  # of 2.7 million masked rows with 4 columns
