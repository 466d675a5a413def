"""Least squares under the efficiency constraint, compared with the equations of Lagrange."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table
from topshap.statistics.least_squares import efficient_least_squares


def lagrange(coalitions, worths, weights, gain):
    """Minimise the weighted squared error subject to the sum, from the stationarity conditions."""
    rows = coalitions.astype(float)
    n = rows.shape[1]
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = 2 * rows.T @ (weights[:, None] * rows)
    system[:n, n] = system[n, :n] = 1.0
    return np.linalg.solve(system, np.append(2 * rows.T @ (weights * worths), gain))[:n]


def random_problem(n, m, seed, gain=None):
    rng = np.random.default_rng(seed)
    ids = rng.choice(np.arange(1, 2**n - 1), size=m, replace=False)
    gain = rng.normal() if gain is None else gain
    return from_ids(ids, n), rng.normal(size=m), rng.uniform(0.2, 1.0, m), gain


def inner_coalitions(n):
    """All coalitions but the empty and the grand one, with their Shapley kernel weights."""
    coalitions = from_ids(np.arange(1, 2**n - 1), n)
    sizes = coalitions.sum(axis=1)
    kernel = [(n - 1) / (math.comb(n, s) * s * (n - s)) for s in sizes.tolist()]
    return coalitions, np.array(kernel)


NOT_DRAWN = -1


def fit(coalitions, worths, weights, gain, draws=None):
    draws = np.full(len(worths), NOT_DRAWN) if draws is None else draws
    return efficient_least_squares(coalitions, worths, weights, gain, draws)


@given(st.integers(2, 7), st.integers(0, 999))
def test_the_fit_solves_the_constrained_problem(n, seed):
    problem = random_problem(n, 2**n - 2, seed)
    coefficients, _ = fit(*problem)
    np.testing.assert_allclose(coefficients, lagrange(*problem), atol=1e-9)


@given(st.integers(2, 9), st.integers(1, 12), st.integers(0, 999))
def test_the_coefficients_add_up_to_the_gain(n, m, seed):
    problem = random_problem(n, min(m, 2**n - 2), seed)
    assert fit(*problem)[0].sum() == pytest.approx(problem[-1], abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_all_coalitions_with_the_kernel_weights_give_the_shapley_values(n):
    table = np.random.default_rng(n).normal(size=2**n)
    coalitions, kernel = inner_coalitions(n)
    coefficients, covariance = fit(coalitions, table[1:-1] - table[0], kernel, table[-1] - table[0])
    np.testing.assert_allclose(coefficients, shapley_from_table(table), atol=1e-10)
    assert not covariance.any()


@given(st.integers(5, 9), st.integers(0, 99))
def test_with_too_few_coalitions_the_fit_is_the_shortest_that_goes_through_them(n, seed):
    coalitions, worths, weights, gain = random_problem(n, 3, seed)
    coefficients, _ = fit(coalitions, worths, weights, gain)
    even = np.full(n, gain / n)
    constraints = np.vstack([coalitions.astype(float), np.ones(n)])
    targets = np.append(worths, gain) - constraints @ even
    if np.linalg.matrix_rank(constraints) == 4:
        np.testing.assert_allclose(coalitions @ coefficients, worths, atol=1e-8)
        shortest = even + np.linalg.pinv(constraints) @ targets
        np.testing.assert_allclose(coefficients, shortest, atol=1e-8)


def test_players_that_no_coalition_distinguishes_have_equal_coefficients():
    coalitions = np.array([[True, True, False, False, False], [False, False, True, True, True]])
    coefficients, _ = fit(coalitions, np.array([3.0, 1.0]), np.ones(2), 5.0)
    assert np.ptp(coefficients[:2]) == pytest.approx(0, abs=1e-12)
    assert np.ptp(coefficients[2:]) == pytest.approx(0, abs=1e-12)


def test_the_order_of_the_coalitions_does_not_matter():
    coalitions, worths, weights, gain = random_problem(6, 40, 0)
    draws = np.arange(40) // 2
    order = np.random.default_rng(0).permutation(40)
    there = fit(coalitions, worths, weights, gain, draws)
    back = fit(coalitions[order], worths[order], weights[order], gain, draws[order])
    for one, other in zip(there, back, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_many_rows_are_summed_in_blocks_to_the_same_result(monkeypatch):
    problem = random_problem(8, 200, 0)
    draws = np.arange(200) // 2
    at_once = fit(*problem, draws)  # type: ignore[call-arg]
    monkeypatch.setattr("topshap.statistics.least_squares._BLOCK", 7)
    for one, other in zip(at_once, fit(*problem, draws), strict=True):  # type: ignore[call-arg]
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_covariance_is_the_sum_of_squared_influences_of_the_draws():
    """The influence of a draw is the derivative of the coefficients by its relative weight."""
    coalitions, worths, weights, gain = random_problem(5, 20, 1)
    draws = np.append(np.arange(16) // 2, np.full(4, NOT_DRAWN))
    coefficients, covariance = fit(coalitions, worths, weights, gain, draws)
    influences = []
    for draw in range(8):
        nudged = np.where(draws == draw, weights * (1 + 1e-6), weights)
        influences.append((lagrange(coalitions, worths, nudged, gain) - coefficients) / 1e-6)
    # 8 draws and 2 pairs that were not drawn determine 4 free coefficients.
    expected = np.transpose(influences) @ influences * (10 / (10 - 4))
    np.testing.assert_allclose(covariance, expected, rtol=1e-4, atol=1e-9)


def test_without_random_draws_the_error_is_unknown():
    problem = random_problem(5, 20, 1)
    assert np.isnan(fit(*problem)[1]).all()
    assert np.isfinite(fit(*problem, np.arange(20))[1]).all()  # type: ignore[call-arg]


def test_with_all_coalitions_there_is_no_error():
    coalitions = from_ids(np.arange(1, 2**5 - 1), 5)
    rng = np.random.default_rng(0)
    assert not fit(coalitions, rng.normal(size=30), np.ones(30), 1.0)[1].any()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_fit_scales_with_the_values(scale):
    coalitions, worths, weights, gain = random_problem(6, 30, 3)
    draws = np.arange(30)
    coefficients, covariance = fit(coalitions, worths, weights, gain, draws)
    scaled = fit(coalitions, scale * worths, weights, scale * gain, draws)
    np.testing.assert_allclose(scaled[0], scale * coefficients, rtol=1e-9)
    np.testing.assert_allclose(scaled[1], scale**2 * covariance, rtol=1e-9)
