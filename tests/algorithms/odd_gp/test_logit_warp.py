"""Warps of bounded values."""

import numpy as np
import pytest
from scipy.special import expit

from topshap.algorithms.odd_gp.logit_warp import MARGINS, SLACK, Warp, candidate_warps, tight_warp, usual_warp


def test_the_expected_value_without_variance_is_the_inverse():
    values = np.array([-3.0, 0.5, 7.0])
    warp = Warp.around(values, (0.1, 0.2))
    assert warp.expected(warp.forward(values), 0.0) == pytest.approx(values)
    assert warp.expected(np.array([-1e3, 1e3]), 0.0) == pytest.approx([-4.0, 9.0])


def test_values_that_differ_by_rounding_errors_have_finite_logits():
    values = 1e9 + np.array([0.0, 1.0, 2.0]) * np.spacing(1e9)
    assert np.isfinite(Warp.around(values, (0.005, 0.005)).forward(values)).all()


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([0.003, 0.02, 0.05], (0.0, 1.0)),
        ([1e-300, 0.5, 1.0 - 1e-16], (0.0, 1.0)),
        ([1e-9, 3e-8, 5e-8], (0.0, 1.0)),
        ([-0.99, 0.1, 0.6], (-1.0, 1.0)),
        ([-0.2, 0.3, 0.98], (-1.0, 1.0)),
    ],
)
def test_probabilities_and_scores_have_the_usual_bounds(values, bounds):
    first = candidate_warps(np.array(values))[0]
    assert (first.low, first.low + first.length) == bounds
    logits = first.forward(np.array(values))
    assert np.isfinite(logits).all()
    assert first.expected(logits, 0.0) == pytest.approx(values, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    "values", [[0.4, 0.5, 0.6], [-0.1, 0.0, 0.2], [0.01, 0.5, 1.1], [-1.1, 0.0, 0.9], [3.0, 5.0], [0.0, 0.6], [0.1, 1]]
)
def test_other_values_have_bounds_around_them(values):
    assert candidate_warps(np.array(values)) == [Warp.around(np.array(values), margins) for margins in MARGINS]


def test_tight_bounds_keep_values_apart_that_the_slack_hides():
    values = np.array([1e-7, 1e-6, 0.5, 0.99])
    (tight,), (usual,) = tight_warp(values), usual_warp(values)
    assert np.diff(tight.forward(values))[0] == pytest.approx(np.log(10.0), rel=0.01)
    assert np.diff(usual.forward(values))[0] < 0.01
    assert np.isfinite(tight.forward(np.array([0.0, 1.0]))).all()


@pytest.mark.parametrize("values", [[0.02, 0.5], [0.0, 0.5], [0.4, 7.0], [SLACK, 0.5, 1.0]])
def test_there_are_no_tight_bounds_without_values_close_to_them_or_on_them(values):
    assert tight_warp(np.array(values)) == []


@pytest.mark.parametrize(("mean", "variance"), [(0.5, 0.3), (-2.0, 1.0), (3.0, 4.0)])
def test_the_expected_value_is_that_of_a_normal(mean, variance):
    """Over 100,000 draws; MacKay's approximation is good to about 0.02 of the width."""
    draws = np.random.default_rng(0).normal(mean, np.sqrt(variance), 100_000)
    warp = Warp(0.0, 1.0, 0.0, 0.0)
    assert warp.expected(np.array([mean]), variance)[0] == pytest.approx(expit(draws).mean(), abs=0.02)
