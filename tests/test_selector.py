"""TopKSelector: a scikit-learn selector that finds the features a model needs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import topshap
from topshap import TopKSelector
from topshap.core.errors import ParameterError
from topshap.core.options import OPTION_DEFAULTS


@parametrize_with_checks(
    [
        TopKSelector(GaussianNB(), k=1, cv=2, budget=8, random_state=0),
        TopKSelector(LinearRegression(), k=1, cv=2, budget=8, random_state=0),
    ]
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_informative_features_are_found():
    X, y = make_classification(
        300, 12, n_informative=3, n_redundant=0, n_clusters_per_class=1, shuffle=False, random_state=3
    )
    selector = TopKSelector(DecisionTreeClassifier(max_depth=4), k=3, cv=3, budget=150, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert selector.result_.k == 3
    assert selector.result_.evaluations == 150


def test_copies_of_a_column_share_its_value():
    X, y = make_regression(100, 4, n_informative=2, shuffle=False, random_state=0)
    doubled = np.concatenate([X, X[:, :2]], axis=1)
    result = TopKSelector(LinearRegression(), k=4, cv=3, random_state=0).fit(doubled, y).result_
    assert set(result.players) == {0, 1, 4, 5}
    np.testing.assert_allclose(result.estimates[[0, 1]], result.estimates[[4, 5]], atol=1e-9)


def test_it_works_in_a_pipeline_and_a_search_over_k():
    X, y = make_regression(80, 6, n_informative=2, noise=1.0, random_state=0)
    pipeline = make_pipeline(
        StandardScaler(), TopKSelector(LinearRegression(), cv=2, budget=20, random_state=0), LinearRegression()
    )
    search = GridSearchCV(pipeline, {"topkselector__k": [1, 2, 3]}, cv=2).fit(X, y)
    assert search.best_params_["topkselector__k"] >= 2
    assert search.score(X, y) > 0.95


@pytest.mark.filterwarnings("ignore::topshap.UncertainResultWarning")
def test_feature_names_are_kept():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = TopKSelector(GaussianNB(), k=3, cv=2, budget=60, random_state=0).set_output(transform="pandas").fit(X, y)
    chosen = selector.transform(X)
    assert isinstance(chosen, pd.DataFrame)
    assert set(chosen.columns) == set(selector.get_feature_names_out()) == set(selector.result_.names)
    assert selector.result_.player_names == tuple(X.columns)


def test_groups_are_selected_as_a_whole():
    X, y = make_regression(100, 5, n_informative=2, shuffle=False, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    selector = TopKSelector(LinearRegression(), k=1, cv=2, groups={"good": ["a", "b"]}, random_state=0).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["a", "b"]
    with pytest.raises(ParameterError, match=r"'k' parameter of TopKSelector must be an int in \[1, 4\]. Got 5"):
        TopKSelector(LinearRegression(), k=5, cv=2, groups={"good": ["a", "b"]}).fit(frame, y)


def test_missing_values_and_categories_reach_an_estimator_that_takes_them():
    rng = np.random.default_rng(0)
    kind = pd.Categorical(rng.choice(["u", "v", "w"], 200))
    frame = pd.DataFrame(
        {"noise": np.where(rng.random(200) < 0.2, np.nan, rng.random(200)), "kind": kind, "more": rng.random(200)}
    )
    target = kind.codes + 0.1 * rng.random(200)
    estimator = HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype")
    selector = TopKSelector(estimator, k=1, cv=2, random_state=0).fit(frame, target)
    assert selector.get_feature_names_out().tolist() == ["kind"]


def test_the_same_seed_gives_the_same_selection_for_any_number_of_jobs():
    X, y = make_classification(60, 6, random_state=0)
    estimates = [
        TopKSelector(DecisionTreeClassifier(), k=2, cv=2, budget=30, n_jobs=jobs, random_state=4)
        .fit(X, y)
        .result_.estimates
        for jobs in (None, 2)
    ]
    np.testing.assert_array_equal(*estimates)


def test_it_stops_when_confident():
    X, y = make_regression(80, 6, n_informative=2, noise=1.0, shuffle=False, random_state=0)
    result = TopKSelector(LinearRegression(), k=2, cv=2, epsilon=0.1, random_state=0).fit(X, y).result_
    assert result.stopped in ("confident", "exact")
    assert set(result.players) == {0, 1}


def test_errors_say_what_to_do():
    X, y = make_classification(40, 4, n_redundant=0, random_state=0)
    with pytest.raises(NotFittedError):
        TopKSelector(LogisticRegression()).transform(X)
    with pytest.raises(ParameterError, match=r"'k' parameter of TopKSelector must be an int in \[1, 4\]. Got 5"):
        TopKSelector(LogisticRegression()).fit(X, y)
    with pytest.raises(ParameterError, match="'scoring' parameter of TopKSelector"):
        TopKSelector(LogisticRegression(), k=2, scoring="beauty").fit(X, y)
    with pytest.raises(
        ParameterError, match=r"'budget' parameter of TopKSelector must be an int of at least 2. Got -1"
    ):
        TopKSelector(LogisticRegression(), k=2, budget=-1).fit(X, y)
    with pytest.raises(TypeError, match=r"TopKSelector\(\) got .* 'bugdet'. Did you mean 'budget'"):
        TopKSelector(LogisticRegression(), bugdet=9)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match=r"'estimator' parameter of TopKSelector must be .* with fit .* Got None"):
        TopKSelector(None, k=2).fit(X, y)


def test_options_of_a_race_are_parameters_of_the_selector():
    selector = TopKSelector(LinearRegression(), k=2, algorithm="cmcs", rank_by="magnitude")
    assert OPTION_DEFAULTS.keys() <= selector.get_params(deep=False).keys()
    assert repr(selector) == (
        "TopKSelector(algorithm='cmcs', estimator=LinearRegression(), k=2,\n             rank_by='magnitude')"
    )
    changed = clone(selector).set_params(algorithm="auto", budget=9)
    assert (changed.algorithm, changed.budget, changed.rank_by) == ("auto", 9, "magnitude")
    assert (selector.algorithm, selector.budget) == ("cmcs", None)


def test_options_of_a_race_are_passed_on(tmp_path, capsys):
    X, y = make_regression(80, 6, n_informative=2, noise=1.0, random_state=0)
    options = {"algorithm": "cmcs", "rank_by": "magnitude", "stop": topshap.stopping.Budget(20), "counting": "calls"}
    names = list("abcdef")
    selector = TopKSelector(
        LinearRegression(), k=2, cv=2, store=tmp_path / "run.db", progress=True, player_names=names, **options
    )
    result = selector.fit(X, y).result_
    assert (result.algorithm, result.rank_by, result.counting, result.calls) == ("cmcs", "magnitude", "calls", 20)
    assert result.player_names == tuple(names)
    assert "20 of 20 calls" in capsys.readouterr().err
    assert topshap.Store(tmp_path / "run.db").info().evaluations == result.evaluations
    confident = TopKSelector(LinearRegression(), k=2, cv=2, epsilon=0.1, guarantee="credible", random_state=0)
    assert confident.fit(X, y).result_.guarantee in ("credible", None)


@pytest.mark.parametrize("named", [True, False])
def test_each_fold_of_a_search_has_its_own_store(tmp_path, named):
    X, y = make_regression(60, 4, n_informative=2, noise=1.0, random_state=0)
    store = topshap.Store(tmp_path / "run.db", game="linear") if named else tmp_path / "run.db"

    def search(store):
        selector = TopKSelector(LinearRegression(), cv=2, store=store, random_state=0)
        pipeline = make_pipeline(selector, LinearRegression())
        return GridSearchCV(pipeline, {"topkselector__k": [1, 2]}, cv=3, error_score="raise").fit(X, y)

    first = search(store)
    files = sorted(path.name for path in tmp_path.glob("*.db"))
    assert len(files) == 4  # three folds and all data
    again, without = search(store), search(None)
    assert sorted(path.name for path in tmp_path.glob("*.db")) == files
    for each in (again, without):
        np.testing.assert_array_equal(each.cv_results_["mean_test_score"], first.cv_results_["mean_test_score"])
    for file in files:
        info = topshap.Store(tmp_path / file).info()
        assert info.evaluations == 16
        assert info.identity.fingerprint.startswith("linear:") == named


@pytest.mark.filterwarnings("ignore::topshap.UncertainResultWarning")
def test_a_search_selects_options_of_a_race():
    X, y = make_regression(80, 6, n_informative=2, noise=1.0, random_state=0)
    pipeline = make_pipeline(TopKSelector(LinearRegression(), k=2, cv=2, random_state=0), LinearRegression())
    grid = {"topkselector__budget": [4, 20], "topkselector__rank_by": ["value", "magnitude"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_estimator_[0].budget == search.best_params_["topkselector__budget"]


def test_the_warning_about_a_result_that_is_probably_wrong_states_the_confidence():
    X, y = load_wine(return_X_y=True)
    hasty = TopKSelector(GaussianNB(), k=3, cv=2, budget=30, random_state=0)
    with pytest.warns(topshap.UncertainResultWarning, match="A larger 'budget'") as seen:
        hasty.fit(X, y)
    assert hasty.result_.confidence < 0.5
    assert f"is {hasty.result_.confidence:.0%}, after 30 evaluations" in str(seen[0].message)
    assert [warning.filename for warning in seen] == [__file__]


def test_a_result_of_unknown_confidence_issues_a_warning():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(topshap.UncertainResultWarning, match="best features is not known, after 2 evaluations"):
        TopKSelector(GaussianNB(), k=3, cv=2, budget=2, random_state=0).fit(X, y)


def test_the_warning_mentions_a_tie_at_the_border_and_an_exact_result_issues_none():
    X, y = make_regression(100, 8, n_informative=2, shuffle=False, random_state=0)
    X[:, 2:] = 0.0
    tied = "5 more are tied with the last one selected"
    with pytest.warns(topshap.UncertainResultWarning, match=tied):
        TopKSelector(LinearRegression(), k=3, cv=2, budget=200, random_state=0).fit(X, y)
    TopKSelector(LinearRegression(), k=3, cv=2, budget=256, random_state=0).fit(X, y)


def test_a_pipeline_that_imputes_gets_missing_values():
    X, y = make_regression(80, 4, n_informative=2, shuffle=False, random_state=0)
    X[::7, 3] = np.nan
    selector = TopKSelector(make_pipeline(SimpleImputer(), LinearRegression()), k=2, cv=2, random_state=0)
    assert set(selector.fit(X, y).get_support(indices=True)) == {0, 1}
    assert selector.transform(X).shape == (80, 2)
    with pytest.raises(ValueError, match="contains NaN"):
        TopKSelector(make_pipeline(StandardScaler(), LinearRegression()), k=2, cv=2).fit(X, y)


def test_scikit_learn_is_imported_only_when_it_is_used():
    assert topshap.TopKSelector is TopKSelector
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = topshap.Nothing
