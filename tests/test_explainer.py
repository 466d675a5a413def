"""Explainer: it selects the output, and explains one row or many."""

import logging
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from topshap import Explainer, Store, identify
from topshap.core.errors import ParameterError
from topshap.core.options import keyword_options
from topshap.explainer import ExplainerOptions
from topshap.games import PredictionGame

X, Y = load_diabetes(return_X_y=True, as_frame=True)


def test_a_linear_model_is_explained_by_its_coefficients():
    model = LinearRegression().fit(X, Y)
    explainer = Explainer(model, X, random_state=0, max_background=None)
    top = explainer.explain(X.iloc[3], k=3, budget=2**10)
    contributions = model.coef_ * (X.iloc[3] - X.mean())
    np.testing.assert_allclose(top.estimates, contributions, atol=1e-9)
    assert list(top.names) == contributions.sort_values(ascending=False).index[:3].tolist()
    assert explainer.output_name == "predict"


def test_the_predicted_class_is_the_default_and_is_logged(caplog):
    data = load_breast_cancer(as_frame=True)
    rows, names = data.data, data.target_names[data.target]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, names)
    with caplog.at_level(logging.INFO, logger="topshap"):
        explainer = Explainer(model, rows)
    assert explainer.output_name == "predict_proba of the predicted class"
    assert "predict_proba of the predicted class of Pipeline" in caplog.text
    seen = set()
    for row in range(15, 25):
        top = explainer.explain(rows.iloc[row], k=2, budget=40)
        predicted = model.predict(rows[row : row + 1])[0]
        assert top.output_name == f"predict_proba of class {str(predicted)!r}"
        assert top.grand == pytest.approx(model.predict_proba(rows[row : row + 1]).max())
        seen.add(predicted)
    assert seen == {"benign", "malignant"}
    many = explainer.explain_many(rows[15:25], k=2, budget=40)
    assert {top.output_name for top in many} == {f"predict_proba of class {str(name)!r}" for name in seen}


def test_a_named_class_is_explained_in_every_row():
    data = load_breast_cancer(as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data.data, data.target_names[data.target])
    grand = np.ones((1, 30), dtype=bool)
    values = {
        name: Explainer(model, data.data, output=name).game(data.data.iloc[0])(grand)[0]
        for name in ("benign", "malignant")
    }
    assert values["malignant"] == pytest.approx(model.predict_proba(data.data[:1])[0, 1])
    assert sum(values.values()) == pytest.approx(1.0)


def test_a_classifier_without_probabilities_is_explained_by_its_decision_function():
    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), SVC()).fit(data.data, data.target_names[data.target])
    explainer = Explainer(model, data.data)
    assert explainer.output_name == "decision_function of the predicted class"
    grand = np.ones((1, 30), dtype=bool)
    for row in range(15, 25):
        game = explainer.game(data.data[row])
        score = model.decision_function(data.data[row : row + 1])
        assert game(grand) == pytest.approx(abs(score))
        assert game.output_name == f"decision_function of class {str(model.predict(data.data[row : row + 1])[0])!r}"
    with pytest.raises(ParameterError, match=r"'output' .* must be one of the model's classes"):
        Explainer(model, data.data, output="rose")


def test_integers_too_large_for_floats_are_kept():
    frame = pd.DataFrame({"id": [2**60 + 1, 2**60 + 2], "value": [0.5, 1.5]})
    explainer = Explainer(lambda rows: (rows["id"] - 2**60).to_numpy() * 1.0, frame[:1], imputer="baseline")
    assert explainer.explain_many(frame, k=1)[1].grand == 2.0


@pytest.mark.parametrize("bound", [False, True])
def test_each_row_of_a_model_of_several_classes_has_its_own_class(bound):
    iris, species = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=999).fit(iris, species)
    explainer = Explainer(model.predict_proba if bound else model, iris, random_state=0)
    tops = explainer.explain_many(iris[[0, 60, 120]], k=1)
    assert [top.output_name[-1:] for top in tops] == ["0", "1", "2"]
    assert [top.grand for top in tops] == pytest.approx(model.predict_proba(iris[[0, 60, 120]]).max(axis=1))
    assert Explainer(model, iris, output=2).output_name == "predict_proba of class 2"


def test_the_imputer_averages_over_a_sample_of_the_background(caplog):
    rows = np.random.default_rng(0).normal(size=(500, 3))

    def predict(X):
        return X @ np.array([1.0, 2.0, -1.0])

    with caplog.at_level(logging.INFO, logger="topshap"):
        explainer = Explainer(predict, rows, random_state=3)
    assert "Explainer sampled 100 of 500 background rows (seed 3)." in caplog.text
    assert "imputer='marginal', 100 of 500 background rows" in repr(explainer)
    base = explainer.explain(rows[0], k=1).empty
    assert base == Explainer(predict, rows, random_state=3).explain(rows[1], k=1).empty
    assert base != Explainer(predict, rows, random_state=4).explain(rows[0], k=1).empty
    assert Explainer(predict, rows).explain(rows[0], k=1).empty == Explainer(predict, rows).explain(rows[1], k=1).empty
    everything = Explainer(predict, rows, max_background=None)
    assert everything.explain(rows[0], k=1).empty == pytest.approx(predict(rows).mean())
    assert "background rows" not in repr(everything)


