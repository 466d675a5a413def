import numpy as np
import pytest

from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table


def all_pairs_of(table, seed=0):
    """Every complement pair of a game: signs, odd and even parts, the grand coalition first and the rest shuffled."""
    n = len(table).bit_length() - 1
    ids = np.concatenate([[2**n - 1], np.random.default_rng(seed).permutation(np.arange(1, 2 ** (n - 1)))])
    values, opposites = table[ids], table[2**n - 1 - ids]
    return 2.0 * from_ids(ids, n) - 1.0, (values - opposites) / 2, (values + opposites) / 2


def rough_table(n, seed=0):
    return np.random.default_rng(seed).normal(size=2**n).cumsum()


def test_the_surrogate_is_exact_with_all_pairs():
    table = rough_table(7)
    surrogate = OddSurrogate(np.random.default_rng(0))
    surrogate.learn(*all_pairs_of(table))
    values, covariance = surrogate.shapley_values()
    assert values == pytest.approx(shapley_from_table(table), rel=1e-6)
    assert np.sqrt(np.abs(covariance)).max() < 1e-3 * np.abs(values).max()


def test_pairs_beyond_the_limit_reduce_the_error():
    """With 40 of 511 pairs in the process, the others at least halve its error, over 10 games."""
    ratios = []
    for seed in range(10):
        table = rough_table(10, seed)
        pairs = all_pairs_of(table, seed)
        errors = []
        for count in (40, 512):
            surrogate = OddSurrogate(np.random.default_rng(0), max_pairs=40)
            surrogate.learn(*(part[:count] for part in pairs))
            values, _ = surrogate.shapley_values()
            assert values.sum() == pytest.approx(table[-1] - table[0], rel=1e-9)
            errors.append(np.linalg.norm(values - shapley_from_table(table)))
        ratios.append(errors[1] / errors[0])
    assert np.exp(np.mean(np.log(ratios))) < 0.5


def test_unexpected_values_widen_the_standard_errors():
    """A few outliers make leave-one-out residuals larger than expected."""
    x, g, e = all_pairs_of(rough_table(9))
    x, g, e = x[:100], x[:100] @ np.arange(1.0, 10.0), e[:100]
    smooth, outliers = OddSurrogate(np.random.default_rng(0)), OddSurrogate(np.random.default_rng(0))
    smooth.learn(x, g, e)
    outliers.learn(x, g + 20.0 * (np.arange(100) % 33 == 5), e)
    before, after = (np.sqrt(np.diag(model.shapley_values()[1])) for model in (smooth, outliers))
    assert (after > 3 * before).all()


def test_a_perfect_fit_is_not_certain():
    x, _g, e = all_pairs_of(rough_table(9))
    surrogate = OddSurrogate(np.random.default_rng(0))
    surrogate.learn(x[:40], x[:40] @ np.ones(9), e[:40])
    values, covariance = surrogate.shapley_values()
    assert values == pytest.approx(np.full(9, 2.0), abs=1e-3)
    assert np.sqrt(np.diag(covariance)).min() > 1e-3
