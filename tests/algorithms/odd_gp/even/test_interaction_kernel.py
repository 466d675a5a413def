"""The closed forms of interactions against sums over all coalitions."""

from itertools import product
from math import comb

import numpy as np
import pytest

from topshap.algorithms.odd_gp.even.kernel import InteractionKernel, StrongPairs
from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
from topshap.algorithms.odd_gp.even.weights import interaction_weights, residual_prior, weighted_interactions
from topshap.core.coalitions import from_ids

SIZES = [3, 4, 5, 6, 7, 8]


def all_signs(n):
    return 2.0 * from_ids(np.arange(2**n), n) - 1.0


def half_of_signs(n):
    """One coalition of every complement pair, the grand coalition among them."""
    return all_signs(n)[2 ** (n - 1) :]


def interaction_operator(n):
    """The matrix that turns a table of values into interactions, straight from their definition."""
    pairs = PlayerPairs.of(n)
    operator = np.zeros((len(pairs.i), 2**n))
    for row, (i, j) in enumerate(zip(*pairs, strict=True)):
        for s in range(2**n):
            if s >> i & 1 or s >> j & 1:
                continue
            p = 1.0 / ((n - 1) * comb(n - 2, s.bit_count()))
            operator[row, [s | 1 << i | 1 << j, s]] += p
            operator[row, [s | 1 << i, s | 1 << j]] -= p
    return operator


def full_covariance(kernel, *, residual=True):
    x = all_signs(len(kernel.relevance))
    covariance = kernel.covariance(x, x)
    if residual:
        covariance += np.diag(kernel.residual(x)) + np.fliplr(np.diag(kernel.residual(x)))
    return covariance


@pytest.fixture(params=product(SIZES, [False, True]), ids=str)
def kernel(request):
    n, with_strong_pairs = request.param
    relevance = np.random.default_rng(n).uniform(0.01, 1.0, n)
    strong = StrongPairs(PlayerPairs.of(n).chosen(np.array([0, 2])), np.array([0.3, 0.8]))
    return InteractionKernel(
        relevance,
        smooth=1.3,
        constant=2.0,
        residual_level=0.2,
        residual_slope=0.4,
        quadratic=0.7 / n,
        strong=strong if with_strong_pairs else None,
    )


@pytest.mark.parametrize("n", SIZES)
def test_interactions_are_weighted_sums_over_complement_pairs(n):
    values = np.random.default_rng(n).normal(size=2**n)
    even = (values + values[::-1]) / 2
    x, pairs = half_of_signs(n), PlayerPairs.of(n)
    expected = interaction_operator(n) @ values
    e = even[2 ** (n - 1) :]
    assert e @ interaction_weights(x, pairs) == pytest.approx(expected, abs=1e-12)
    assert pairs.of_matrix(weighted_interactions(x, e)) == pytest.approx(expected, abs=1e-12)


def test_a_constant_has_no_interaction():
    assert interaction_weights(half_of_signs(7), PlayerPairs.of(7)).sum(axis=0) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("n", SIZES)
def test_the_prior_of_the_residual_is_the_sum_of_products_of_weights(n):
    by_size = np.random.default_rng(n).uniform(0.5, 2.0, n + 1)
    by_size = by_size + by_size[::-1]
    x, pairs = half_of_signs(n), PlayerPairs.of(n)
    weights = interaction_weights(x, pairs)
    expected = weights.T @ (weights * by_size[(x > 0).sum(axis=1)][:, None])
    assert residual_prior(by_size, pairs) == pytest.approx(expected, abs=1e-12)


def test_the_smooth_part_holds_all_even_orders_and_no_odd_one(kernel):
    n = len(kernel.relevance)
    x, rho = all_signs(n), np.tanh(kernel.relevance)
    plus, minus = np.prod(1 + rho * x * x[:1], axis=1), np.prod(1 - rho * x * x[:1], axis=1)
    smooth = kernel.smooth * (plus + minus) / (plus + minus)[0]
    i, j = PlayerPairs.of(n)
    variances = np.full(len(i), kernel.quadratic)
    if kernel.strong is not None:
        variances[[0, 2]] += kernel.strong.variances
    quadratic = (x[:, i] * x[:, j]) @ (variances * x[0, i] * x[0, j])
    assert kernel.covariance(x, x[:1])[:, 0] == pytest.approx(smooth + quadratic + kernel.constant, abs=1e-12)
    assert np.diag(kernel.covariance(x, x)) == pytest.approx(kernel.variances(x))