def test_a_background_that_is_small_enough_or_used_once_is_not_sampled():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    one = Explainer(lambda X: X.sum(axis=1), rows[:100]).explain(rows[0], k=1)
    assert one.empty == pytest.approx(rows[:100].sum(axis=1).mean())
    mean = Explainer(lambda X: X.sum(axis=1), rows, imputer="mean-mode").explain(rows[0], k=1)
    assert mean.empty == pytest.approx(rows.mean(axis=0).sum())
    few = Explainer(lambda X: X.sum(axis=1), rows, imputer="conditional", max_background=7)
    assert "7 of 500 background rows" in repr(few)


def test_a_result_holds_the_values_of_the_row():
    frame = pd.DataFrame({"age": [39, 50], "job": ["a", "b"], "city_Graz": [0, 1], "city_Wien": [1, 0], "x": [2, 1]})

    def predict(rows):
        return rows["age"].to_numpy() + rows["city_Wien"].to_numpy() * rows["x"].to_numpy()

    groups = {"city": ["city_Graz", "city_Wien"], "both": ["job", "x"]}
    explainer = Explainer(predict, frame, groups=groups)
    top = explainer.explain(frame.iloc[0], k=1)
    assert dict(zip(top.player_names, top.player_values, strict=True)) == {"age": 39, "city": "Wien", "both": None}
    assert "age = 39" in str(top)
    assert top.to_frame().set_index("player")["player_value"].to_dict() == {"age": 39, "city": "Wien", "both": None}
    assert top.to_shap().data.tolist() == [39, None, "Wien"]
    shown = explainer.explain_many(frame, k=1).to_shap()
    assert shown.feature_names == ["age", "both", "city"]
    assert shown.display_data.tolist() == [[39, None, "Wien"], [50, None, "Graz"]]
    assert shown.data.tolist() == [[39.0, 0.0, 1.0], [50.0, 0.0, 0.0]]  # numbers, for colours


def test_a_function_is_explained_without_a_model():
    explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1], np.zeros((1, 2)), feature_names=["a", "b"])
    top = explainer.explain([2.0, 3.0], k=1)
    assert top.estimates.tolist() == [3.0, 3.0]
    assert explainer.output_name == "<lambda>"


def test_options_of_explain_override_those_of_the_explainer():
    explainer = Explainer(
        LinearRegression().fit(X, Y), X, budget=50, random_state=0, groups={"blood": list(X.columns[4:])}
    )
    top = explainer.explain(X.iloc[0], k=2)
    assert (top.budget, top.n_players) == (32, 5) or (top.budget, top.n_players) == (50, 5)
    assert "blood" in top.player_names
    assert explainer.explain(X.iloc[0], k=2, budget=20).budget == 20


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_explain_many_equals_explain_for_every_row(kind):
    frame = X if kind is pd.DataFrame else kind(X.to_numpy())
    model = RandomForestRegressor(5, random_state=0).fit(frame, Y)
    explainer = Explainer(model, frame[:50], imputer="marginal", budget=60, random_state=1)
    tops = explainer.explain_many(frame[:4], k=2)
    assert len(tops) == 4
    for row in range(4):
        alone = explainer.explain(frame[row : row + 1], k=2)
        np.testing.assert_array_equal(tops[row].estimates, alone.estimates)
    assert len(tops[1:3]) == 2


def test_the_result_does_not_depend_on_the_number_of_jobs(capsys):
    explainer = Explainer(LinearRegression().fit(X, Y), X, budget=60, random_state=1)
    alone = explainer.explain_many(X[:3], k=2, progress=True)
    several = explainer.explain_many(X[:3], k=2, n_jobs=2)
    for one, other in zip(alone, several, strict=True):
        np.testing.assert_array_equal(one.estimates, other.estimates)
    assert "3/3" in capsys.readouterr().err


