import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from topshap.algorithms.odd_gp.fitting import SHARED_TOLERANCE, Objective, fit, observe
from topshap.algorithms.odd_gp.shared.fitting import (
    MAX_WEIGHT,
    SharedObjective,
    fit_outputs,
    independent_outputs,
    observe_outputs,
    second_moment_root,
)


def pairs(*, m=40, n=6, outputs=5, seed=0):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((m, n)) < 0.5, -1.0, 1.0)
    x[0] = 1.0
    odd = x @ rng.normal(size=(n, outputs)) + 0.3 * (x[:, 0] * x[:, 1] * x[:, 2])[:, None] * rng.normal(size=outputs)
    even = (x[:, 0] * x[:, 1])[:, None] * rng.normal(size=outputs) + 0.1 * rng.normal(size=(m, outputs))
    unit = np.sqrt(np.mean(odd**2, axis=0))
    return x, odd / unit, (even - even.mean(axis=0)) / unit


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("outputs", [1, 5, 60])
def test_the_gradient_is_that_of_the_objective(even, own, outputs):
    x, g, e = pairs(outputs=outputs)
    objective = SharedObjective(observe_outputs(x, g, e if even else None), np.arange(30), own=own)
    point = objective.prior_mean + 0.1 * np.random.default_rng(1).normal(size=len(objective.prior_mean))
    numeric = approx_fprime(point, lambda p: objective(p)[0], 1e-6)
    assert objective(point)[1] == pytest.approx(numeric, rel=2e-4, abs=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_one_output_with_weight_one_has_the_objective_of_a_single_game(seed):
    x, g, e = pairs(outputs=1, seed=seed)
    shared = SharedObjective(observe_outputs(x, g, e), np.arange(40), own=True, weight=1.0)
    single = Objective(observe(x, g[:, 0], e[:, 0]), np.arange(40), own=True)
    assert shared.bounds == single.bounds
    for point in single.prior_mean + 0.3 * np.random.default_rng(seed).normal(size=(5, len(single.prior_mean))):
        value, gradient = single(point)
        assert shared(point)[0] == pytest.approx(value, rel=1e-9)
        assert shared(point)[1] == pytest.approx(gradient, rel=1e-9, abs=1e-9)


def test_one_output_with_weight_one_has_the_fit_of_a_single_game():
    x, g, e = pairs(outputs=1)
    data, rows = observe(x, g[:, 0], e[:, 0]), np.arange(40)
    _, shared = fit_outputs(observe_outputs(x, g, e), rows, own=True, iterations=200, weight=1.0)
    _, parameters = fit(data, rows, own=True, iterations=200)
    objective = Objective(data, rows, own=True)
    assert objective(shared)[0] == pytest.approx(objective(parameters)[0], abs=2.0 * SHARED_TOLERANCE)


@pytest.mark.parametrize("outputs", [3, 60])
def test_the_likelihood_is_the_mean_over_outputs_times_the_weight(outputs):
    x, g, e = pairs(outputs=outputs)
    rows, weight = np.arange(40), 2.5
    data = observe_outputs(x, g, e)
    shared = SharedObjective(data, rows, own=True, weight=weight)
    point, zero = shared.prior_mean + 0.1, shared.prior_mean
    single = []
    for r in range(outputs):
        # the same linear fit for all outputs, so that priors and heredity are those of the shared objective
        one = Objective(observe(x, g[:, r], e[:, r]), rows, own=True)
        one._main_effects = data.main_effects
        one._constant = shared._constant
        z = (point - one.prior_mean) / one.prior_deviation
        single.append(one(point)[0] - z @ z / 2.0)
    z = (point - zero) / shared.prior_deviation
    assert shared(point)[0] - z @ z / 2.0 == pytest.approx(weight * np.mean(single), rel=1e-9)


@given(st.integers(1, 12), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_root_has_the_second_moment_of_the_outputs(m, outputs, seed):
    g = np.random.default_rng(seed).normal(size=(m, outputs))
    root = second_moment_root(g)
    assert root @ root.T == pytest.approx(g @ g.T / outputs, abs=1e-9)
    assert root.shape[1] <= max(m, outputs)


def test_equal_outputs_count_as_one_and_independent_ones_up_to_a_limit():
    g = np.random.default_rng(0).normal(size=(100, 1))
    assert independent_outputs(second_moment_root(np.repeat(g, 30, axis=1))) == pytest.approx(1.0)
    assert independent_outputs(np.eye(100)) == MAX_WEIGHT
    assert independent_outputs(np.zeros((4, 1))) == 1.0
