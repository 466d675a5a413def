"""Many rows as one frame, one shap Explanation and one file."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap import Explanations
from topshap.core.errors import ParameterError
from topshap.interop.many_json import many_as_text
from topshap.interop.shap import adding_up
from topshap.statistics.ranking import RANK_BY


def mixed(n_rows, n=6):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, n)).astype(object)
    table[:, 1] = rng.choice(["b", "a", "c"], size=n_rows)
    table[:, 2] = rng.integers(0, 9, size=n_rows).tolist()
    table[::2, 3] = None
    table[:, 4] = None
    return table


@pytest.fixture(scope="module")
def explained():
    """Return real explanations: a few rows of a model, with covariances and histories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    explainer = topshap.Explainer(lambda rows: np.sin(rows @ [1.0, -2.0, 0.5, 0.1, 0.0]), X, random_state=0)
    return explainer.explain_many(X[:4], k=2, budget=20)


@given(rank_by=st.sampled_from(RANK_BY), k=st.integers(1, 6), outputs=st.sampled_from([None, 2]))
def test_the_frame_is_that_of_each_row(results_as_arrays, rank_by, k, outputs):
    names = None if outputs is None else ["x", "y"]
    tops = Explanations(results_as_arrays(6, k=k, rank_by=rank_by), output_names=names, data=mixed(6 // (outputs or 1)))
    frame = tops.to_frame(probabilities=True)
    pieces = []
    for row, found in enumerate(tops):
        for name, top in zip(names or [None], [found] if outputs is None else found, strict=True):
            alone = top.to_frame().assign(row=row, player_value=tops.data[row][top.ranking])
            pieces.append(alone if name is None else alone.assign(output=name))
    together = pd.concat(pieces, ignore_index=True)
    assert set(frame.columns) == set(together.columns)
    pd.testing.assert_frame_equal(frame, together[list(frame.columns)], check_dtype=False)
    assert "p_top_k" not in tops.to_frame()


def test_the_wide_frame_has_one_line_per_row(results_as_arrays):
    tops = Explanations(results_as_arrays(6), row_names="abcdef")
    wide = tops.to_frame(wide=True)
    np.testing.assert_array_equal(wide.to_numpy(), tops.estimates)
    assert wide.index.tolist() == list("abcdef")
    assert wide.columns.tolist() == list(tops.player_names)
    several = Explanations(results_as_arrays(6), output_names=["x", "y"]).to_frame(wide=True)
    assert several.index.tolist() == [(row, output) for row in range(3) for output in "xy"]


def test_shap_values_add_up_and_have_bounds(explained):
    shap = pytest.importorskip("shap")
    explanation = explained.to_shap()
    assert isinstance(explanation, shap.Explanation)
    values = np.asarray(explanation.values)
    for row, top in enumerate(explained):
        np.testing.assert_allclose(values[row], adding_up(top))
    np.testing.assert_allclose(values.sum(axis=1) + explanation.base_values, explained.grand)
    assert (explanation.lower_bounds <= values).all()
    np.testing.assert_array_equal(explanation.data, explained.data)
    np.testing.assert_array_equal(explanation[1].values, values[1])


@pytest.mark.parametrize("k", [2, 6])
def test_categories_are_numbers_for_the_colours_of_a_beeswarm(results_as_arrays, k):
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    tops = Explanations(results_as_arrays(30, k=k), data=mixed(30))
    explanation = tops.to_shap()
    assert explanation.data.dtype == np.float64
    labels = np.array(["a", "b", "c"])
    np.testing.assert_array_equal(labels[explanation.data[:, 1].astype(int)], tops.data[:, 1])
    assert (explanation.data[:, 4] == 0.0).all()
    np.testing.assert_array_equal(explanation.display_data, tops.data)
    ax = shap.plots.beeswarm(explanation, show=False, plot_size=None)
    ax.figure.canvas.draw()
    colours = [
        np.unique(points.get_facecolors(), axis=0) for points in ax.collections if len(points.get_offsets()) > 10
    ]
    assert max(map(len, colours)) > 10
    plt.close("all")
    for draw in (shap.plots.bar, shap.plots.heatmap):
        draw(explanation, show=False)
        plt.close("all")
    shap.plots.waterfall(explanation[0], show=False)
    plt.close("all")


def test_outputs_are_the_last_axis_of_a_shap_explanation(results_as_arrays):
    pytest.importorskip("shap")
    tops = Explanations(results_as_arrays(12), output_names=["x", "y", "z"], data=mixed(4))
    explanation = tops.to_shap()
    assert explanation.shape == (4, 6, 3)
    assert list(explanation.output_names) == ["x", "y", "z"]
    one = explanation[..., 1]
    np.testing.assert_allclose(one.values, tops.output("y").to_shap().values)
    np.testing.assert_allclose(one.base_values, tops.empty[:, 1])


def assert_same(one, other):
    assert one.names == other.names
    assert (one.row_names, one.output_names, one.n_outputs) == (other.row_names, other.output_names, other.n_outputs)
    for name in ("estimates", "std_errors", "players", "empty", "grand"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert many_as_text(one) == many_as_text(other)


def test_a_file_restores_everything(explained, tmp_path):
    explained.save(tmp_path / "tops.json")
    again = topshap.load(tmp_path / "tops.json")
    assert isinstance(again, Explanations)
    assert_same(explained, again)
    np.testing.assert_array_equal(again.data, explained.data)
    for one, other in zip(explained, again, strict=True):
        np.testing.assert_array_equal(one.covariance, other.covariance)
        np.testing.assert_array_equal(one.history.estimates, other.history.estimates)
        assert str(one) == str(other)


@given(outputs=st.sampled_from([None, 2, 3]), seed=st.integers(0, 5), named=st.booleans())
def test_any_rows_and_outputs_are_restored(results_as_arrays, tmp_path_factory, outputs, seed, named):
    path = tmp_path_factory.mktemp("files") / "tops.json"
    options = {} if outputs is None else {"output_names": list("xyz"[:outputs])}
    tops = Explanations(results_as_arrays(6, seed=seed), **options)
    values = mixed(len(tops))
    values[0, 0], values[1, 0] = np.nan, -np.inf
    rows = list(tops) if outputs is None else [list(row) for row in tops]
    tops = Explanations(rows, data=values, row_names="abcdef"[: len(tops)] if named else None,
                        output_names=options.get("output_names"))  # fmt: skip
    tops.save(path)
    again = topshap.load(path)
    assert_same(tops, again)
    pd.testing.assert_frame_equal(pd.DataFrame(again.data), pd.DataFrame(tops.data))


def broken(content, **changes):
    return json.dumps({**content, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 3}, "'version' must be 2, not 3; a newer version"),
        ({"speed": 1}, "the field 'speed' is unknown"),
        ({"results": 3}, "the field 'results' must be a list of objects, not 3"),
        ({"results": [{}]}, r"in results\[0\], the fields .* are missing"),
        ({"shared": []}, "the field 'shared' must be an object"),
        ({"shared": {"estimates": [1.0]}}, "'shared' must not have 'estimates'"),
        ({"shared": {"wisdom": 1}}, r"in results\[0\], .*'wisdom'"),
        ({"n_outputs": 3}, "'n_outputs' must be null or a number of outputs that divides"),
        ({"n_outputs": 0}, "'n_outputs' must be null"),
        ({"n_outputs": True}, "'n_outputs' must be null"),
        ({"data": [[1]]}, "'data' must be 4 lists of 5 numbers"),
        ({"data": [[1, 2, 3, 4, []]] * 4}, "'data' must be 4 lists of 5 numbers"),
        ({"data": [[1, 2, 3, 4, {"number": "1"}]] * 4}, "'data' must be 4 lists of 5 numbers"),
        ({"row_names": ["a"]}, "do not fit together: .*'row_names'.*4 names"),
        ({"row_names": [1, 2, 3, 4]}, "'row_names' must be a list of strings or null"),
        ({"output_names": ["a"] * 7}, "do not fit together"),
    ],
)
def test_a_broken_file_is_refused_by_field(explained, tmp_path, changes, message):
    content = json.loads(many_as_text(explained))
    (tmp_path / "tops.json").write_text(broken(content, **changes), encoding="utf-8")
    with pytest.raises(ParameterError, match=f"Explanations.save wrote. Got '.*tops.json': .*{message}"):
        topshap.load(tmp_path / "tops.json")


def test_a_field_is_shared_or_of_a_result_but_not_both(explained, tmp_path):
    content = json.loads(many_as_text(explained))
    content["results"][1]["counting"] = "distinct"
    (tmp_path / "tops.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"'counting' is both in 'shared' and in results\[1\]"):
        topshap.load(tmp_path / "tops.json")


def test_results_that_do_not_belong_together_are_refused(explained, tmp_path):
    content = json.loads(many_as_text(explained))
    content["results"][1]["players"] = [0]
    (tmp_path / "tops.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"do not fit together: .* results for the same k"):
        topshap.load(tmp_path / "tops.json")


@pytest.fixture(scope="module")
def sharing():
    """Return explanations of rows that share their covariances up to a factor, some with known dummies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[::4, 2] = 0.0
    background = np.where(np.arange(6) == 2, 0.0, rng.normal(size=(10, 6)))
    explainer = topshap.Explainer(
        lambda rows: np.sin(rows @ [1.0, -2.0, 0.5, 0.1, 0.3, 1.0]), background, random_state=0
    )
    return explainer.explain_many(X, k=2, budget=30)


def test_covariances_that_rows_share_are_saved_once_and_read_to_the_last_bit(sharing, tmp_path):
    for name, tops in {"all": sharing, "some": sharing[::3]}.items():
        tops.save(tmp_path / name)
        content = json.loads((tmp_path / name).read_text())
        assert 0 < len(content["covariances"]) <= 8
        assert sum(isinstance(each["covariance"], dict) for each in content["results"]) > len(tops) / 2
        again = topshap.load(tmp_path / name)
        assert many_as_text(again) == many_as_text(tops)
        for first, second in zip(tops, again, strict=True):
            np.testing.assert_array_equal(first.covariance, second.covariance)
            np.testing.assert_array_equal(first.std_errors, second.std_errors)


def test_files_of_the_first_version_are_read(explained, tmp_path):
    content = json.loads(many_as_text(explained)) | {"version": 1}
    assert content.pop("covariances") == []
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert many_as_text(topshap.load(tmp_path / "old.json")) == many_as_text(explained)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(covariances=[[[1.0, 2.0]]]), "square matrices"),
        (lambda content: content.update(covariances=7), "list of matrices"),
        (lambda content: content["results"][0].update(covariance={"of": 99, "factor": 1.0}), "position of one of"),
        (lambda content: content["results"][0].update(covariance={"of": 0, "factor": -1.0}), "finite number"),
        (lambda content: content["covariances"][0][0].__setitem__(1, 99.0), r"results\[.*covariance"),
    ],
)
def test_shared_covariances_are_checked(sharing, tmp_path, change, message):
    content = json.loads(many_as_text(sharing))
    change(content)
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ParameterError, match=message):
        topshap.load(tmp_path / "bad.json")
