import numpy as np
import pytest
from scipy.optimize import approx_fprime

from topshap.algorithms.odd_gp.even.fitting import OWN, QUADRATIC, EvenObjective, fit_even
from topshap.algorithms.odd_gp.minimise import Curvature


def even_observations(*, m=40, n=6, seed=0):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((m, n)) < 0.5, -1.0, 1.0)
    e = x[:, 0] * x[:, 1] + 0.3 * x[:, 1] * x[:, 2] * x[:, 3] * x[:, 4] + 0.1 * rng.normal(size=m)
    return x, (e - e.mean()) / e.std(), rng.uniform(0.1, 0.5, n)


@pytest.mark.parametrize("m", [40, 8])
def test_the_gradient_is_that_of_the_objective(m):
    objective = EvenObjective(*even_observations(m=m))
    point = objective.prior_mean + 0.1 * np.random.default_rng(1).normal(size=len(objective.prior_mean))
    numeric = approx_fprime(point, lambda p: objective(p)[0], 1e-6)
    assert objective(point)[1] == pytest.approx(numeric, rel=2e-4, abs=2e-4)


def test_the_gradient_vanishes_for_relevances_at_their_limit():
    x, e, _ = even_observations()
    objective = EvenObjective(x, e, np.full(6, 5.0))
    assert objective(objective.prior_mean)[1][OWN:] == pytest.approx(0.0)


def test_fitting_raises_the_posterior():
    x, e, relevance = even_observations()
    objective = EvenObjective(x, e, relevance)
    kernel, parameters = fit_even(x, e, relevance, np.arange(40), iterations=25)
    assert objective(parameters)[0] < objective(objective.prior_mean)[0] - 1.0
    assert kernel.quadratic == pytest.approx(np.exp(parameters[QUADRATIC]))


def test_a_fit_continues_from_an_earlier_one():
    x, e, relevance = even_observations()
    objective, curvature = EvenObjective(x, e, relevance), Curvature()
    _, first = fit_even(x, e, relevance, np.arange(40), iterations=3, curvature=curvature)
    _, second = fit_even(x, e, relevance, np.arange(40), iterations=20, start=first, curvature=curvature)
    assert objective(second)[0] < objective(first)[0]
    kept = fit_even(x, e, relevance, np.arange(40), iterations=0, start=first)[1]
    assert kept == pytest.approx(first)


def test_a_covariance_that_is_not_positive_definite_is_a_bad_point_not_an_error():
    x, e, relevance = even_observations()
    objective = EvenObjective(np.repeat(x, 2, axis=0), np.repeat(e, 2), relevance)
    parameters = objective.prior_mean.copy()
    parameters[2] = -800.0
    assert objective(parameters)[0] == 1e10
