"""Gaussian processes on logit values."""

import numpy as np
import pytest
from scipy.special import expit

from topshap.algorithms.odd_gp.logit_gp import LogitGP
from topshap.algorithms.odd_gp.logit_warp import Warp
from topshap.core.coalitions import from_ids, to_ids

N = 10


def saturating(seed, n=N):
    """Return the table of a sigmoid of weights, almost a step where they are large."""
    rng = np.random.default_rng(seed)
    x = from_ids(np.arange(2**n), n)
    return expit(x @ rng.normal(0.0, 2.5, n) - 1.0)


def some_pairs(table, m, rng):
    """Return pairs as signs with the values of their halves, the first that of the grand coalition."""
    n = len(table).bit_length() - 1
    ids = np.concatenate([[2**n - 1], 2 ** (n - 1) + rng.choice(2 ** (n - 1) - 1, m - 1, replace=False)])
    return 2.0 * from_ids(ids, n) - 1.0, table[ids], table[2**n - 1 - ids]


def test_leave_one_out_errors_are_about_as_large_as_errors_of_unseen_pairs():
    """Root mean squares over 20 games, within a factor of 1.5."""
    rng = np.random.default_rng(0)
    left_out, unseen = [], []
    for seed in range(20):
        x, values, opposites = some_pairs(saturating(seed), 120, rng)
        seen = slice(0, 60)
        warp = Warp.around(np.concatenate([values, opposites]), (0.1, 0.1))
        process = LogitGP(warp, x[seen], values[seen], opposites[seen], rows=np.arange(60))
        predicted, variance = process.leave_one_out(np.arange(1, 60))
        left_out.append((values[1:60] - opposites[1:60]) / 2.0 - predicted)
        table = process.predict_all(float(np.median(variance)))
        halves = table[to_ids(x[60:] > 0)] - table[to_ids(x[60:] < 0)]
        unseen.append((values[60:] - opposites[60:] - halves) / 2.0)
    errors = [np.sqrt(np.mean(np.concatenate(found) ** 2)) for found in (left_out, unseen)]
    assert 1.0 / 1.5 < errors[0] / errors[1] < 1.5


def test_predict_all_agrees_with_the_kernels():
    rng = np.random.default_rng(0)
    x, values, opposites = some_pairs(saturating(0), 40, rng)
    warp = Warp.around(np.concatenate([values, opposites]), (0.1, 0.1))
    process = LogitGP(warp, x, values, opposites, rows=np.arange(40))
    coalitions = 2.0 * from_ids(np.arange(2**N), N) - 1.0
    odd, even = process._odd, process._even
    f = odd.kernel.covariance(coalitions, x) @ odd.weights + even.kernel.covariance(coalitions, x) @ even.weights
    expected = warp.expected(process._scale * f + process._level, 0.2)
    assert process.predict_all(0.2) == pytest.approx(expected, rel=1e-9)


def test_predictions_of_pairs_agree_with_those_of_all_coalitions():
    rng = np.random.default_rng(0)
    x, values, opposites = some_pairs(saturating(0), 40, rng)
    warp = Warp.around(np.concatenate([values, opposites]), (0.1, 0.1))
    process = LogitGP(warp, x, values, opposites, rows=np.arange(40))
    coalitions = 2.0 * from_ids(np.arange(2**N), N) - 1.0
    table = process.predict_all(0.2)
    assert process.predict(coalitions, 0.2) == pytest.approx((table - table[::-1]) / 2.0, abs=1e-9)


def test_leaving_one_out_among_all_pairs_is_leaving_one_out():
    rng = np.random.default_rng(0)
    x, values, opposites = some_pairs(saturating(0), 40, rng)
    warp = Warp.around(np.concatenate([values, opposites]), (0.1, 0.1))
    process = LogitGP(warp, x, values, opposites, rows=np.arange(30))
    rows = np.arange(40)
    assert process.leave_one_out_among(rows) == pytest.approx(process.leave_one_out(rows)[0], rel=1e-9)
