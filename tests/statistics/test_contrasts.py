"""The contrasts that show a set or an ordered list, and the number of them that can be wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr
from scipy.stats import binomtest

from topshap.statistics.contrasts import Contrasts, contrasts_to_show, most_errors
from topshap.statistics.error_allocation import levels_by_tails
from topshap.statistics.ranking import rank_key

VALUES = arrays(float, st.integers(2, 7), elements=st.floats(-3.0, 3.0))
ORDERS = st.sampled_from(["value", "magnitude"])


def is_right(truth, ranking, k, epsilon, rank_by, *, ordered):
    """Return whether no candidate is ahead of one before it by more than epsilon, from the definition."""
    keys = rank_key(truth, rank_by)
    top, rest = ranking[:k], ranking[k:]
    right = all(keys[i] >= keys[j] - epsilon for i in top for j in rest)
    return right and (not ordered or all(keys[top[r]] >= keys[top[t]] - epsilon for t in range(k) for r in range(t)))


@given(VALUES, ORDERS, st.booleans(), st.floats(0.0, 1.0), st.data())
def test_a_result_is_right_if_all_its_contrasts_are_above_minus_epsilon(truth, rank_by, ordered, epsilon, data):
    n = len(truth)
    estimates, k = data.draw(arrays(float, n, elements=st.floats(-3.0, 3.0))), data.draw(st.integers(1, n))
    ranking = np.argsort(-rank_key(estimates, rank_by), kind="stable")
    contrasts = contrasts_to_show(ranking, k, estimates, rank_by, ordered=ordered)
    shown = (contrasts.of(truth) >= -epsilon).all()
    if shown:
        assert is_right(truth, ranking, k, epsilon + 1e-12, rank_by, ordered=ordered)
    elif rank_by == "value":  # by magnitude, the sign of an estimate may be wrong and the set right
        assert not is_right(truth, ranking, k, epsilon - 1e-12, rank_by, ordered=ordered)


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 5), (14, 5)])
def test_there_are_twice_as_many_contrasts_by_magnitude(n, k):
    estimates = np.random.default_rng(0).normal(size=n)
    ranking = np.argsort(-np.abs(estimates))
    across, within = k * (n - k), k * (k - 1) // 2
    counts = [
        contrasts_to_show(ranking, k, estimates, rank_by, ordered=ordered).count
        for rank_by in ("value", "magnitude")
        for ordered in (False, True)
    ]
    assert counts == [across, across + within, 2 * across, 2 * (across + within)]


@given(VALUES, ORDERS, st.booleans())
def test_estimates_satisfy_their_own_contrasts(estimates, rank_by, ordered):
    ranking = np.argsort(-rank_key(estimates, rank_by), kind="stable")
    contrasts = contrasts_to_show(ranking, 1 + len(estimates) // 2, estimates, rank_by, ordered=ordered)
    assert (contrasts.of(estimates) >= 0.0).all()
    assert contrasts.are_differences or rank_by == "magnitude"


def test_the_quadratic_form_is_the_variance_of_the_contrast():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    contrasts = Contrasts(np.array([0, 3, 1]), np.array([1, 2, 2]), np.array([1.0, -1.0, 1.0]), np.array([-1, -1, 1.0]))
    covariance = root @ root.T
    expected = np.sum(contrasts.of(root.T) ** 2, axis=0)
    np.testing.assert_allclose(contrasts.quadratic(covariance), expected)


@given(VALUES, st.integers(0, 99), st.data())
def test_if_a_list_is_wrong_a_candidate_is_ahead_of_its_predecessor_in_truth(truth, seed, data):
    """The proof of `most_errors`: if one of the contrasts that were declared positive is not, one of n - 1 is wrong."""
    n = len(truth)
    k = data.draw(st.integers(1, n))
    output = np.random.default_rng(seed).permutation(n)
    place = np.empty(n, dtype=int)
    place[output] = np.minimum(np.arange(n), k)
    in_truth = np.argsort(-truth, kind="stable")
    pairs = {(int(in_truth[t + 1]), int(in_truth[t])) for t in range(n - 1)}
    assert len(pairs) == most_errors(n)
    declared = {(i, j) for i in range(n) for j in range(n) if place[i] < place[j]}
    if any(truth[i] < truth[j] for i, j in declared):
        assert declared & pairs


@pytest.mark.parametrize("delta", [0.01, 0.1])
@pytest.mark.parametrize(
    "truth", [[0, 0, -9, -9], [0, 0, 0, 0], [9, 9, 0, 0, 0, 0], [1, 0.5, 0, -0.5, -1, -1.5], [2, 2, 1, 1, 0, 0]]
)
@pytest.mark.parametrize("rank_by", ["value", "magnitude"])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_wrong_result_passes_no_more_often_than_allowed_with_the_smaller_union(truth, delta, rank_by, ordered):
    """6,000 draws of estimates with unit variance: not significantly above delta (one-sided, 0.1%)."""
    truth = np.array(truth, dtype=float) + 1e-9 * np.arange(len(truth))[::-1]
    n, k = len(truth), len(truth) // 2
    rng = np.random.default_rng([n, int(1000 * delta), ordered])
    keys = rank_key(truth, rank_by)
    wrong = 0
    draws = 6_000
    for estimates in truth + rng.normal(size=(draws, n)):
        ranking = np.argsort(-rank_key(estimates, rank_by))
        top, rest = ranking[:k], ranking[k:]
        right = keys[top].min() > keys[rest].max() and (not ordered or (np.diff(keys[top]) < 0.0).all())
        if right:
            continue
        contrasts = contrasts_to_show(ranking, k, estimates, rank_by, ordered=ordered)
        gaps = contrasts.of(estimates) / np.sqrt(2.0)
        tails = ndtr(-gaps)
        wrong += bool((tails <= levels_by_tails(tails, delta, most_errors(n, rank_by))).all())
    assert binomtest(wrong, draws, delta, alternative="greater").pvalue > 0.001
