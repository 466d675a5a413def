"""Exact values of games on models equal those of the exact explainers of shap and shapiq."""

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
    module = pytest.importorskip(package, reason=f"{package} is in the dependency group 'peers'")
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
    # Trees compare in single precision and shap in double precision: whole numbers are exact in both.
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


def test_probabilities_equal_those_of_shap():
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


def test_boosted_classifiers_equal_shaps_raw_output_and_its_exact_explainer():
    shap = pytest.importorskip("shap", reason="shap is in the extra 'shap'")
    data = load_breast_cancer(as_frame=True)
    frame = (100.0 * data.data.iloc[:, :6]).round().to_numpy()
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(frame, data.target)
    row, background = frame[100], frame[:15]
    probability, raw = (
        shapley_values(PredictionGame(predict, row, background, output=output, imputer="marginal"))
        for predict, output in ((model.predict_proba, 1), (model.decision_function, None))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        masker = shap.maskers.Independent(background, max_samples=15)
        (exact,) = shap.explainers.Exact(lambda rows: model.predict_proba(rows)[:, 1], masker)(row[None]).values  # noqa: PD011 - not a frame
        theirs = {
            output: shap.TreeExplainer(
                model, background, feature_perturbation="interventional", model_output=output
            ).shap_values(row[None], check_additivity=False)[0]
            for output in ("raw", "probability")
        }
    np.testing.assert_allclose(probability, exact, atol=1e-9)
    np.testing.assert_allclose(raw, theirs["raw"], atol=1e-6)
    assert np.abs(probability - theirs["probability"]).max() > 1e-3  # rescaled, not computed


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


def test_lightgbm_gets_a_frame_with_its_categories():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is in the dependency group 'peers'")
    rng = np.random.default_rng(0)
    kind = pd.Categorical(rng.choice(["u", "v", "w"], 200))
    frame = pd.DataFrame({"kind": kind, "other": rng.random(200), "more": np.where(rng.random(200) < 0.3, np.nan, 1.0)})
    target = kind.codes == 1
    model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(frame, target)
    game = PredictionGame(model.predict_proba, frame[target].iloc[0], frame, output=True, imputer="marginal")
    assert shapley_values(game).argmax() == 0
