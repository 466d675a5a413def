"""Rows that share their coalitions, their known dummies, and coalitions of rows in doubt."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import topshap
from topshap.core.errors import GameError, NoisyGameWarning, ParameterError
from topshap.reference.exact import shapley_values
from topshap.row_results import parts_of
from topshap.sharing import shares

N, ROWS, BUDGET = 10, 24, 80


class Counted:
    """A smooth function with interactions, whose predicted rows are counted."""

    def __init__(self, fail_after=None):
        self.rows, self.fail_after = 0, fail_after

    def __call__(self, X):
        self.rows += len(X)
        if self.fail_after is not None and self.rows > self.fail_after:
            raise KeyboardInterrupt
        X = np.asarray(X, dtype=np.float64)
        return np.tanh(X @ np.linspace(-1.0, 1.0, N)) + 0.5 * X[:, 0] * X[:, 3] + X[:, 7]


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(ROWS, N)).round(1)


@pytest.fixture(scope="module")
def background():
    return np.random.default_rng(1).normal(size=(20, N)).round(1)


@pytest.fixture(scope="module")
def truth(rows, background):
    games = [topshap.games.PredictionGame(Counted(), x, background, imputer="marginal") for x in rows]
    return np.array([shapley_values(game) for game in games])


def test_rows_that_share_are_as_accurate_as_rows_one_by_one(rows, background, truth):
    errors = {}
    for share in (True, False):
        tops = topshap.Explainer(Counted(), background, random_state=0).explain_many(
            rows, k=3, budget=BUDGET, share=share
        )
        errors[share] = np.sqrt(np.mean((tops.estimates - truth) ** 2, axis=1)) / np.ptp(truth, axis=1)
    # The standard error of the mean over 24 rows is about 10% of it.
    assert errors[True].mean() < 1.5 * errors[False].mean()
    assert errors[True].mean() < 0.02


@pytest.mark.parametrize("refine", [False, True])
def test_intervals_cover_and_estimates_add_up(rows, background, truth, refine):
    predict = Counted()
    explainer = topshap.Explainer(predict, background, random_state=0)
    tops = explainer.explain_many(rows, k=3, budget=BUDGET, refine=refine)
    covered = np.abs(tops.estimates - truth) <= 1.96 * tops.std_errors
    assert covered.mean() > 0.88  # 240 values that depend on each other
    np.testing.assert_allclose(tops.estimates.sum(axis=1), tops.grand - tops.empty, atol=1e-9)
    np.testing.assert_allclose(tops.grand, Counted()(rows), atol=1e-12)
    assert tops.evaluations <= BUDGET * ROWS
    assert predict.rows <= (BUDGET + 4) * ROWS * len(background)


@pytest.mark.parametrize("refine", [False, True])
def test_the_result_does_not_depend_on_workers_or_the_store(rows, background, refine, tmp_path):
    counted = Counted()

    def predict(X):  # workers get functions of a test by value
        return np.tanh(X @ np.linspace(-1.0, 1.0, 10)) + 0.5 * X[:, 0] * X[:, 3] + X[:, 7]

    np.testing.assert_array_equal(predict(rows), counted(rows))

    def explain(**options):
        explainer = topshap.Explainer(predict, background, random_state=0)
        return explainer.explain_many(rows, k=3, budget=BUDGET, refine=refine, **options).estimates

    plain = explain()
    np.testing.assert_array_equal(explain(n_jobs=2), plain)
    store = topshap.Store(tmp_path / "run.db", game="counted")
    np.testing.assert_array_equal(explain(store=store), plain)
    np.testing.assert_array_equal(explain(), plain)


@pytest.mark.parametrize("refine", [False, True])
def test_what_is_in_the_store_is_not_predicted_again(rows, background, refine, tmp_path):
    def predictions(budget):
        predict = Counted()
        explainer = topshap.Explainer(predict, background, random_state=0)
        before = predict.rows
        store = topshap.Store(tmp_path / "run.db", game="counted")
        explainer.explain_many(rows, k=3, budget=budget, refine=refine, store=store)
        return predict.rows - before

    first, again = predictions(BUDGET), predictions(BUDGET)
    assert first > 10_000
    assert again <= 2 * (len(background) + 1) + 2 * ROWS  # a few rows that check the model


def test_an_interrupted_run_has_results_for_all_rows(rows, background):
    predict = Counted(fail_after=15_000)
    for refine in (False, True):
        tops = topshap.Explainer(predict, background, random_state=0).explain_many(
            rows, k=3, budget=BUDGET, refine=refine
        )
        assert len(tops) == ROWS
        assert tops[0].stopped == "interrupted"
        assert tops[0].evaluations < BUDGET
        predict.rows = 0


def test_known_dummies_are_zero_and_small_games_are_exact(rows):
    baseline = np.zeros((1, N))
    X = rows.copy()
    X[:, 4:] = 0.0  # at most four players differ from the baseline
    X[:6, 3] = 0.0
    predict = Counted()
    explainer = topshap.Explainer(predict, baseline, imputer="baseline", random_state=0)
    tops = explainer.explain_many(X, k=3, budget=BUDGET)
    assert (tops.estimates[:, 4:] == 0.0).all()
    assert (tops.std_errors == 0.0).all()
    assert {top.stopped for top in tops} == {"exact"}
    assert tops.evaluations <= 16 * ROWS
    truth = np.array(
        [shapley_values(topshap.games.PredictionGame(Counted(), x, baseline, imputer="baseline")) for x in X]
    )
    np.testing.assert_allclose(tops.estimates, truth, atol=1e-12)
    for x, true in zip(X[:8], truth[:8], strict=True):
        one = explainer.explain(x, k=3, budget=BUDGET)
        assert one.n_players == N
        assert one.stopped == "exact"
        np.testing.assert_allclose(one.estimates, true, atol=1e-12)
        assert topshap.metrics.inclusion_exclusion_error(true, one.players) < 1e-9


def test_dummies_of_marginal_imputation_are_constant_columns(rows, background):
    X, constant = rows.copy(), background.copy()
    X[:, 5] = constant[:, 5] = 2.0
    top = topshap.Explainer(Counted(), constant, random_state=0).explain(X[0], k=3, budget=BUDGET)
    assert top.estimates[5] == top.std_errors[5] == 0.0
    assert top.covariance.shape == (N, N)
    assert top.player_values[5] == 2.0


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({
        "age": rng.integers(18, 80, 200),
        "income": rng.normal(50, 20, 200).round(1),
        "job": rng.choice(["clerk", "driver", "nurse"], 200),
        **{f"x{i}": rng.normal(size=200).round(2) for i in range(5)},
    })  # fmt: skip
    y = np.where(X["income"] + 5 * X["x0"] > 60, "rich", np.where(X["age"] < 40, "young", "other"))
    return _OnCodes().fit(X, y), X


class _OnCodes:
    """A classifier of frames with a column of strings."""

    def fit(self, X, y):
        self.model = RandomForestClassifier(20, max_depth=5, random_state=0).fit(self._codes(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(self._codes(X))

    def predict_proba(self, X):
        return self.model.predict_proba(self._codes(X))

    @staticmethod
    def _codes(X):
        return X.assign(job=X["job"].map({"clerk": 0, "driver": 1, "nurse": 2})).to_numpy(dtype=np.float64)


def test_each_row_is_explained_for_its_predicted_class(classifier):
    model, X = classifier
    explainer = topshap.Explainer(model, X, max_background=20, random_state=0)
    together = explainer.explain_many(X[:12], k=2, budget=60)
    alone = explainer.explain_many(X[:12], k=2, budget=60, share=False)
    for i, label in enumerate(model.predict(X[:12])):
        assert together[i].output_name == alone[i].output_name == f"predict_proba of class {str(label)!r}"
        assert together[i].player_values == alone[i].player_values
        assert together[i].grand == pytest.approx(alone[i].grand)
        assert together[i].empty == pytest.approx(alone[i].empty)
    assert together.explained == alone.explained == tuple(top.output_name for top in alone)
    assert together[[3, 1]].explained == (together[3].output_name, together[1].output_name)
    assert "predict_proba of class 'young'" in str(together)
    assert "job = " in str(together[0]) + str(together[1]) + str(together[2])
    assert together.data.shape == (12, 8)


def test_a_decision_function_of_two_classes_is_negated_for_the_first(rows):
    model = RidgeClassifier().fit(rows, rows[:, 0] > 0)
    explainer = topshap.Explainer(model, rows, random_state=0)
    together = explainer.explain_many(rows, k=2, budget=60)
    np.testing.assert_allclose(together.grand, np.abs(model.decision_function(rows)), atol=1e-9)
    linear = (rows - rows.mean(axis=0)) * model.coef_ * np.sign(model.decision_function(rows))[:, None]
    np.testing.assert_allclose(together.estimates, linear, atol=1e-6)


@pytest.mark.parametrize("share", [True, False])
def test_all_classes_have_results_that_add_up_to_nothing(classifier, share):
    model, X = classifier
    explainer = topshap.Explainer(model, X, output="all", max_background=20, random_state=0)
    tops = explainer.explain_many(X[:10], k=2, budget=60, share=share)
    assert tops.estimates.shape == (10, 3, 8)
    assert tops.output_names == tuple(model.classes_)
    np.testing.assert_allclose(tops.grand, model.predict_proba(X[:10]), atol=1e-12)
    np.testing.assert_allclose(tops.grand.sum(axis=1), 1.0)
    assert tops[2][1].output_name == model.classes_[1]
    assert tops.to_shap().shape == (10, 8, 3)


def test_all_classes_cost_the_predictions_of_one(rows, background):
    asked = []

    class Model:
        classes_ = np.arange(4)

        def predict_proba(self, X):
            asked.append(len(X))
            logits = np.asarray(X) @ np.random.default_rng(0).normal(size=(N, 4))
            return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    spent = {}
    for output in ("all", 2):
        asked.clear()
        topshap.Explainer(Model(), background, output=output, random_state=0).explain_many(rows, k=2, budget=BUDGET)
        spent[output] = sum(asked)
    assert spent["all"] <= 1.1 * spent[2]


def test_log_odds_of_a_logistic_model_with_one_background_row_are_linear(rows):
    model = LogisticRegression().fit(rows, rows[:, 0] + rows[:, 1] > 0)
    options = {"imputer": "baseline", "link": "logit", "output": True}
    explainer = topshap.Explainer(model, rows[:1], random_state=0, **options)
    tops = explainer.explain_many(rows[1:], k=2, budget=60)
    np.testing.assert_allclose(tops.estimates, (rows[1:] - rows[0]) * model.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"epsilon": 0.1}, False),
        ({"stop": topshap.stopping.TimeLimit(9)}, False),
        ({"algorithm": "cmcs"}, False),
        ({"algorithm": "odd-gp"}, True),
        ({"counting": "calls"}, False),
    ],
)
def test_auto_shares_where_a_fixed_budget_is_spent_by_odd_gp(options, expected):
    assert shares("auto", options, n_values=8, n_players=20, budget=42) is expected
    if not expected and "counting" not in options:
        with pytest.raises(ParameterError, match=r"'share'.*must be 'auto' or False"):
            shares(True, options, n_values=8, n_players=20, budget=42)


@pytest.mark.parametrize("size", [(7, 20, 42), (8, 201, 500), (8, 20, 41)])
def test_auto_does_not_share_few_rows_many_players_or_small_budgets(size):
    n_values, n_players, budget = size
    assert not shares("auto", {}, n_values=n_values, n_players=n_players, budget=budget)
    assert shares(True, {}, n_values=n_values, n_players=n_players, budget=budget)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": "yes"}, "'share'"),
        ({"share": False, "refine": True}, "'refine'.*must be False where rows do not share"),
        ({"refine": True, "callback": print}, "'refine'.*must be False with 'callback'"),
        ({"refine": True, "ordered": True}, "'refine'.*must be False with 'ordered'"),
        ({"refine": True, "value_range": (1.0, 0.0)}, "'value_range'"),
        ({"refine": True, "counting": "calls", "share": True}, "'refine'.*must be False with counting"),
        ({"refine": "yes"}, "'refine'"),
        ({"k": 11}, "'k'"),
    ],
)
def test_contradicting_options_are_refused(rows, background, options, message):
    with pytest.raises(ParameterError, match=message):
        topshap.Explainer(Counted(), background).explain_many(rows, **({"k": 2} | options))


@pytest.mark.parametrize("options", [{}, {"refine": True}, {"share": False}])
def test_names_of_players_can_be_given_with_dummies(rows, options):
    X = rows.copy()
    X[:, 5] = 0.0
    explainer = topshap.Explainer(Counted(), np.zeros((1, N)), imputer="baseline", random_state=0)
    names = [f"p{i}" for i in range(N)]
    tops = explainer.explain_many(X, k=2, budget=60, player_names=names, **options)
    assert tops.player_names == tops[3].player_names == tuple(names)
    assert explainer.explain(X[0], k=2, budget=60, player_names=names).player_names == tuple(names)


def test_options_of_the_algorithm_hold_for_refined_rows(rows, background):
    explainer = topshap.Explainer(Counted(), background, random_state=0, budget=BUDGET)
    plans = [topshap.algorithms.OddGP(), topshap.algorithms.OddGP(active_rounds=0)]
    found = [explainer.explain_many(rows, k=2, refine=True, algorithm=plan).estimates for plan in plans]
    assert not np.array_equal(found[0], found[1])


@pytest.mark.parametrize("case", ["shared", "refined", "pooled"])
def test_values_outside_the_stated_range_are_refused_and_the_range_is_kept(rows, background, case):
    X, replacing = (rows, background) if case != "pooled" else (np.where(rows > 0.5, 0.0, rows), np.zeros((1, N)))
    explainer = topshap.Explainer(Counted(), replacing, random_state=0)
    options = {"k": 2, "budget": 40, "refine": case == "refined"}
    tops = explainer.explain_many(X, value_range=(-99.0, 99.0), **options)
    assert tops[0].value_range == tops[len(tops) - 1].value_range == (-99.0, 99.0)
    np.testing.assert_array_equal(tops.estimates, explainer.explain_many(X, **options).estimates)
    with pytest.raises(GameError, match="must lie in the stated value_range"):
        explainer.explain_many(X, value_range=(-1e-9, 1e-9), **options)


@pytest.mark.parametrize("case", ["shared", "refined", "pooled"])
def test_a_model_that_is_not_deterministic_is_noticed(rows, background, case):
    X, replacing = (rows, background) if case != "pooled" else (np.where(rows > 0.5, 0.0, rows), np.zeros((1, N)))
    rng, counted = np.random.default_rng(0), Counted()
    explainer = topshap.Explainer(lambda X: counted(X) + rng.normal(size=len(X)), replacing, random_state=0)
    with pytest.warns(NoisyGameWarning, match="evaluated again"):
        explainer.explain_many(X, k=2, budget=40, refine=case == "refined", check_deterministic=True)


def test_parts_have_the_rows_with_the_same_dummies():
    dummies = np.random.default_rng(0).random((50, 12)) < 0.1
    parts = parts_of(dummies, k=2)
    assert sorted(np.concatenate([part.rows for part in parts]).tolist()) == list(range(50))
    for part in parts:
        assert (dummies[part.rows] == dummies[part.rows[0]]).all()
        assert part.players.tolist() == np.flatnonzero(~dummies[part.rows[0]]).tolist()
    assert len({dummies[part.rows[0]].tobytes() for part in parts}) == len(parts)


def test_the_callback_and_the_progress_bar_follow_the_run(rows, background, capsys):
    seen = []
    explainer = topshap.Explainer(Counted(), background, random_state=0)
    explainer.explain_many(rows, k=2, budget=BUDGET, callback=lambda race: seen.append(race.evaluations), progress=True)
    assert seen == sorted(seen)
    assert seen[-1] == BUDGET
    assert f"{ROWS}/{ROWS}" in capsys.readouterr().err


@pytest.fixture(scope="module")
def different_dummies(rows):
    """Rows with known dummies of their own, if they are explained with a baseline of zeros."""
    X = rows.copy()
    X[np.random.default_rng(3).random(X.shape) < 0.15] = 0.0
    return X


ZEROS = np.zeros((1, N))


def probability(X):
    return 1.0 / (1.0 + np.exp(-np.asarray(X) @ np.linspace(-1.0, 1.0, 10) - X[:, 0] * X[:, 3]))


@pytest.mark.parametrize("predict", [Counted(), probability])
def test_rows_with_different_dummies_are_as_accurate_as_rows_one_by_one(different_dummies, predict):
    games = [topshap.games.PredictionGame(predict, x, ZEROS, imputer="baseline") for x in different_dummies]
    truth = np.array([shapley_values(game) for game in games])
    explainer = topshap.Explainer(predict, ZEROS, imputer="baseline", random_state=0)
    errors = {}
    for share in (True, False):
        tops = explainer.explain_many(different_dummies, k=3, budget=BUDGET, share=share)
        errors[share] = np.sqrt(np.mean((tops.estimates - truth) ** 2, axis=1)) / np.ptp(truth, axis=1)
        assert (tops.estimates[different_dummies == 0.0] == 0.0).all()
        np.testing.assert_allclose(tops.estimates.sum(axis=1), tops.grand - tops.empty, atol=1e-9)
        uncertain = tops.std_errors > 0.0
        assert (np.abs(tops.estimates - truth)[uncertain] <= 1.96 * tops.std_errors[uncertain]).mean() > 0.88
        assert {top.evaluations <= BUDGET for top in tops} == {True}
        np.testing.assert_array_equal(tops.players, [top.players for top in tops])
    # The standard error of the mean over 24 rows is about 10% of it.
    assert errors[True].mean() < 1.5 * errors[False].mean()


def test_rows_with_different_dummies_do_not_depend_on_workers_or_the_store(different_dummies, tmp_path):
    def explain(function, **options):
        explainer = topshap.Explainer(function, ZEROS, imputer="baseline", random_state=0)
        return explainer.explain_many(different_dummies, k=3, budget=BUDGET, **options).estimates

    def predict(X):  # workers get functions of a test by value
        return np.tanh(X @ np.linspace(-1.0, 1.0, 10)) + 0.5 * X[:, 0] * X[:, 3] + X[:, 7]

    plain = explain(predict)
    np.testing.assert_array_equal(explain(predict, n_jobs=2), plain)
    spent = []
    for _ in range(2):
        counted = Counted()
        store = topshap.Store(tmp_path / "run.db", game="counted")
        np.testing.assert_array_equal(explain(counted, store=store), plain)
        spent.append(counted.rows)
    assert spent[1] < 0.1 * spent[0]


def test_rows_with_different_dummies_can_be_interrupted(different_dummies):
    explainer = topshap.Explainer(Counted(fail_after=1100), ZEROS, imputer="baseline", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        explainer.explain_many(different_dummies, k=3, budget=BUDGET)
    explainer = topshap.Explainer(Counted(fail_after=1100), ZEROS, imputer="baseline", random_state=0)
    tops = explainer.explain_many(different_dummies, k=3, budget=BUDGET, on_interrupt="return")
    assert {top.stopped for top in tops} == {"interrupted", "exact"}
    np.testing.assert_allclose(tops.estimates.sum(axis=1), tops.grand - tops.empty, atol=1e-9)


def test_all_classes_of_rows_with_different_dummies(different_dummies, capsys):
    labels = np.argmax(different_dummies[:, :3], axis=1)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(different_dummies, labels)
    explainer = topshap.Explainer(model, ZEROS, output="all", imputer="baseline", random_state=0)
    tops = explainer.explain_many(different_dummies, k=2, budget=60, progress=True)
    assert tops.estimates.shape == (ROWS, 3, N)
    np.testing.assert_allclose(tops.grand, model.predict_proba(different_dummies), atol=1e-12)
    np.testing.assert_allclose(tops.estimates.sum(axis=1), 0.0, atol=1e-3)
    assert f"{ROWS}/{ROWS}" in capsys.readouterr().err
    own = topshap.Explainer(model, ZEROS, imputer="baseline", random_state=0)
    predicted = own.explain_many(different_dummies, k=2, budget=60)
    np.testing.assert_allclose(predicted.grand, model.predict_proba(different_dummies).max(axis=1), atol=1e-12)


def test_a_callback_sees_the_race_of_every_part(different_dummies):
    seen = []
    explainer = topshap.Explainer(Counted(), ZEROS, imputer="baseline", random_state=0)
    explainer.explain_many(different_dummies[:8], k=2, budget=40, callback=lambda race: seen.append(race.n_players))
    parts = parts_of(different_dummies[:8] == 0.0, k=2)
    assert set(seen) == {len(part.players) for part in parts}
