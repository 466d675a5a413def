import numpy as np
import pytest
from scipy.optimize import approx_fprime

from topshap.algorithms.odd_gp.fitting import HEREDITY, OWN, Objective, fit, observe


def observations(*, m=40, n=6, even=True, seed=0):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((m, n)) < 0.5, -1.0, 1.0)
    x[0] = 1.0
    g = x @ rng.normal(size=n) + 0.3 * x[:, 0] * x[:, 1] * x[:, 2]
    g /= np.sqrt(np.mean(g**2))
    return observe(x, g, x[:, 0] * x[:, 1] if even else None)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("rows", [40, 8])
def test_the_gradient_is_that_of_the_objective(even, own, rows):
    data = observations(even=even)
    objective = Objective(data, np.arange(rows), own=own)
    point = objective.prior_mean + 0.1 * np.random.default_rng(1).normal(size=len(objective.prior_mean))
    numeric = approx_fprime(point, lambda p: objective(p)[0], 1e-6)
    assert objective(point)[1] == pytest.approx(numeric, rel=2e-4, abs=2e-4)


def test_fitting_raises_the_posterior():
    data = observations()
    objective = Objective(data, np.arange(40), own=True)
    kernel, parameters = fit(data, np.arange(40), own=True, iterations=25)
    assert objective(parameters)[0] < objective(objective.prior_mean)[0] - 1.0
    assert (kernel.relevance > 0).all()


def test_players_that_interact_get_a_larger_relevance():
    rng = np.random.default_rng(0)
    x = np.where(rng.random((200, 8)) < 0.5, -1.0, 1.0)
    g = x @ np.ones(8) + 2.0 * x[:, 0] * x[:, 1] * x[:, 2]
    kernel, _ = fit(observe(x, g / g.std(), None), np.arange(200), own=True, iterations=50)
    assert kernel.relevance[:3].min() > 3 * kernel.relevance[3:].max()


def test_without_own_parameters_relevances_follow_the_main_effects():
    data = observations()
    kernel, parameters = fit(data, np.arange(40), own=False, iterations=10)
    assert len(parameters) == OWN
    logs = np.log(kernel.relevance)
    assert logs - logs.mean() == pytest.approx(parameters[HEREDITY] * data.main_effects, abs=1e-9)
