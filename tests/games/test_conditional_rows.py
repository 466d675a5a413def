"""Gaussian imputers: absent features are drawn from their distribution given the present ones."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import topshap
from topshap.core.errors import ParameterError
from topshap.games import PredictionGame, PredictionsGame
from topshap.reference import exact

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 4)) @ RNG.normal(size=(4, 4)) + [3.0, 0.0, -1.0, 10.0]
ALL = np.array([[bool(number >> i & 1) for i in range(4)] for number in range(16)])
GAUSSIAN = ["gaussian", "gaussian-copula"]


def conditional(rows, x, present):
    """Return mean and covariance of all columns, given the present ones."""
    mean, covariance, absent = rows.mean(axis=0), np.cov(rows.T), ~present
    inverse = np.linalg.pinv(covariance[np.ix_(present, present)])
    slopes = covariance[np.ix_(absent, present)] @ inverse
    center, spread = x.copy(), np.zeros_like(covariance)
    center[absent] = mean[absent] + slopes @ (x - mean)[present]
    spread[np.ix_(absent, absent)] = (covariance[absent] - slopes @ covariance[present])[:, absent]
    return center, spread


def squares(X):
    return X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 2.0 * X[:, 3]


def wavy(X):
    return np.sin(X[:, 0]) + X[:, 1] * np.abs(X[:, 2]) + np.exp(0.1 * X[:, 3])


@given(st.integers(0, 999))
def test_values_of_a_linear_model_are_the_closed_form_with_any_number_of_draws(seed):
    rng = np.random.default_rng(seed)
    slopes, x, draws = rng.normal(size=4), rng.normal(size=4), int(rng.integers(2, 20))
    game = PredictionGame(lambda X: X @ slopes, x, ROWS, imputer="gaussian", draws=draws, random_state=seed)
    expected = [conditional(ROWS, x, present)[0] @ slopes for present in ALL]
    np.testing.assert_allclose(game(ALL), expected, rtol=1e-6, atol=1e-6)


def test_values_of_a_quadratic_model_are_the_closed_form():
    x = ROWS[0]
    expected = []
    for present in ALL:
        mean, covariance = conditional(ROWS, x, present)
        expected.append(mean[0] * mean[1] + covariance[0, 1] + mean[2] ** 2 + covariance[2, 2] - 2.0 * mean[3])
    game = PredictionGame(squares, x, ROWS, imputer="gaussian", draws=10)
    np.testing.assert_allclose(game(ALL), expected, rtol=1e-6, atol=1e-6)


def test_a_feature_that_the_model_ignores_has_a_value_if_it_is_correlated():
    copies = np.column_stack([ROWS[:, 0], ROWS[:, 0] + 0.1 * ROWS[:, 1]])
    game = PredictionGame(lambda X: X[:, 0], copies[3], copies, imputer="gaussian")
    values = exact.shapley_values(game)
    assert abs(values[1]) > 0.3 * abs(values[0])
    assert not game.dummies.any()


def test_a_column_equal_to_the_background_mean_is_not_a_known_dummy():
    x = ROWS[0].copy()
    x[0] = ROWS[:, 0].mean()
    assert not PredictionGame(wavy, x, ROWS, imputer="gaussian").dummies.any()
    assert PredictionsGame(wavy, ROWS[:3], ROWS, imputer="gaussian").dummies.shape == (3, 4)


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_same_values_for_any_batch_size_and_order_and_after_pickling(imputer):
    game = PredictionsGame(squares, ROWS[:5], ROWS, imputer=imputer, draws=20)
    small = PredictionsGame(squares, ROWS[:5], ROWS, imputer=imputer, draws=20, batch_bytes=1000)
    values = game(ALL)
    np.testing.assert_array_equal(values, small(ALL))
    np.testing.assert_array_equal(values, np.concatenate([game(one[None]) for one in ALL]))
    np.testing.assert_array_equal(values, pickle.loads(pickle.dumps(game))(ALL))
    wanted = np.random.default_rng(0).random((16, 5)) < 0.5
    np.testing.assert_array_equal(game.evaluate_for(ALL, wanted), np.where(wanted, values, np.nan))


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_a_row_among_many_has_the_values_that_it_has_alone(imputer):
    game = PredictionsGame(wavy, ROWS[:5], ROWS, imputer=imputer)
    for i in range(5):
        alone = PredictionGame(wavy, ROWS[i], ROWS, imputer=imputer)
        np.testing.assert_allclose(game(ALL)[:, i], alone(ALL), rtol=1e-12)
        assert alone(ALL[-1:])[0] == wavy(ROWS[i : i + 1])[0]


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_more_draws_come_closer_to_the_average(imputer):
    long = PredictionGame(wavy, ROWS[0], ROWS, imputer=imputer, draws=100_000)(ALL)
    errors = [
        np.abs(PredictionGame(wavy, ROWS[0], ROWS, imputer=imputer, draws=draws)(ALL) - long).mean()
        for draws in (30, 3000)
    ]
    assert errors[1] < 0.3 * errors[0]


def test_copula_draws_have_the_values_of_the_background():
    rows = np.exp(ROWS)
    seen = []

    def predict(X):
        seen.append(X)
        return X[:, 0]

    PredictionGame(predict, rows[0], rows, imputer="gaussian-copula")(ALL)
    drawn = np.concatenate(seen)
    assert (drawn >= rows.min(axis=0)).all()
    assert (drawn <= rows.max(axis=0)).all()


def test_the_copula_does_not_depend_on_increasing_transformations_of_columns():
    def first(X):
        return X[:, 0]

    x, transformed = ROWS[7].copy(), ROWS.copy()
    transformed[:, 1:] = np.exp(transformed[:, 1:])
    game = PredictionGame(first, x, ROWS, imputer="gaussian-copula")
    other = PredictionGame(first, transformed[7], transformed, imputer="gaussian-copula")
    np.testing.assert_allclose(game(ALL), other(ALL), rtol=1e-12)


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_constant_and_repeated_columns_are_possible(imputer):
    rows = np.column_stack([ROWS[:, 0], ROWS[:, 0], np.full(300, 2.0), ROWS[:, 3]])
    game = PredictionGame(lambda X: X[:, 1] + X[:, 2], rows[5], rows, imputer=imputer)
    np.testing.assert_allclose(game(ALL[[1, 3, 15]]), rows[5, 0] + 2.0, rtol=1e-4)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_numbers_gives_frames_of_floats(library):
    names = ["a", "b", "c", "d"]
    frame = library({name: ROWS[:, j] for j, name in enumerate(names)} | {"b": np.arange(300)})
    seen = []

    def predict(X):
        seen.append(X)
        return np.asarray(X["a"], dtype=float) + np.asarray(X["b"], dtype=float)

    game = PredictionGame(predict, dict(zip(names, [1.0, 2, 3.0, 4.0], strict=True)), frame, imputer="gaussian")
    same = PredictionGame(lambda X: X[:, 0] + X[:, 1], [1.0, 2, 3.0, 4.0], frame.to_numpy(), imputer="gaussian")
    np.testing.assert_allclose(game(ALL), same(ALL))
    assert type(seen[-1]) is library
    assert list(seen[-1].columns) == names


def test_the_fingerprint_depends_on_imputer_draws_and_seed():
    def made(**options):
        return PredictionGame(np.ravel, ROWS[0, :1], ROWS[:, :1], **options).fingerprint

    fingerprints = [
        made(imputer="gaussian"),
        made(imputer="gaussian-copula"),
        made(imputer="gaussian", draws=99),
        made(imputer="gaussian", random_state=1),
        made(imputer="marginal"),
    ]
    assert len(set(fingerprints)) == 5
    assert made(imputer="gaussian") == fingerprints[0]
    assert made(imputer="marginal", random_state=1) == fingerprints[4]


def test_errors_name_the_columns_that_are_not_numbers():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "job": ["a", "b", "a"]})
    with pytest.raises(ParameterError, match=r"numeric in all columns .* Got other values in column 'job'"):
        PredictionGame(len, frame.iloc[0], frame, imputer="gaussian")
    missing = pd.DataFrame({"age": [1.0, np.nan, 3.0], "size": [1.0, 2.0, 3.0]})
    with pytest.raises(ParameterError, match=r"without missing values .* Got others in column 'age'"):
        PredictionGame(len, missing.iloc[0], missing, imputer="gaussian-copula")
    with pytest.raises(ParameterError, match=r"'x' parameter .* Got others in column 1"):
        PredictionGame(wavy, [1.0, np.nan, 2.0, 3.0], ROWS, imputer="gaussian")
    with pytest.raises(ParameterError, match=r"'categorical' .* which needs numeric columns. Got \[2\]"):
        PredictionGame(wavy, ROWS[0], ROWS, imputer="gaussian", categorical=[2])
    with pytest.raises(ParameterError, match="at least 2 rows"):
        PredictionGame(wavy, ROWS[0], ROWS[:1], imputer="gaussian")
    with pytest.raises(ParameterError, match="'draws'"):
        PredictionGame(wavy, ROWS[0], ROWS, imputer="gaussian", draws=0)
    with pytest.raises(ParameterError, match="'random_state'"):
        PredictionGame(wavy, ROWS[0], ROWS, imputer="gaussian", random_state=-1)


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_an_explainer_has_the_same_results_for_any_number_of_workers(imputer):
    model = DecisionTreeRegressor(random_state=0).fit(ROWS, wavy(ROWS))
    explainer = topshap.Explainer(model, ROWS, imputer=imputer, draws=20, random_state=3)
    one, two = (explainer.explain_many(ROWS[:3], k=2, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal([top.estimates for top in one], [top.estimates for top in two])
    other = topshap.Explainer(model, ROWS, imputer=imputer, draws=20, random_state=4)
    assert (other.explain(ROWS[0], k=2).estimates != one[0].estimates).any()


def test_rows_that_share_coalitions_have_the_values_of_single_rows():
    explainer = topshap.Explainer(wavy, ROWS, imputer="gaussian", random_state=0)
    together = explainer.explain_many(ROWS[:9], k=2, share=True)
    alone = explainer.explain_many(ROWS[:9], k=2, share=False)
    np.testing.assert_allclose([top.estimates for top in together], [top.estimates for top in alone], atol=1e-9)


@pytest.mark.parametrize("imputer", GAUSSIAN)
def test_values_agree_with_those_of_shapiq(imputer):
    shapiq = pytest.importorskip("shapiq.imputer", reason="shapiq is in the extra 'shapiq'")
    kind = shapiq.GaussianImputer if imputer == "gaussian" else shapiq.GaussianCopulaImputer
    rows, n_draws = np.random.default_rng(1).normal(size=(4000, 4)) @ np.diag([1.0, 2.0, 0.5, 1.0]), 20_000
    rows[:, 1] += rows[:, 0]
    rows[:, 3] -= rows[:, 2]
    x = rows[0]
    theirs = kind(model=wavy, data=rows, x=x[None], sample_size=n_draws, random_state=0)
    expected = theirs.value_function(ALL)
    game = PredictionGame(wavy, x, rows, imputer=imputer, draws=n_draws)
    # Their standard error is at most 1.5 / sqrt(20000) = 0.011; their copula has one outlying score per column.
    np.testing.assert_allclose(game(ALL), expected, atol=0.05)
