import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from topshap.algorithms.odd_gp.shared.borders import NEAREST, borders, output_blocks, pooled_contrasts, with_everyone
from topshap.statistics.ranking import RANK_BY, rank_key


def posterior(n=7, outputs=11, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return rng.normal(size=(outputs, n)), root @ root.T / n, rng.uniform(0.01, 1.0, outputs)


def one_by_one(values, covariance, factors, k, rank_by):
    """The Laplacian and the regrets, contrast by contrast."""
    n = values.shape[1]
    laplacian, regrets = np.zeros((n, n)), []
    for phi, factor in zip(values, factors, strict=True):
        key = rank_key(phi, rank_by)
        signs = np.where(key == phi, 1.0, -1.0)
        order = np.argsort(-key, kind="stable")
        regret = 0.0
        for i in order[:k]:
            for j in order[k:]:
                contrast = np.zeros(n)
                contrast[i], contrast[j] = signs[i], -signs[j]
                variance = contrast @ covariance @ contrast
                s = np.sqrt(variance * factor)
                z = min(contrast @ phi / s, 8.0)
                weight = np.exp(-(z**2) / 2) / np.sqrt(variance) * np.sqrt(factor) / np.ptp(phi)
                laplacian += weight * np.outer(contrast, contrast)
                regret = max(regret, s * (norm.pdf(z) - z * norm.sf(z)) / np.ptp(phi))
        regrets.append(regret)
    return laplacian, np.array(regrets)


@pytest.mark.parametrize("rank_by", RANK_BY)
@pytest.mark.parametrize("k", [1, 3, 6])
def test_borders_are_those_of_a_loop_over_outputs_and_contrasts(rank_by, k):
    values, covariance, factors = posterior()
    found = borders(values, covariance, factors, k, rank_by)
    laplacian, regrets = one_by_one(values, covariance, factors, k, rank_by)
    assert found.pooled(7) == pytest.approx(laplacian, abs=1e-9)
    assert found.separate(7).sum(axis=0) == pytest.approx(laplacian, abs=1e-9)
    assert found.regrets == pytest.approx(regrets, abs=1e-12)


def test_a_covariance_per_output_is_the_same_as_a_shared_one():
    values, covariance, factors = posterior()
    shared = borders(values, covariance, factors, 2, "value")
    separate = borders(values, np.repeat(covariance[None], 11, axis=0), factors, 2, "value")
    assert np.array_equal(shared.weights, separate.weights)


def test_contrasts_do_not_depend_on_the_blocks(monkeypatch):
    values, covariance, factors = posterior(outputs=200)
    whole = pooled_contrasts(values, covariance, factors, 3, "value")
    monkeypatch.setattr("topshap.algorithms.odd_gp.shared.borders.output_blocks", lambda r, _: output_blocks(r, 1, 7))
    parts = pooled_contrasts(values, covariance, factors, 3, "value")
    assert parts.T @ parts == pytest.approx(whole.T @ whole, rel=1e-9)


def test_without_a_border_all_players_count_the_same():
    values, covariance, factors = posterior()
    contrasts = pooled_contrasts(values, covariance, factors, 7, "value")
    assert contrasts.T @ contrasts == pytest.approx(np.eye(7) / np.trace(covariance))


def test_outputs_that_are_known_have_no_weight():
    values, covariance, factors = posterior()
    values[0], factors[0] = 0.0, 0.0
    found = borders(values, covariance, factors, 3, "value")
    assert np.isfinite(found.weights).all()
    assert found.weights[0].max() == found.regrets[0] == 0.0


def test_only_the_players_nearest_to_the_border_are_compared():
    values, covariance, factors = posterior(n=60)
    found = borders(values, covariance, factors, 30, "value")
    assert found.weights.shape == (11, NEAREST, NEAREST)
    order = np.argsort(-values[0])
    assert set(found.top[0]) == set(order[30 - NEAREST : 30])


@given(st.integers(0, 50), st.integers(1, 20), st.integers(1, 30))
def test_blocks_cover_all_outputs_once(outputs, entries, limit):
    blocks = list(output_blocks(outputs, entries, limit))
    assert [r for block in blocks for r in range(outputs)[block]] == list(range(outputs))


def test_a_laplacian_and_the_identity_have_the_same_trace_with_the_covariance():
    _, covariance, _ = posterior(n=3)
    laplacian = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert np.trace(with_everyone(laplacian, covariance) @ covariance) == pytest.approx(2.0)


@pytest.mark.parametrize("variance", [-1e-25, 0.0, 1e-25])
def test_contrasts_are_finite_where_the_variance_of_the_border_is_a_rounding_error(variance):
    covariance = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + variance, 0.0], [0.0, 0.0, 1e-12]]) * 1e-9
    contrasts = pooled_contrasts(np.array([[2.0, 1.0, 0.0]]), covariance, np.ones(1), 1, "value")
    assert np.isfinite(contrasts).all()


def test_a_total_below_its_rounding_error_does_not_overflow():
    laplacian = np.array([[1.0, -1.0], [-1.0, 1.0]])
    scaled = with_everyone(laplacian, np.array([[1.0, 1.0 + 1e-15], [1.0 + 1e-15, 1.0]]))
    assert np.isfinite(scaled).all()
