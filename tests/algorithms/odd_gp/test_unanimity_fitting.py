"""The fit of the kernel for sums of unanimity games."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.unanimity_fitting import (
    HEREDITY,
    MAX_RELEVANCE,
    OWN,
    UnanimityObjective,
    fit_unanimity_kernel,
)


def observations(m=40, n=6):
    """Return pairs, the odd parts of a sum of two unanimity games and noise, and the relevances of another process."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random((m, n)) < 0.5, 1.0, -1.0)
    parts = [(sign * x[:, members] > 0).all(axis=1) for members in ([0, 1, 2], [2, 3]) for sign in (1.0, -1.0)]
    g = parts[0] * 1.0 - parts[1] + parts[2] - parts[3] + 0.1 * rng.normal(size=m)
    return x, g / np.sqrt(np.mean(g**2)), rng.exponential(size=n)


@pytest.mark.parametrize("own", [True, False])
def test_the_gradient_is_that_of_the_objective(own):
    objective = UnanimityObjective(*observations(), own=own)
    point = objective.prior_mean + 0.1 * np.random.default_rng(1).normal(size=len(objective.prior_mean))
    numeric = approx_fprime(point, lambda p: objective(p)[0], 1e-6)
    assert objective(point)[1] == pytest.approx(numeric, rel=2e-4, abs=2e-4)


def test_fitting_raises_the_posterior_and_finds_the_players_of_the_larger_set():
    x, g, relevance = observations(m=120)
    objective = UnanimityObjective(x, g, relevance, own=True)
    kernel, parameters = fit_unanimity_kernel(x, g, relevance, own=True, iterations=25)
    assert objective(parameters)[0] < objective(objective.prior_mean)[0] - 1.0
    assert kernel.relevance[:3].min() > 3.0 * kernel.relevance[4:].max()


def test_relevances_are_limited_however_different_those_of_the_other_process_are():
    x, g, _ = observations()
    objective = UnanimityObjective(x, g, np.array([1e-12, 1e-6, 1.0, 1.0, 1e6, 1e12]), own=True)
    kernel = objective.kernel_of(objective.prior_mean + 1.0)
    assert kernel.relevance.max() == MAX_RELEVANCE
    total = 2.0 * kernel.covariance(x, np.ones((1, 6)))[:, 0]
    smooth = kernel.functional(x) - kernel.residual(x)[:, None] * pair_functional(x)
    assert smooth.sum(axis=1) == pytest.approx(total, abs=1e-6 * kernel.variances(x).max())


def test_a_fit_continues_an_earlier_one():
    x, g, relevance = observations()
    curvature = Curvature()
    _, first = fit_unanimity_kernel(x, g, relevance, own=True, iterations=3, curvature=curvature)
    _, second = fit_unanimity_kernel(x, g, relevance, own=True, iterations=3, start=first, curvature=curvature)
    objective = UnanimityObjective(x, g, relevance, own=True)
    assert objective(second)[0] < objective(first)[0]
    assert curvature.n_pairs == len(x)


def test_without_own_parameters_relevances_follow_those_of_the_other_process():
    x, g, relevance = observations()
    kernel, parameters = fit_unanimity_kernel(x, g, relevance, own=False, iterations=5)
    assert len(parameters) == OWN
    logs, others = np.log(kernel.relevance), np.log(relevance)
    assert logs - logs.mean() == pytest.approx(parameters[HEREDITY] * (others - others.mean()))
