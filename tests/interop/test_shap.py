"""Results as shap's Explanation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.errors import ParameterError
from topshap.interop.shap import adding_up


@given(k=st.integers(1, 8), seed=st.integers(0, 20))
def test_values_for_plots_add_up_and_keep_the_top_k(estimated, k, seed):
    top = estimated(k=k, random_state=seed)
    values = adding_up(top)
    assert values.sum() == pytest.approx(top.grand - top.empty)
    if k < 8:
        np.testing.assert_array_equal(values[top.players], top.estimates[top.players])


def test_a_waterfall_plot_of_shap_ends_at_the_grand_value(estimated):
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


def test_explanations_of_many_rows_make_a_beeswarm():
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
