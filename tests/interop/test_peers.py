"""Exact values of games on models equal those of shap's and shapiq's own exact computers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)

from topshap.games import PredictionGame, TableGame
from topshap.interop import to_shapiq
from topshap.reference.exact import shapley_values, value_table

X, Y = load_diabetes(return_X_y=True, as_frame=True)


def boosted(package, **options):
    module = pytest.importorskip(package, reason=f"{package} is in the extra 'peers'")
    kind = {"lightgbm": "LGBMRegressor", "xgboost": "XGBRegressor"}[package]
    return getattr(module, kind)(n_estimators=20, max_depth=3, random_state=0, **options)


MODELS = {
    "forest": lambda: RandomForestRegressor(10, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=20, random_state=0),
    "lightgbm": lambda: boosted("lightgbm", verbose=-1),
    "xgboost": lambda: boosted("xgboost"),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_shaps_interventional_tree_explainer(name):
    shap = pytest.importorskip("shap", reason="shap is in the extra 'shap'")
    # Trees compare in single precision and shap in double: with whole numbers both see the same.
    rows = (1000.0 * X).round()
    model, background = MODELS[name]().fit(rows, Y), rows.iloc[:40]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own
        explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
        expected = explainer.shap_values(rows.iloc[100:102], check_additivity=False)
    scale = np.abs(expected).max()
    for row, theirs in zip((100, 101), expected, strict=True):
        game = PredictionGame(model.predict, rows.iloc[row], background, imputer="marginal")
        np.testing.assert_allclose(shapley_values(game) / scale, theirs / scale, atol=1e-6)


def test_probabilities_equal_shaps_too():
    shap = pytest.importorskip("shap", reason="shap is in the extra 'shap'")
    wine, kind = load_wine(return_X_y=True, as_frame=True)
    wine = (100.0 * wine.iloc[:, :9]).round()
    model = ExtraTreesClassifier(10, max_depth=3, random_state=0).fit(wine, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(model, wine.iloc[::4], feature_perturbation="interventional")
        expected = explainer.shap_values(wine.iloc[[5]], check_additivity=False)[0, :, 2]
    game = PredictionGame(model.predict_proba, wine.iloc[5], wine.iloc[::4], output=2, imputer="marginal")
    np.testing.assert_allclose(shapley_values(game), expected, atol=1e-6)


def test_a_boosted_classifier_has_the_raw_values_of_the_tree_explainer_and_the_probabilities_of_the_exact_one():
    shap = pytest.importorskip("shap", reason="shap is in the extra 'shap'")
    rows = (1000.0 * X.iloc[:, :6]).round().to_numpy()
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(rows, Y > 140.0)
    background, point = rows[:10], rows[[50]]

    def positive(rows):
        return model.predict_proba(rows)[:, 1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"feature_perturbation": "interventional"}
        raw = shap.TreeExplainer(model, background, model_output="raw", **options).shap_values(point)[0]
        scaled = shap.TreeExplainer(model, background, model_output="probability", **options).shap_values(point)[0]
        exact = shap.explainers.Exact(positive, shap.maskers.Independent(background))(point)[0]
    scores = shapley_values(PredictionGame(model.decision_function, point[0], background, imputer="marginal"))
    probabilities = shapley_values(PredictionGame(positive, point[0], background, imputer="marginal"))
    np.testing.assert_allclose(scores, raw, atol=1e-6)
    np.testing.assert_allclose(probabilities, exact.values, atol=1e-6)
    assert np.abs(probabilities - scaled).max() > 1e-4


def test_values_equal_shapiqs_exact_computer():
    shapiq = pytest.importorskip("shapiq", reason="shapiq is in the extra 'shapiq'")
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :8]
    model = ExtraTreesClassifier(10, random_state=0).fit(frame, data.target)
    game = PredictionGame(model.predict_proba, frame.iloc[3], frame.iloc[:30], output=1, imputer="marginal")
    theirs = shapiq.ExactComputer(to_shapiq(game), n_players=8)("SV", order=1)
    np.testing.assert_allclose(shapley_values(game), [theirs[(i,)] for i in range(8)], atol=1e-6)


def test_values_equal_those_of_shapiqs_own_game():
    shapiq = pytest.importorskip("shapiq", reason="shapiq is in the extra 'shapiq'")
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X.to_numpy(), Y)
    point, baseline = X.iloc[7].to_numpy(), X.iloc[9].to_numpy()
    theirs = shapiq.BaselineImputer(model.predict, X.to_numpy(), x=point)
    theirs.init_background(baseline)
    mine = PredictionGame(model.predict, point, baseline[None, :], imputer="baseline")
    everybody = (np.arange(2**10)[:, None] >> np.arange(10) & 1).astype(bool)
    values = value_table(mine)
    np.testing.assert_allclose(theirs(everybody) - theirs(everybody)[0], values - values[0], atol=1e-6)
    exact = shapiq.ExactComputer(theirs, n_players=10)("SV", order=1)
    np.testing.assert_allclose(TableGame(values).shapley_values(), [exact[(i,)] for i in range(10)], atol=1e-6)


def test_a_frame_of_categories_goes_to_lightgbm_as_it_is():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is in the extra 'peers'")
    rng = np.random.default_rng(0)
    kind = pd.Categorical(rng.choice(["u", "v", "w"], 200))
    frame = pd.DataFrame({"kind": kind, "other": rng.random(200), "more": np.where(rng.random(200) < 0.3, np.nan, 1.0)})
    target = kind.codes == 1
    model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(frame, target)
    game = PredictionGame(model.predict_proba, frame[target].iloc[0], frame, output=True, imputer="marginal")
    assert shapley_values(game).argmax() == 0
