"""Mean magnitudes over rows: of the true values, given the estimates, and with honest standard errors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap import Explanations
from topshap.statistics.folded_normal import folded_normal_moments


@given(mean=st.floats(-5, 5), deviation=st.floats(0.01, 5))
def test_moments_of_the_folded_normal_distribution_agree_with_draws(mean, deviation):
    drawn = np.abs(np.random.default_rng(0).normal(mean, deviation, size=20_000))
    found, variance = folded_normal_moments(np.array([mean]), np.array([deviation]))
    assert found[0] == pytest.approx(drawn.mean(), abs=5 * deviation / np.sqrt(len(drawn)))
    assert variance[0] == pytest.approx(drawn.var(), abs=0.1 * deviation**2)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_known_and_extreme_numbers_are_exact(scale):
    means, deviations = scale * np.array([-3.0, 2.0, 2.0, 5.0]), scale * np.array([0.0, np.nan, 0.0, 1e-12])
    found, variance = folded_normal_moments(means, deviations)
    np.testing.assert_allclose(found / scale, [3.0, 2.0, 2.0, 5.0])
    assert (variance[:3] == 0.0).all()


def test_the_magnitude_of_noise_is_not_counted_as_importance(results_as_arrays):
    """Estimates of dummies are errors: the mean of their magnitudes stays that of the posterior, not twice of it."""
    results = results_as_arrays(4000, n=2, k=1)
    rng = np.random.default_rng(1)
    true = rng.normal(size=(4000, 2))
    noisy = true + rng.normal(size=(4000, 2))
    results.estimates, results.std_errors = noisy / 2.0, np.full((4000, 2), np.sqrt(0.5))  # the posterior
    importance = Explanations(results).importance()
    error = importance.values - np.abs(true).mean(axis=0)
    assert (np.abs(error) < 3.0 * importance.std_errors).all()
    assert (np.abs(np.abs(noisy).mean(axis=0) - np.abs(true).mean(axis=0)) > 10.0 * importance.std_errors).all()


def test_intervals_cover_the_mean_of_the_population(results_as_arrays):
    """95% intervals from 50 rows, 300 times: at least 92% cover, four standard errors of 1.3% below."""
    covered, rng = 0, np.random.default_rng(2)
    for _ in range(300):
        results = results_as_arrays(50, n=2, k=1)
        true = rng.normal(size=(50, 2))
        results.estimates, results.std_errors = (true + rng.normal(size=(50, 2))) / 2.0, np.full((50, 2), np.sqrt(0.5))
        importance = Explanations(results).importance()
        covered += abs(importance.values[0] - np.sqrt(2.0 / np.pi)) < 1.96 * importance.std_errors[0]
    assert covered >= 300 * 0.92


def test_importance_has_one_line_per_output(results_as_arrays):
    tops = Explanations(results_as_arrays(20), output_names=["x", "y"])
    importance = tops.importance()
    assert importance.values.shape == (2, 6)
    for output in range(2):
        np.testing.assert_allclose(importance.values[output], tops.output(output).importance().values)
    frame = importance.to_frame()
    assert list(frame.columns) == ["output", "player", "importance", "std_error"]
    assert frame["output"].tolist() == ["x"] * 6 + ["y"] * 6
    assert "x:" in str(importance)
    bars: Any = importance.plot(output="y").containers[0]
    assert max(bars.datavalues) == importance.values[1].max()


def test_the_frame_starts_with_the_most_important_player(results_as_arrays):
    importance = Explanations(results_as_arrays(20)).importance()
    frame = importance.to_frame()
    assert frame["importance"].is_monotonic_decreasing
    assert frame["player"].tolist() == [importance.names[i] for i in importance.ranking]
    assert str(importance).splitlines()[1].split()[1:3] == frame["player"][0].split()


def test_one_row_has_no_spread(results_as_arrays):
    importance = Explanations(results_as_arrays(20))[:1].importance()
    assert np.isnan(importance.std_errors).all()
    assert "±" not in str(importance)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e300])
def test_importance_scales_with_the_values(results_as_arrays, scale):
    results = results_as_arrays(20)
    expected = Explanations(results).importance()
    results.estimates, results.std_errors = scale * results.estimates, scale * results.std_errors
    found = Explanations(results).importance()
    np.testing.assert_allclose(found.values / scale, expected.values)
    np.testing.assert_allclose(found.std_errors / scale, expected.std_errors)
