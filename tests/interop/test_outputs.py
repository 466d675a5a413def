"""Results of several outputs as a sequence, as frames, for shap, for shapiq and as JSON files."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

import topshap
from topshap import TopK, TopKs
from topshap.core.covariances import SharedCovariance
from topshap.core.errors import GameError, ParameterError
from topshap.games import TableGame

NAMES = {"player_names": list("abcdef"), "output_names": ["low", "middle", "high"]}
RUNS = {
    "kernelshap": {"budget": 40},
    "cmcs": {"budget": 40, "algorithm": "cmcs"},
    "svarm": {"budget": 30, "algorithm": "stratified-svarm"},
    "exact": {},
    "nothing known": {"budget": 2},
    "confident": {"epsilon": 1.0},
    "lowest": {"budget": 30, "rank_by": "lowest"},
    "calls": {"budget": 40, "algorithm": "cmcs", "counting": "calls", "value_range": (-9.0, 9.0)},
}


def game(n=6, n_outputs=3, **names):
    return TableGame(np.random.default_rng(0).normal(size=(2**n, n_outputs)), **(names or NAMES))


def several(**options):
    return topshap.identify(game(), k=2, random_state=0, **options)


@pytest.fixture(params=RUNS)
def tops(request):
    return several(**RUNS[request.param])


# A sequence.


def test_it_is_a_sequence_of_results(tops):
    assert isinstance(tops, TopKs)
    assert issubclass(TopKs, Sequence)
    assert len(tops) == tops.n_outputs == 3
    assert all(isinstance(top, TopK) for top in tops)
    np.testing.assert_array_equal([top.estimates for top in tops], tops.estimates)
    np.testing.assert_array_equal([top.players for top in tops], tops.players)
    np.testing.assert_array_equal([top.confidence for top in tops], tops.confidence)
    np.testing.assert_array_equal([top.interval() for top in tops], tops.interval())
    assert [top.names for top in tops] == tops.names
    assert [top.empty for top in tops] == tops.empty.tolist()
    assert {(top.evaluations, top.stopped, top.algorithm) for top in tops} == {
        (tops.evaluations, tops.stopped, tops.algorithm)
    }
    np.testing.assert_array_equal(tops[-1].estimates, tops[2].estimates)
    with pytest.raises(IndexError):
        tops[3]


def test_a_slice_has_some_of_the_outputs(tops):
    some = tops[1:]
    assert isinstance(some, TopKs)
    assert some.output_names == ("middle", "high")
    assert [top.names for top in some] == tops.names[1:]
    np.testing.assert_array_equal(some[0].covariance, tops[1].covariance)
    np.testing.assert_array_equal(some[1].history.estimates, tops[2].history.estimates)
    assert list(tops[::-1].output_names) == ["high", "middle", "low"]
    with pytest.raises(IndexError, match="at least one output"):
        tops[3:]


def test_it_cannot_be_modified(tops):
    with pytest.raises(ValueError, match="read-only"):
        tops.estimates[0, 0] = 1.0
    with pytest.raises(AttributeError):
        tops.budget = 3


def test_large_results_are_not_recorded_and_have_no_covariance(monkeypatch):
    assert several(budget=40).history.estimates.shape[1:] == (3, 6)
    monkeypatch.setattr("topshap.core.history.LARGEST_MOMENT", 10)
    monkeypatch.setattr("topshap.core.lockstep.COVARIANCE_NUMBERS", 10)
    tops = several(budget=40, algorithm="kernelshap")
    assert tops.history is None
    assert tops.covariance is None
    assert tops[0].history is None
    np.testing.assert_array_equal(tops.estimates, several(budget=40, algorithm="kernelshap").estimates)


# Conversions.


def test_a_frame_has_a_column_with_the_output(tops):
    frame = tops.to_frame()
    assert frame.shape == (18, 8)
    assert frame["output"].tolist() == ["low"] * 6 + ["middle"] * 6 + ["high"] * 6
    for r, top in enumerate(tops):
        part = frame[frame["output"] == tops.output_name(r)].drop(columns="output")
        assert part.equals(top.to_frame())


def test_an_explanation_has_an_axis_of_outputs(tops):
    pytest.importorskip("shap")
    data = np.arange(6.0)
    together = tops.to_shap(data)
    assert together.shape == (1, 6, 3)
    for r, top in enumerate(tops):
        one, alone = together[0, :, r], top.to_shap(data)
        np.testing.assert_allclose(one.values, alone.values)
        np.testing.assert_allclose(one.lower_bounds, alone.lower_bounds)
        np.testing.assert_allclose(one.upper_bounds, alone.upper_bounds)
        assert one.base_values == alone.base_values
        assert list(one.feature_names) == list("abcdef")
        assert one.output_names == tops.output_name(r)
        assert list(one.data) == list(data)


def test_an_explanation_does_not_confuse_players_with_outputs():
    pytest.importorskip("shap")
    square = game(4, 4, player_names=list("abcd"), output_names=list("wxyz"))
    one = topshap.identify(square, k=2).to_shap()[0, :, 1]
    assert list(one.feature_names) == list("abcd")
    assert one.output_names == "x"


def test_games_for_shapiq_have_one_number_per_coalition():
    pytest.importorskip("shapiq")
    with pytest.raises(GameError, match="one number per coalition, not 3 outputs"):
        topshap.interop.to_shapiq(game())
    with pytest.raises(GameError, match="one number per coalition, not 3 outputs"):
        topshap.interop.ShapiqApproximator(n=6, k=2).approximate(30, game())


# JSON files.


def assert_identical(one, other):
    for name, value in vars(one).items():
        found = getattr(other, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found, value, err_msg=name)
            assert found.dtype == value.dtype
        elif isinstance(value, SharedCovariance):
            np.testing.assert_array_equal(found.matrix, value.matrix)
            np.testing.assert_array_equal(found.factors, value.factors)
        elif name == "history":
            np.testing.assert_array_equal(found.estimates, value.estimates)
            np.testing.assert_array_equal(found.std_errors, value.std_errors)
        else:
            assert found == value, name


def test_a_saved_result_is_restored_exactly(tops, tmp_path):
    tops.save(tmp_path / "tops.json")
    assert_identical(tops, topshap.load(tmp_path / "tops.json"))


def test_outputs_without_a_covariance_are_restored(tmp_path):
    values = np.random.default_rng(0).normal(size=(2**6, 2)) * [1.0, 1e-200]
    tops = topshap.identify(TableGame(values), k=2, budget=40, algorithm="cmcs", random_state=0)
    assert tops[0].covariance is not None
    assert tops[1].covariance is None
    tops.save(tmp_path / "tops.json")
    assert_identical(tops, topshap.load(tmp_path / "tops.json"))


def changed(content, name, value):
    *path, last = name.split(".")
    inner = content
    for part in path:
        inner = inner[part]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return content


INVALID = {
    "estimates": (3, [], [["x"] * 6] * 3, [[1e305] * 6] * 3),
    "std_errors": ([[1.0] * 6], [[-1.0] * 6] * 3, KeyError),
    "players": ([[0, 1]], [[0, 0]] * 3, [[0, 9]] * 3, [[0, 1], [0, 1], [0]]),
    "empty": (0.0, [0.0], ["a", "b", "c"]),
    "grand": ([1.0, 2.0, None], KeyError),
    "rare_contributions": ([0, 1, 0], True),
    "output_names": (["a", "a", "b"], ["a"], "abc", [1, 2, 3], KeyError),
    "player_names": (["a"],),
    "covariance": ([], {}, {"matrix": [], "factors": [1, 1, 1]}, {"matrix": None}, [[[1.0]]] * 3, 3.0),
    "history.estimates": ([], [[[1.0] * 6] * 2], 3),
    "history": (3,),
    "version": (2, "1"),
    "format": ("topshap.Tops", None, ["topshap.TopKs"]),
    "speed": (3,),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in INVALID.items() for value in values])
def test_an_invalid_file_is_refused_by_the_name_of_its_field(tmp_path, name, value):
    path = tmp_path / "tops.json"
    several(budget=40).save(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(changed(content, name, value)))
    with pytest.raises(ParameterError, match=name.partition(".")[0]):
        topshap.load(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("estimates", [[1.0] * 6] * 2, "'players' must be a list with one entry for each of the 2 outputs"),
        ("estimates", [[1.0] * 6, [1.0] * 6, [1.0] * 5], "in output 2, the field 'player_names' must be a list of 5"),
        ("history", {}, "'estimates', 'evaluations', 'std_errors' are missing"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(tmp_path, name, value, message):
    path = tmp_path / "tops.json"
    several(budget=40).save(path)
    path.write_text(json.dumps(changed(json.loads(path.read_text()), name, value)))
    with pytest.raises(ParameterError, match=message):
        topshap.load(path)


@pytest.mark.parametrize("factors", [[1.0, 1.0], [1.0, -1.0, 1.0], [1.0, "nan", 1.0], 1.0, [True, 1.0, 1.0]])
def test_invalid_factors_of_a_shared_covariance_are_refused(tmp_path, factors):
    path = tmp_path / "tops.json"
    several().save(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(changed(content, "covariance.factors", factors)))
    with pytest.raises(ParameterError, match=r"covariance\.factors"):
        topshap.load(path)
