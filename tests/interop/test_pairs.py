"""Results for pairs as files, frames, and objects of shap and shapiq; and of many rows."""

import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import topshap
from topshap.core.errors import ParameterError, RaceError
from topshap.core.pairs import all_pairs
from topshap.core.pairs_result import TopPairs
from topshap.interop.json_pairs import PAIRS_RESULT
from topshap.statistics.partial_covariance import PartialCovariance

NAMES = ("age", "sex", "bmi", "fat")


def game(coalitions):
    a, b, c, d = np.asarray(coalitions, dtype=float).T
    return 1.0 + 3.0 * a - 2.0 * a * b + 1.5 * c * d + 0.5 * a * b * c


@pytest.fixture
def top() -> Any:
    return topshap.identify(game, 4, 2, order=2, random_state=0, player_names=NAMES)


def estimated(top, **changes):
    some = PartialCovariance(np.array([0, 5]), np.array([[0.01, 0.005], [0.005, 0.01]]))
    usual = {"std_errors": np.full(6, 0.1), "covariance": some, "stopped": "budget", "left_out": None}
    return replace(top, **usual | changes)


def same(a, b):
    """Return whether two values are equal to the last bit."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, PartialCovariance):
        return same(a.candidates, b.candidates) and same(a.matrix, b.matrix)
    if hasattr(a, "evaluations") and hasattr(a, "estimates"):
        return all(same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    return a == b


def variants(top):
    yield top
    yield estimated(top)
    yield estimated(top, covariance=None, left_out=np.array([2]), shapley_values=None)
    yield estimated(top, covariance=0.01 * np.eye(6), history=None, player_names=None)
    yield estimated(top, covariance=PartialCovariance(np.empty(0, dtype=np.intp), np.zeros((0, 0))))
    yield replace(top, player_values=(1.5, "a", None, True))


def test_every_field_has_a_reader():
    assert list(PAIRS_RESULT) == [field.name for field in fields(TopPairs)]


def test_a_saved_result_is_restored_to_the_last_bit(top, tmp_path):
    for each in variants(top):
        each.save(tmp_path / "pairs.json")
        loaded = topshap.load(tmp_path / "pairs.json")
        assert isinstance(loaded, topshap.TopPairs)
        for field in fields(each):
            assert same(getattr(each, field.name), getattr(loaded, field.name)), field.name
        assert str(loaded) == str(each)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimates": [1.0, 2.0]}, "'estimates' must be a list of n (n - 1) / 2 numbers, not of 2"),
        ({"players": [0, 6]}, "from 0 to below 6, the number of pairs"),
        ({"player_names": ["a"] * 6}, "'player_names' must be a list of distinct strings, one per player"),
        ({"shapley_values": [1.0]}, "'shapley_values' must be a list of finite numbers, one per player"),
        ({"left_out": [4]}, "'left_out' must be a list of distinct indices of players"),
        ({"covariance": {"candidates": [0]}}, "an object with 'candidates' and 'matrix'"),
        (
            {"covariance": {"candidates": [0, 0], "matrix": [[1, 0], [0, 1]]}},
            "an object with 'candidates' and 'matrix'",
        ),
        ({"covariance": {"candidates": [0, 1], "matrix": [[1, 2], [0, 1]]}}, "'covariance.matrix' must be a symmetric"),
        ({"covariance": {"candidates": [9], "matrix": [[1]]}}, "an object with 'candidates' and 'matrix'"),
        ({"covariance": {"candidates": [1], "matrix": [[1, 2]]}}, "an object with 'candidates' and 'matrix'"),
        ({"speed": 1}, "the field 'speed' is unknown"),
    ],
)
def test_an_invalid_field_is_named(top, tmp_path, change, message):
    path = tmp_path / "pairs.json"
    estimated(top).save(path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(ParameterError) as error:
        topshap.load(path)
    assert message in str(error.value)


def test_a_frame_has_both_players(top):
    pytest.importorskip("pandas")
    frame = top.to_frame()
    assert list(frame.columns)[:4] == ["player_a", "player_b", "estimate", "std_error"]
    assert frame.iloc[0][["player_a", "player_b"]].tolist() == ["age", "sex"]
    assert frame["top_k"].sum() == 2
    assert len(frame) == 6
    assert replace(top, player_names=None).to_frame().iloc[0]["player_a"] == "0"


def test_shap_has_interactions_that_add_up(top):
    pytest.importorskip("shap")
    explanation = top.to_shap()
    assert explanation.values.shape == (4, 4)
    np.testing.assert_allclose(explanation.values.sum(axis=1), top.shapley_values)
    np.testing.assert_allclose(explanation.values.sum() + explanation.base_values, top.grand)
    np.testing.assert_allclose(explanation.values[0, 1], top.estimates[0] / 2)
    assert list(explanation.feature_names) == list(NAMES)
    with pytest.raises(RaceError, match="need the Shapley values"):
        replace(top, shapley_values=None).to_shap()


def test_shapiq_has_the_same_interactions(top):
    shapiq = pytest.importorskip("shapiq")
    values = top.to_shapiq()
    assert (values.index, values.min_order, values.max_order, values.n_players) == ("SII", 1, 2, 4)
    exact = shapiq.ExactComputer(topshap.interop.to_shapiq(game, 4), 4)(index="SII", order=2)
    for pair in all_pairs(4).tolist():
        assert values[tuple(pair)] == pytest.approx(exact[tuple(pair)])
    for i in range(4):
        assert values[(i,)] == pytest.approx(exact[(i,)])
    alone = replace(top, shapley_values=None).to_shapiq()
    assert alone.min_order == 2


def test_many_rows_have_pairs_row_by_row(tmp_path):
    X = np.random.default_rng(0).normal(size=(9, 3))
    explainer = topshap.Explainer(
        lambda X: X[:, 0] * X[:, 1] + X[:, 2], X, random_state=0, feature_names=["a", "b", "c"]
    )
    tops = explainer.explain_many(X, k=1, order=2)
    assert isinstance(tops[0], topshap.TopPairs)
    assert tops.all_names == ("a x b", "a x c", "b x c")
    assert tops.estimates.shape == (9, 3)
    assert {names[0] for names in tops.names} == {"a x b"}
    np.testing.assert_array_equal(tops.estimates[4], explainer.explain(X[4], k=1, order=2).estimates)
    assert str(tops).startswith("9 explanations of 3 pairs")
    assert "a x b" in str(tops.importance())
    assert "3 pairs" in repr(tops)
    tops.save(tmp_path / "rows.json")
    loaded = topshap.load(tmp_path / "rows.json")
    assert isinstance(loaded[0], topshap.TopPairs)
    np.testing.assert_array_equal(loaded.estimates, tops.estimates)
    with pytest.raises(ParameterError, match=r"'share' parameter of .* must be 'auto' or False with order=2"):
        explainer.explain_many(X, k=1, order=2, share=True)
    tops.to_html(tmp_path / "rows.html")
    pytest.importorskip("matplotlib")
    assert tops.plot("bar").get_xlabel().startswith("mean magnitude of the interaction")
    pytest.importorskip("shap")
    with pytest.raises(RaceError, match="no layout in shap"):
        tops.to_shap()


def test_a_selector_refuses_pairs():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ParameterError, match="'order' parameter of TopKSelector must be 1"):
        topshap.TopKSelector(LinearRegression(), k=1, order=2).fit(X, X[:, 0])
