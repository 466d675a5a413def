import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr
from scipy.stats import binomtest

from topshap.statistics.error_allocation import levels_by_tails

FAR = 30.0
"""A distance in standard errors at which the order of two players is certain."""


@given(
    tails=arrays(float, (2, 5), elements=st.floats(0.0, 1.0)),
    level=st.floats(1e-4, 0.2),
)
def test_the_levels_add_up_and_none_is_zero(tails, level):
    levels = levels_by_tails(tails, level)
    assert levels.sum() == pytest.approx(level, rel=1e-9)
    assert (levels > 0.0).all()


def test_equal_pairs_get_equal_levels():
    np.testing.assert_allclose(levels_by_tails(np.full((2, 3), 0.3), 0.06), 0.01)
    np.testing.assert_allclose(levels_by_tails(np.zeros((2, 3)), 0.06), 0.01)


def players_of(ties, n, k):
    """Return values with player k - 1 slightly above the best of the rest, and ties on both sides of the border."""
    above, below = ties
    return np.concatenate(
        [
            np.full(k - above, FAR),
            np.full(above, 1e-9),
            np.zeros(below),
            np.full(n - k - below, -FAR),
        ]
    )


@pytest.mark.parametrize("delta", [0.01, 0.1])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 1), (10, 4), (14, 5)])
@pytest.mark.parametrize("ties", [(1, 1), (1, 9), (4, 1), (4, 6), (2, 2), (1, 2)])
def test_a_wrong_set_passes_no_more_often_than_allowed_in_the_normal_model(n, k, ties, delta):
    """50,000 draws of estimates with unit variance: not significantly above delta (one-sided, 0.1%).

    If two players tie and all others are certain, the rate is about delta, so that the rule is not too strict.
    """
    above, below = min(ties[0], k), min(ties[1], n - k)
    truth = players_of((above, below), n, k)
    rng = np.random.default_rng([n, k, above, below])
    draws = 50_000
    wrong = 0
    for _ in range(10):
        estimates = truth + rng.normal(size=(draws // 10, n))
        order = np.argsort(-estimates, axis=1)
        top, rest = order[:, :k], order[:, k:]
        is_wrong = truth[top].min(axis=1) < truth[rest].max(axis=1)
        found = np.take_along_axis(estimates, order, axis=1)[is_wrong]
        tails = ndtr(-(found[:, :k, None] - found[:, None, k:]) / np.sqrt(2.0))
        wrong += sum(bool((each <= levels_by_tails(each, delta)).all()) for each in tails if each.sum() <= delta)
    assert binomtest(wrong, draws, delta, alternative="greater").pvalue > 0.001
    if (above, below) == (1, 1):
        assert binomtest(wrong, draws, 0.97 * delta, alternative="less").pvalue > 0.001