@pytest.mark.parametrize("residual", [True, False])
def test_the_functional_is_the_interaction_of_the_covariance(kernel, residual):
    n = len(kernel.relevance)
    x, pairs = all_signs(n), PlayerPairs.of(n)
    expected = interaction_operator(n) @ full_covariance(kernel, residual=residual)
    functional = kernel.functional(x, pairs, residual=residual)
    assert pytest.approx(expected, abs=1e-10) == functional.T
    weights = np.random.default_rng(0).normal(size=len(x))
    total = pairs.of_matrix(kernel.interactions(x, weights, residual=residual))
    assert total == pytest.approx(weights @ functional, abs=1e-10)


@pytest.mark.parametrize("residual", [True, False])
def test_the_prior_is_the_covariance_of_the_interactions(kernel, residual):
    n = len(kernel.relevance)
    operator, pairs = interaction_operator(n), PlayerPairs.of(n)
    expected = operator @ full_covariance(kernel, residual=residual) @ operator.T
    assert kernel.prior(pairs, residual=residual) == pytest.approx(expected, abs=1e-10)
    assert kernel.prior_variances(pairs, residual=residual) == pytest.approx(np.diag(expected), abs=1e-10)
    some = pairs.chosen(np.arange(len(pairs.i))[::2])
    assert kernel.prior(some, residual=residual) == pytest.approx(expected[::2, ::2], abs=1e-10)


def test_the_posterior_is_that_of_the_joint_normal_distribution(kernel):
    n = len(kernel.relevance)
    rng = np.random.default_rng(n)
    rows = rng.permutation(2 ** (n - 1))[: 2 ** (n - 2)] + 2 ** (n - 1)
    full, operator = full_covariance(kernel), interaction_operator(n)
    e = rng.normal(size=len(rows))
    gain = operator @ full[:, rows] @ np.linalg.inv(full[np.ix_(rows, rows)])
    posterior = EvenPosterior(kernel, all_signs(n)[rows], e)
    covariance = operator @ full @ operator.T - gain @ full[rows] @ operator.T
    assert posterior.interactions == pytest.approx(gain @ e, abs=1e-9)
    assert posterior.covariance == pytest.approx(covariance, abs=1e-9)


def test_the_posterior_is_exact_once_all_complement_pairs_are_observed(kernel):
    n = len(kernel.relevance)
    values = np.random.default_rng(n).normal(size=2**n)
    even = ((values + values[::-1]) / 2)[2 ** (n - 1) :]
    posterior = EvenPosterior(kernel, half_of_signs(n), even - even.mean())
    assert posterior.interactions == pytest.approx(interaction_operator(n) @ values, abs=1e-10)
    assert posterior.covariance == pytest.approx(0.0, abs=1e-10)


def test_pairs_that_are_not_watched_have_variances_from_a_part_of_the_observations(kernel, monkeypatch):
    n = len(kernel.relevance)
    x = half_of_signs(n)[::2]
    e = np.random.default_rng(n).normal(size=len(x))
    every = EvenPosterior(kernel, x, e)
    some = EvenPosterior(kernel, x, e, max_watched=2)
    assert len(some.watched) == 2
    assert some.covariance == pytest.approx(every.covariance[np.ix_(some.watched, some.watched)], abs=1e-10)
    assert some.variances == pytest.approx(every.variances, abs=1e-10)
    monkeypatch.setattr("topshap.algorithms.odd_gp.even.posterior.MAX_FOR_OTHERS", 2)
    assert (EvenPosterior(kernel, x, e, max_watched=2).variances >= every.variances - 1e-10).all()


def test_watched_pairs_are_those_ranked_first():
    kernel = InteractionKernel(np.full(4, 0.3), smooth=1.0, constant=1.0, residual_level=0.1)
    e = np.random.default_rng(0).normal(size=8)
    by_value = EvenPosterior(kernel, half_of_signs(4), e, rank_by="value", max_watched=2)
    assert set(by_value.watched) == set(np.argsort(-by_value.interactions)[:2])
    by_magnitude = EvenPosterior(kernel, half_of_signs(4), e, rank_by="magnitude", max_watched=2)
    assert set(by_magnitude.watched) == set(np.argsort(-np.abs(by_value.interactions))[:2])
