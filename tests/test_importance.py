"""Explainer.importance: global importance by loss and by mean magnitude, from a sample of rows."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import topshap
from topshap.games import LossGame
from topshap.global_importance.estimate import RowMeans
from topshap.global_importance.sampled_rows import spread_order


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, predict(X) + 0.3 * rng.normal(size=300)


def predict(X):
    return 2.0 * X[:, 0] + X[:, 1] * X[:, 2] - 0.5 * X[:, 3]


@pytest.fixture(scope="module")
def explainer(data):
    return topshap.Explainer(predict, data[0], max_background=15, random_state=0)


@pytest.fixture(scope="module")
def truth(data, explainer):
    """The exact importance of both kinds."""
    X, y = data
    game = LossGame(predict, X, y, explainer._background)
    magnitudes = explainer.explain_many(X, k=1, budget=32).estimates
    return {"loss": topshap.exact.shapley_values(game), "mean_abs": np.abs(magnitudes).mean(axis=0)}


def asked(data, by):
    return {"y": data[1]} if by == "loss" else {}


@pytest.mark.parametrize("by", ["loss", "mean_abs"])
def test_intervals_hold_the_truth(data, explainer, truth, by):
    found = [
        explainer.importance(data[0], k=2, by=by, budget=900, random_state=seed, **asked(data, by))
        for seed in range(12)
    ]
    inside = [(top.interval()[:, 0] <= truth[by]) & (truth[by] <= top.interval()[:, 1]) for top in found]
    assert np.mean(inside) >= 0.85
    assert all(0 < top.n_rows < top.n_table_rows == 300 for top in found)
    assert all(top.evaluations <= top.budget == 900 for top in found)
    assert np.mean([top.estimates for top in found], axis=0) == pytest.approx(truth[by], abs=0.15 * truth[by].max())


@pytest.mark.parametrize("by", ["loss", "mean_abs"])
def test_standard_errors_have_a_part_of_the_rows_and_a_part_of_the_coalitions(data, explainer, by):
    top = explainer.importance(data[0], k=2, by=by, budget=900, **asked(data, by))
    together = np.hypot(top.row_std_errors, top.coalition_std_errors)
    np.testing.assert_allclose(together, top.std_errors, rtol=1e-9)
    assert (top.row_std_errors[:3] > 0.0).all()
    assert (top.coalition_std_errors[1:3] > 0.0).all()  # the players that interact


def test_rows_add_no_uncertainty_once_all_of_the_table_were_sampled(data, explainer):
    options = {"k": 2, "budget": 6000}
    table = explainer.importance(data[0], **options)
    infinite = explainer.importance(data[0], population="infinite", **options)
    assert table.n_rows == infinite.n_rows == 300
    assert (table.row_std_errors == 0.0).all()
    assert (infinite.row_std_errors[:4] > 0.0).all()
    np.testing.assert_array_equal(table.estimates, infinite.estimates)


def test_a_large_budget_evaluates_the_same_coalitions_for_all_rows(data, explainer, truth):
    X, y = data
    some = explainer.importance(X, y, k=2, budget=20 * 300)
    assert some.algorithm == "odd-gp"
    assert some.n_rows == 300
    np.testing.assert_allclose(some.row_values.mean(axis=0), some.estimates, atol=0.02)
    everything = explainer.importance(X, y, k=2, budget=32 * 300)
    assert everything.stopped == "exact"
    np.testing.assert_allclose(everything.estimates, truth["loss"], atol=1e-9)
    sample = explainer.importance(X, y, k=2, budget=32 * 300, population="infinite")
    assert sample.stopped == "budget"
    np.testing.assert_allclose(sample.std_errors, sample.row_values.std(axis=0, ddof=1) / np.sqrt(300))


def test_estimates_by_loss_add_up_to_the_reduction_of_the_loss(data, explainer):
    X, y = data
    top = explainer.importance(X, y, k=2, budget=700)
    nothing = predict(np.asarray(explainer._background.table.data)).mean()
    reduction = np.mean((y - nothing) ** 2) - np.mean((y - predict(X)) ** 2)
    assert top.grand - top.empty == pytest.approx(reduction)
    assert top.estimates.sum() == pytest.approx(reduction)


@pytest.mark.parametrize("by", ["loss", "mean_abs"])
def test_a_run_with_epsilon_stops_when_the_set_is_clear(data, explainer, truth, by):
    top = explainer.importance(data[0], k=1, by=by, epsilon=0.1, **asked(data, by))
    assert top.stopped == "confident"
    assert top.guarantee == "asymptotic"
    assert top.players[0] == np.argmax(truth[by])
    assert top.n_rows < 300
    assert "This assumes enough rows for normal estimates" in top.promise


def test_players_that_are_close_take_the_whole_budget(data):
    close = topshap.Explainer(lambda X: X[:, 0] + X[:, 1], data[0], max_background=5, random_state=0)
    top = close.importance(data[0], k=1, epsilon=1e-6, budget=1000)
    assert top.stopped == "budget"
    assert "before epsilon=1e-06 was reached" in top.promise
    assert close.importance(data[0], k=2, epsilon=0.1).stopped == "confident"


def test_the_same_seed_gives_the_same_result(data, explainer):
    first, second = (explainer.importance(data[0], k=2, budget=500, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.estimates, second.estimates)
    other = explainer.importance(data[0], k=2, budget=500, random_state=4)
    assert (first.estimates != other.estimates).any()


def test_values_of_rows_are_kept(data, explainer):
    top = explainer.importance(data[0], k=2, budget=500)
    assert top.row_values.shape == (len(top.rows), 5) == (top.n_rows, 5)
    gains = predict(data[0][top.rows]) - predict(np.asarray(explainer._background.table.data)).mean()
    np.testing.assert_allclose(top.row_values.sum(axis=1), gains)


def test_classifiers_and_frames_with_text_and_groups():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"city": rng.choice(["Graz", "Linz", "Wien"], 120), "size": rng.normal(size=120), "noise": rng.normal(size=120)}
    )
    y = np.where((frame["city"] == "Wien") | (frame["size"] > 1.0), "dear", "cheap")

    def numbers(data):
        return np.stack([data["city"] == "Wien", data["size"], data["noise"]], axis=1).astype(float)

    inner = LogisticRegression().fit(numbers(frame), y)

    class Model:
        classes_ = inner.classes_

        def predict_proba(self, data):
            return inner.predict_proba(numbers(data))

        def predict(self, data):
            return inner.predict(numbers(data))

    explainer = topshap.Explainer(Model(), frame, max_background=10, random_state=0, groups={"rest": ["size", "noise"]})
    top = explainer.importance(frame, y, k=1)
    assert top.names == ("city",)
    assert top.output_name == "reduction of the log-loss"
    assert explainer.importance(frame, k=1).output_name == "predict_proba of the predicted class"
    assert explainer.importance(frame.iloc[:30], k=2, budget=60).n_players == 2


def test_one_player_needs_no_evaluations():
    explainer = topshap.Explainer(lambda X: X[:, 0], [[0.0], [1.0]])
    top = explainer.importance([[3.0], [-1.0], [0.5]], k=1)
    assert (top.stopped, top.evaluations) == ("exact", 0)
    assert top.estimates == pytest.approx([np.abs([2.5, -1.5, 0.0]).mean()])


def test_results_are_saved_shown_and_pickled(data, explainer, tmp_path):
    top = explainer.importance(data[0], k=2, budget=500, player_names=["<b>", "b", "c", "d", "e"])
    top.save(tmp_path / "top.json")
    loaded = topshap.load(tmp_path / "top.json")
    assert isinstance(loaded, topshap.TopImportance)
    np.testing.assert_array_equal(loaded.row_std_errors, top.row_std_errors)
    assert (loaded.by, loaded.n_rows, loaded.row_values) == ("mean_abs", top.n_rows, None)
    assert str(loaded) == str(top)
    assert str(pickle.loads(pickle.dumps(top))) == str(top)
    assert "by mean magnitude" in top.headline
    assert "rows were evaluated; the result is about all rows of the table" in top.promise
    top.to_html(tmp_path / "top.html")
    assert "<b>" not in (tmp_path / "top.html").read_text().split("<body", 1)[1].replace("<b>e", "")
    assert top.to_frame().shape[0] == 5
    assert top.plot().get_xlabel().startswith("mean magnitude")
    with pytest.raises(AttributeError, match="no interactions"):
        _ = top.interactions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "loss"}, "'y' parameter of importance must be the target of each row"),
        ({"by": "height"}, "'by' parameter of importance must be 'loss' or 'mean_abs'"),
        ({"by": "mean_abs", "y": np.zeros(300)}, "'y' parameter of importance must be None for by='mean_abs'"),
        ({"loss": "mse"}, "'loss' parameter of importance must be None for by='mean_abs'"),
        ({"k": 6}, "'k' parameter of importance must be an int"),
        ({"budget": 10}, "'budget' parameter of importance must be an int of at least 24, enough for 4 rows"),
        ({"epsilon": -1.0}, "'epsilon' parameter of importance"),
        ({"delta": 2.0}, "'delta' parameter of importance"),
        ({"population": "finite"}, "'population' parameter of importance must be 'table' or 'infinite'"),
        ({"y": np.zeros(7)}, "'y' parameter of importance must be one target for each of the 300 rows"),
    ],
)
def test_wrong_calls_name_the_parameter(data, explainer, options, message):
    with pytest.raises(topshap.ParameterError, match=message):
        explainer.importance(data[0], **options)


def test_a_link_has_no_loss_and_all_outputs_have_no_magnitude(data):
    X, _ = data
    chances = topshap.Explainer(lambda X: 1.0 / (1.0 + np.exp(-X[:, 0])), X, max_background=3, link="logit")
    assert chances.importance(X, k=1, budget=100).names == ("0",)
    with pytest.raises(topshap.ParameterError, match="must be 'mean_abs' with link='logit'"):
        chances.importance(X, np.zeros(300), k=1)
    several = topshap.Explainer(lambda X: X[:, :2], X, max_background=3, output="all")
    with pytest.raises(topshap.ParameterError, match="must be 'loss' with output='all'"):
        several.importance(X, k=1)
    assert several.importance(X, X[:, :2], k=2, budget=100).by == "loss"


def test_prefixes_of_the_order_are_spread_over_the_scores():
    scores = np.random.default_rng(0).normal(size=1000)
    order = spread_order(scores, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(1000))
    ranks = np.argsort(np.argsort(scores))
    for count in (64, 100, 300):
        gaps = np.diff(np.sort(ranks[order[:count]]))
        assert gaps.max() <= 2 * 1000 / count + 1


def test_every_row_comes_first_equally_often():
    rng = np.random.default_rng(0)
    first = np.bincount([spread_order(np.arange(8.0), rng)[0] for _ in range(4000)], minlength=8)
    assert np.abs(first - 500).max() < 100


def test_parts_of_a_weighted_background_give_its_mean_magnitudes(data):
    X, weights = data[0][:60], np.arange(1.0, 13.0)
    background = SimpleNamespace(data=data[0][100:112], weights=weights)
    explainer = topshap.Explainer(predict, background, random_state=0)
    truth = np.abs(explainer.explain_many(X, k=1, budget=32).estimates).mean(axis=0)
    top = explainer.importance(X, k=2, budget=60 * 40)
    np.testing.assert_allclose(top.row_values.sum(axis=1), predict(X) - weights @ predict(background.data) / 78.0)
    np.testing.assert_allclose(top.estimates, truth, atol=0.02 * truth.max())


@pytest.mark.parametrize(("options", "fewest"), [({}, 1), ({"imputer": "mean-mode"}, 2), ({"link": "logit"}, 2)])
def test_rows_get_more_permutations_once_the_budget_covers_all_rows(data, options, fewest):
    def chance(X):
        return 1.0 / (1.0 + np.exp(-predict(X)))

    explainer = topshap.Explainer(chance, data[0], max_background=15, random_state=0, **options)
    visits = [explainer.importance(data[0][:40], k=2, budget=budget) for budget in (335, 495, 975)]
    # The budget is spent on whole visits of a row, which take four evaluations per permutation.
    assert [top.evaluations for top in visits] == [332 if fewest == 1 else 328, 488, 960]
    assert [top.n_rows for top in visits[1:]] == [40, 40]
    assert visits[2].coalition_std_errors.max() < visits[0].coalition_std_errors.max()


def test_different_permutations_for_parts_of_the_background_average_out(data, truth):
    explainer = topshap.Explainer(predict, data[0], max_background=15, random_state=0)
    found = [explainer.importance(data[0], k=2, budget=3000, random_state=seed) for seed in range(4)]
    errors = np.array([top.estimates - truth["mean_abs"] for top in found])
    assert all(top.n_rows == 300 and (top.row_std_errors == 0.0).all() for top in found)
    assert np.sqrt((errors**2).mean()) < 0.01 * truth["mean_abs"].max()


def test_the_bias_of_magnitudes_is_corrected():
    rng = np.random.default_rng(0)
    owner, noise = np.repeat(np.arange(2000), 2), rng.normal(size=(4000, 1))
    magnitude = RowMeans(owner, 2.0 + noise).mean([np.empty((2000, 0))], magnitude=True, population=None)
    assert magnitude.means[0] == pytest.approx(2.0, abs=0.05)
    near_zero = RowMeans(owner, noise).mean([np.empty((2000, 0))], magnitude=True, population=None)
    assert near_zero.means[0] < 0.45 < np.abs(noise.reshape(-1, 2).mean(axis=1)).mean()
