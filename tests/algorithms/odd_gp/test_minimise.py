"""Minimisation within bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from topshap.algorithms.odd_gp.minimise import INFORMATION, Curvature, minimise


def quadratic(seed, n):
    """Return a convex quadratic function with its gradient."""
    rng = np.random.default_rng(seed)
    root, centre = rng.normal(size=(n, n)), rng.normal(size=n)
    hessian = root @ root.T + 0.1 * np.eye(n)
    return lambda x: (float((x - centre) @ hessian @ (x - centre)) / 2.0, hessian @ (x - centre))


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(0.05, 2.0))
def test_the_minimum_of_a_quadratic_function_within_bounds(seed, n, bound):
    objective, high = quadratic(seed, n), np.full(n, bound)
    found, inverse = minimise(objective, np.zeros(n), -high, high, np.eye(n), iterations=400, tolerance=0.0)
    best = minimize(objective, np.zeros(n), jac=True, method="L-BFGS-B", bounds=[(-bound, bound)] * n)
    assert np.all(np.abs(found) <= bound)
    assert objective(found)[0] <= best.fun + 1e-3 * (objective(np.zeros(n))[0] - best.fun) + 1e-9
    assert np.linalg.eigvalsh(inverse).min() > -1e-9


@given(st.integers(0, 1000), st.integers(0, 6))
def test_more_iterations_never_increase_the_objective(seed, iterations):
    objective, high = quadratic(seed, 5), np.full(5, 3.0)
    values = [
        objective(minimise(objective, np.ones(5), -high, high, np.eye(5), iterations=count, tolerance=0.0)[0])[0]
        for count in (iterations, iterations + 1)
    ]
    assert values[1] <= values[0]


def test_it_stops_where_the_objective_is_not_defined_or_gains_nothing():
    calls = []

    def undefined(x):
        calls.append(x)
        return 1e10, np.zeros(2)

    found, _ = minimise(undefined, np.zeros(2), -np.ones(2), np.ones(2), np.eye(2), iterations=9, tolerance=0.1)
    assert found.tolist() == [0.0, 0.0]
    assert len(calls) == 2


def test_it_steps_back_from_a_cliff():
    def cliff(x):
        return (1e10, np.zeros(1)) if x[0] > 0.4 else (-float(x[0]), np.array([-1.0]))

    found, _ = minimise(cliff, np.zeros(1), np.zeros(1), np.ones(1), np.eye(1), iterations=30, tolerance=0.0)
    assert 0.3 < found[0] <= 0.4


def test_the_next_fit_starts_from_the_curvature_of_the_last():
    curvature = Curvature()
    deviations = np.array([1.0, 2.0])
    first = curvature.at_start(deviations, 10)
    assert first == pytest.approx(np.diag(1.0 / (1.0 / deviations**2 + 10 * INFORMATION)))
    curvature.inverse_hessian, curvature.n_pairs = first, 10
    assert curvature.at_start(deviations, 40) == pytest.approx(first / 4.0)
    assert curvature.at_start(deviations, 5) == pytest.approx(first)
