"""Exports of a result: shap, shapiq, a frame, a file; and shapiq's games and approximators both ways."""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, TableGame, UnanimityGame
from topshap.interop import from_shapiq, to_shapiq
from topshap.interop.shap import adding_up

GAME = UnanimityGame([[0, 1], [2, 3], [5]], [3.0, 1.0, 0.5], n_players=8)


def estimated(**options):
    return topshap.identify(GAME, **({"k": 2, "budget": 60, "algorithm": "cmcs", "random_state": 0} | options))


def assert_same(one, other):
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if dataclasses.is_dataclass(mine):
            assert_same(mine, theirs)
            continue
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
        else:
            assert mine == theirs or (math.isnan(mine) and math.isnan(theirs))
            assert type(mine) is type(theirs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"algorithm": "odd-gp", "player_names": ["ä", "b c", *"defghi"]},
        {"epsilon": 0.5, "algorithm": "cmcs@k", "budget": None, "value_range": (0.0, 5.0)},
        {"budget": 256},
        {"budget": 5, "algorithm": "approshapley"},
    ],
)
def test_what_is_saved_is_loaded_to_the_last_bit(tmp_path, options):
    top = estimated(**options)
    top.save(tmp_path / "top.json")
    loaded = topshap.load(tmp_path / "top.json")
    assert_same(top, loaded)
    assert str(loaded) == str(top)
    with pytest.raises(ValueError, match="read-only"):
        loaded.estimates[0] = 0.0


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_any_number_survives(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("results") / "top.json"
    top = dataclasses.replace(
        estimated(), players=np.array([0]), estimates=np.array(numbers), std_errors=np.array(numbers), covariance=None
    )
    top.save(path)
    assert_same(top, topshap.load(path))
    json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: pytest.fail("that is no JSON"))


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "top.json"
    estimated().save(path)
    assert topshap.load(path).history is not None
    content = json.loads(path.read_text(encoding="utf-8"))
    wrong = {
        "cannot be read as JSON": "{",
        "which is of another kind": json.dumps([1, 2]),
        "of another kind": json.dumps({"format": "other"}),
        "version 2, and this topshap reads version 1": json.dumps(content | {"version": 2}),
        "'speed'": json.dumps(content | {"speed": 1}),
        "'estimates'": json.dumps({name: part for name, part in content.items() if name != "estimates"}),
        "could not convert": json.dumps(content | {"estimates": ["many"]}),
        "do not fit together": json.dumps(content | {"players": [99]}),
        "estimates and standard errors do not fit": json.dumps(content | {"std_errors": None}),
        "infinity to integer": json.dumps(content | {"players": [math.inf]}),
        "'evaluations' is 'many'": json.dumps(content | {"evaluations": "many"}),
        "does not say why the race ended": json.dumps(content | {"stopped": "enough"}),
        "does not say why": json.dumps(content | {"epsilon": 0.1, "delta": None}),
        "standard errors do not fit": json.dumps(content | {"std_errors": [1.0]}),
        "covariance does not fit": json.dumps(content | {"covariance": [[1.0]]}),
        "names do not fit": json.dumps(content | {"player_names": ["a"]}),
    }
    for message, text in wrong.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=f"TopK.save wrote.*{message}"):
            topshap.load(path)
    with pytest.raises(FileNotFoundError):
        topshap.load(tmp_path / "nowhere.json")


@given(st.integers(1, 8), st.integers(0, 20))
def test_values_for_plots_add_up_and_leave_the_top_alone(k, seed):
    top = estimated(k=k, random_state=seed)
    values = adding_up(top)
    assert values.sum() == pytest.approx(top.grand - top.empty)
    if k < 8:
        np.testing.assert_array_equal(values[top.players], top.estimates[top.players])


def test_shap_plots_end_where_they_should():
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    top = estimated(player_names=list("abcdefgh"))
    explanation = top.to_shap(data=np.arange(8))
    assert explanation.base_values == top.empty
    assert explanation.values.sum() + explanation.base_values == pytest.approx(top.grand)
    assert explanation.feature_names == list("abcdefgh")
    assert (explanation.lower_bounds <= explanation.values).all()
    assert (explanation.upper_bounds >= explanation.values).all()
    axes = shap.plots.waterfall(explanation, show=False)
    texts = [text.get_text() for every in axes.figure.axes for text in [*every.texts, *every.get_xticklabels()]]
    assert f"$ = {top.grand:g}$" in texts
    plt.close("all")
    shap.plots.bar(explanation, show=False)
    plt.close("all")
    with pytest.raises(ParameterError, match="'data' parameter of to_shap must be one value for each of the 8 players"):
        top.to_shap(data=[1, 2])


