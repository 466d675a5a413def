"""Shapley values of surrogates on logit values in games that are too large to be enumerated."""

import numpy as np
import pytest
from scipy.special import expit

import topshap
from topshap.algorithms.odd_gp.designs import draw_pairs
from topshap.algorithms.odd_gp.logit_shapley import KnownModel, best_share
from topshap.algorithms.odd_gp.sigmoid_game import sigmoid_shapley_values

N = 24


def effects_of(seed):
    return np.random.default_rng(seed).normal(0.0, 0.8, N)


def test_the_sigmoid_of_an_additive_game_is_almost_exact_with_few_evaluations():
    for seed in range(3):
        effects = effects_of(seed)
        exact = sigmoid_shapley_values(-0.5, effects)
        top = topshap.identify(
            lambda coalitions, b=effects: expit(np.where(coalitions, 1.0, -1.0) @ b - 0.5),
            N,
            k=3,
            budget=200,
            algorithm="odd-gp",
            random_state=seed,
        )
        # Sampled pairs alone would leave an error of about 0.01 of the range.
        assert np.max(np.abs(top.estimates - exact)) < 0.002 * np.ptp(exact)
        assert np.all(np.abs(top.estimates - exact) <= 3.0 * top.std_errors)


def test_the_model_that_differs_from_the_predictions_by_an_additive_game_gets_all_of_the_mixture():
    rng = np.random.default_rng(0)
    x = np.where(draw_pairs(N, 500, 1.0, rng), 1.0, -1.0)
    predicted, none = x[:, 0] * x[:, 1] * x[:, 2], np.zeros(N)
    close = KnownModel(predicted + x @ effects_of(1), none)
    assert best_share(x, predicted, KnownModel(np.zeros(len(x)), none), close) == pytest.approx(1.0)
    assert best_share(x, predicted, close, KnownModel(np.zeros(len(x)), none)) == pytest.approx(0.0, abs=1e-12)


def test_a_mixture_has_the_predictions_and_values_of_both_models():
    first, second = KnownModel(np.array([1.0]), np.array([2.0])), KnownModel(np.array([3.0]), np.array([6.0]))
    assert first.mixed_with(second, 0.25) == (1.5, 3.0)