def test_explanations_of_many_rows_become_one_frame():
    frame = Explainer(LinearRegression().fit(X, Y), X, budget=60, random_state=1).explain_many(X[:2], k=2).to_frame()
    assert len(frame) == 20
    assert frame.groupby("row")["top_k"].sum().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Explainer(3, X), "'model_or_predict' parameter of Explainer must be a fitted model or a function"),
        (lambda: Explainer(LinearRegression(), X), "a method of a fitted model: call fit first"),
        (lambda: Explainer(LogisticRegression(), X), "a method of a fitted model: call fit first"),
        (lambda: Explainer(SVC().fit(X[:50], Y[:50] > 150), X[:0]), "'background' parameter of Explainer .* one row"),
        (lambda: Explainer(LinearRegression().fit(X, Y), X[["age", "sex"]]), "takes rows like x. It raised ValueError"),
        (lambda: Explainer(LinearRegression().fit(X, Y), X).explain(X.iloc[0, :3]), "same columns as the background"),
        (
            lambda: Explainer(LinearRegression().fit(X, Y), X).explain(X.iloc[0], k=11),
            r"'k' parameter of explain .* \[1, 10\]",
        ),
        (
            lambda: Explainer(LinearRegression().fit(X, Y), X, groups={"g": X.columns[:7]}).explain_many(X, k=5),
            r"'k' parameter of explain_many must be an int in \[1, 4\]. Got 5",
        ),
    ],
)
def test_errors_say_what_to_do(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_an_unknown_option_is_refused_at_once_with_the_closest_name():
    explainer = Explainer(LinearRegression().fit(X, Y), X)
    with pytest.raises(TypeError, match=r"Explainer\(\) got .* 'bugdet'. Did you mean 'budget'"):
        Explainer(LinearRegression().fit(X, Y), X, bugdet=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'imputr'. Did you mean 'imputer'"):
        Explainer(LinearRegression().fit(X, Y), X, imputr="marginal")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"explain\(\) got .* 'bugdet'. Did you mean 'budget'"):
        explainer.explain(X.iloc[0], bugdet=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"explain_many\(\) got .* 'bugdet'. Did you mean 'budget'"):
        explainer.explain_many(X, bugdet=5)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "'budget' parameter of Explainer must be an int of at least 2. Got -1"),
        ({"rank_by": "size"}, "'rank_by' parameter of Explainer must be 'value'.* Got 'size'"),
        ({"delta": 2.0}, "'delta' parameter of Explainer must be a number between 0 and 1"),
        ({"stop": 5}, "'stop' parameter of Explainer must be a Criterion"),
        ({"max_background": 0}, "'max_background' parameter of Explainer must be an int of at least 1. Got 0"),
    ],
)
def test_an_invalid_option_is_refused_when_the_explainer_is_created(options, message):
    with pytest.raises(ParameterError, match=message):
        Explainer(LinearRegression().fit(X, Y), X, **options)


def test_the_explainer_takes_the_options_of_its_games_and_of_identify():
    takes, game, run = (set(keyword_options(door)) for door in (Explainer, PredictionGame, identify))
    assert takes == (game - {"fingerprint"}) | run | {"max_background"}
    assert ExplainerOptions.__optional_keys__ == takes - {"output", "max_background"}
    assert set(keyword_options(Explainer.explain)) == run
    assert set(keyword_options(Explainer.explain_many)) == run | {"share", "refine"}


@pytest.mark.parametrize("output", [[0, 1], (0, 1), np.array([0, 1]), {0, 1}], ids=str)
@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=1000), SVC(), np.asarray], ids=["proba", "svc", "function"]
)
def test_several_outputs_at_once_are_refused(model, output):
    iris, kind = load_iris(return_X_y=True)
    if hasattr(model, "fit"):
        model.fit(iris, kind)
    with pytest.raises(ParameterError, match=r"'output' parameter of .* must be the name of one class or the position"):
        Explainer(model, iris, output=output)


class Counting:
    """A linear model that counts its predictions and has only the fingerprint it is given."""

    def __init__(self, fingerprint):
        self.fingerprint = fingerprint
        self.rows = 0

    def __call__(self, X):
        self.rows += len(X)
        return X @ np.array([3.0, -1.0, 2.0, 0.5])


@pytest.mark.parametrize("named", [True, False])
def test_each_row_has_its_own_store(tmp_path, named):
    model = Counting(None if named else "linear")
    rows = np.random.default_rng(0).normal(size=(3, 4))
    store = Store(tmp_path / "run.db", game="linear") if named else tmp_path / "run.db"
    explainer = Explainer(model, np.zeros((1, 4)), store=store, random_state=0)
    tops = explainer.explain_many(rows, k=2)
    for row, top in zip(rows, tops, strict=True):
        np.testing.assert_allclose(top.estimates, row * [3.0, -1.0, 2.0, 0.5], atol=1e-12)
    files = sorted(path.name for path in tmp_path.glob("*.db"))
    assert len(files) == 3
    assert files[2] == "run.db"
    assert all(re.fullmatch("run-[0-9a-f]{12}.db", file) for file in files[:2])
    again = explainer.explain_many(rows, k=2)
    assert sorted(path.name for path in tmp_path.glob("*.db")) == files
    assert all(Store(tmp_path / file).info().evaluations == 16 for file in files)
    np.testing.assert_array_equal([top.estimates for top in again], [top.estimates for top in tops])