def test_many_explanations_make_a_beeswarm():
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    explainer = topshap.Explainer(lambda rows: rows[:, 0] * 2 - rows[:, 1], X, random_state=0)
    explanation = explainer.explain_many(X, k=2).to_shap()
    assert explanation.shape == (20, 4)
    np.testing.assert_allclose(explanation.values.sum(axis=1) + explanation.base_values, X[:, 0] * 2 - X[:, 1])
    shap.plots.beeswarm(explanation, show=False, plot_size=None)
    plt.close("all")
    shap.plots.bar(explanation, show=False)
    plt.close("all")


def test_a_result_is_shapiqs_interaction_values():
    pytest.importorskip("shapiq")
    exact = estimated(budget=256)
    values = exact.to_shapiq()
    assert (values.index, values.n_players, values.estimated, values.estimation_budget) == ("SV", 8, False, 256)
    np.testing.assert_allclose([values[(i,)] for i in range(8)], GAME.shapley_values())
    assert values.baseline_value == exact.empty
    assert estimated().to_shapiq().estimated


def test_games_go_to_shapiq_and_back():
    shapiq = pytest.importorskip("shapiq")
    table = np.random.default_rng(0).normal(size=16)
    game = TableGame(table, ["a", "b", "c", "d"])
    theirs = to_shapiq(game)
    assert isinstance(theirs, shapiq.Game)
    assert theirs([("a", "c")])[0] == pytest.approx(table[5] - table[0])
    exact = shapiq.ExactComputer(theirs, n_players=4)("SV", order=1)
    np.testing.assert_allclose([exact[(i,)] for i in range(4)], game.shapley_values())
    back = from_shapiq(to_shapiq(game, normalize=False))
    assert back.player_names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(back(from_ids(np.arange(16), 4)), table)
    assert len(back.fingerprint) == 64
    assert back.fingerprint == from_shapiq(to_shapiq(game, normalize=False)).fingerprint
    assert from_shapiq(theirs, fingerprint="mine").fingerprint == "mine"
    assert topshap.identify(theirs, k=1).players[0] == game.shapley_values().argmax()
    with pytest.raises(ParameterError, match="'game' parameter of from_shapiq must be a game of shapiq"):
        from_shapiq(3)


def test_shapiq_users_get_topshaps_algorithms():
    shapiq = pytest.importorskip("shapiq")
    approximator = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0)
    assert isinstance(approximator, shapiq.approximator.base.Approximator)
    found = approximator.approximate(100, to_shapiq(GAME))
    assert found.estimation_budget == approximator.result_.evaluations <= 100
    np.testing.assert_allclose(found.get_n_order_values(1), GAME.shapley_values(), atol=0.2)
    again = topshap.interop.ShapiqApproximator(n=8, k=2, random_state=0).approximate(100, GAME)
    np.testing.assert_allclose(again.get_n_order_values(1), found.get_n_order_values(1))
    with pytest.raises(ParameterError, match="'k' parameter of ShapiqApproximator"):
        topshap.interop.ShapiqApproximator(n=3, k=4)
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        _ = topshap.interop.Other


@pytest.mark.parametrize(
    ("library", "use", "extra"),
    [
        ("shap", lambda: estimated().to_shap(), "shap"),
        ("shapiq", lambda: estimated().to_shapiq(), "shapiq"),
        ("shapiq", lambda: to_shapiq(GAME), "shapiq"),
        ("pandas", lambda: estimated().to_frame(), "pandas"),
        ("sklearn", lambda: topshap.TopKSelector, "sklearn"),
        ("sklearn", lambda: topshap.games.RetrainingGame.random_forest([[1.0]], [1], task="regression"), "sklearn"),
        ("skimage", lambda: topshap.games.ImageGame(len, [[1.0]], segments=3), "image"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(library, use, extra, monkeypatch):
    for name in list(sys.modules):
        if name.startswith((f"{library}.", "topshap.selector", "topshap.interop.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}: pip install 'topshap\[{extra}\]'"):
        use()


def test_importing_topshap_imports_no_extra():
    code = "import sys, topshap; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "pandas", "joblib", "shap", "shapiq", "tqdm", "matplotlib"} & set(run.stdout.split())


def test_importing_topshap_waits_for_no_part_of_scipy():
    code = "import sys, topshap; print(*{name for name in sys.modules if name.startswith('scipy.')})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.special"} & set(run.stdout.split())
    assert "algorithms" in dir(topshap)


def test_additive_games_survive_the_way_through_shapiq():
    pytest.importorskip("shapiq")
    game = from_shapiq(to_shapiq(AdditiveGame([3.0, 1.0], baseline=2.0)))
    assert game(np.array([[False, False], [True, True]])).tolist() == [0.0, 4.0]
    assert game(np.zeros((0, 2), dtype=bool)).shape == (0,)
