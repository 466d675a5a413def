"""UnsupervisedGame: the total correlation of columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import UnsupervisedGame


def test_the_total_correlation_of_gaussians_equals_the_closed_form():
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 0.8, 0.3], [0.8, 2.0, 0.1], [0.3, 0.1, 0.5]])
    data = rng.multivariate_normal(np.zeros(3), covariance, size=300)
    game = UnsupervisedGame(data, shrinkage=0.0)
    correlations = np.corrcoef(data.T)
    for coalition, value in zip(from_ids(np.arange(8), 3), game(from_ids(np.arange(8), 3)), strict=True):
        part = correlations[np.ix_(coalition, coalition)]
        assert value == pytest.approx(-0.5 * np.log(np.linalg.det(part)) if coalition.any() else 0.0, abs=1e-12)


def test_the_total_correlation_of_categories_equals_the_one_from_counts():
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y", "z"], size=400)
    frame = pd.DataFrame({"a": a, "copy": a, "other": rng.integers(0, 2, size=400)})
    game = UnsupervisedGame(frame, method="discrete")
    frequencies = frame["a"].value_counts(normalize=True).to_numpy()
    entropy = -(frequencies * np.log(frequencies)).sum()
    values = game(np.array([[True, True, False], [True, False, True], [False, False, True]]))
    assert values[0] == pytest.approx(entropy)
    assert values[1] == pytest.approx(0.0, abs=0.02)
    assert values[2] == pytest.approx(0.0, abs=1e-12)


@given(st.sampled_from(["gaussian", "discrete"]), st.integers(0, 50))
def test_the_total_correlation_never_decreases_with_more_columns(method, seed):
    rng = np.random.default_rng(seed)
    game = UnsupervisedGame(rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)), method=method, bins=3)
    table = game(from_ids(np.arange(16), 4))
    for coalition in range(16):
        for player in range(4):
            assert table[coalition | 1 << player] >= table[coalition] - 1e-9


def test_constant_columns_and_invalid_parameters_are_refused():
    data = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match="Drop or impute the column 1"):
        UnsupervisedGame(np.stack([data[:, 0], np.ones(20)], axis=1))
    with pytest.raises(ParameterError, match=r"'shrinkage' .* must be larger"):
        UnsupervisedGame(data[:, [0, 0]], shrinkage=0.0)
    with pytest.raises(ParameterError, match=r"'shrinkage' .* a number in \[0, 1\]"):
        UnsupervisedGame(data, shrinkage=2.0)
    with pytest.raises(ParameterError, match=r"'method' .* must be 'gaussian' or 'discrete'"):
        UnsupervisedGame(data, method="guess")


def test_a_sparse_matrix_is_refused():
    with pytest.raises(ParameterError, match="'X' parameter of UnsupervisedGame must be a dense array"):
        UnsupervisedGame(sparse.csr_matrix(np.eye(3)))


def test_the_game_can_be_pickled():
    game = UnsupervisedGame(np.random.default_rng(0).normal(size=(30, 4)))
    copy = pickle.loads(pickle.dumps(game))
    rows = np.random.default_rng(0).random((4, game.n_players)) < 0.5
    np.testing.assert_array_equal(copy(rows), game(rows))
    assert copy.fingerprint == game.fingerprint
