"""The selection of the most informative pairs."""

import numpy as np
import pytest

from topshap.algorithms.odd_gp import active
from topshap.algorithms.odd_gp.active import border_contrasts, most_informative
from topshap.algorithms.odd_gp.designs import all_pairs
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.core.coalitions import from_ids

N = 7


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    x = 2.0 * np.concatenate([np.ones((1, N), dtype=bool), np.eye(N, dtype=bool)]) - 1.0
    surrogate = OddSurrogate(rng)
    surrogate.learn(x, x @ rng.normal(size=N) + 0.1 * rng.normal(size=len(x)), rng.normal(size=len(x)))
    return surrogate.posterior


def choose(posterior, candidates, count):
    values, covariance = posterior.shapley_values, posterior.covariance
    contrasts = border_contrasts(values, covariance, np.argsort(-values), 3, 1.0)
    return most_informative(posterior, 2.0 * candidates - 1.0, contrasts, count)


def test_no_size_gets_more_than_half_of_a_batch(posterior):
    candidates = all_pairs(N)
    sizes = np.minimum(candidates.sum(axis=1), N - candidates.sum(axis=1))
    for count in (2, 5, 8):
        picked = choose(posterior, candidates, count)
        assert len(set(picked)) == count
        assert np.bincount(sizes[picked]).max() <= np.ceil(count / 2)


def test_one_size_is_enough_where_there_are_no_others(posterior):
    pairs_of_two = all_pairs(N)[all_pairs(N).sum(axis=1) == 2]
    picked = choose(posterior, pairs_of_two, len(pairs_of_two))
    assert sorted(picked) == list(range(len(pairs_of_two)))


def test_the_first_selected_pair_reduces_the_trace_most(posterior):
    """Compared with the covariance after each candidate."""
    candidates = from_ids(np.array([3, 5, 9, 21, 38, 67, 91]), N)
    x = 2.0 * candidates - 1.0
    values, covariance = posterior.shapley_values, posterior.covariance
    contrasts = border_contrasts(values, covariance, np.argsort(-values), 3, 1.0)
    traces = []
    for row in x:
        after = OddPosterior(posterior.kernel, np.vstack([posterior.x, row]), np.append(posterior.g, 0.0), noise=False)
        traces.append(np.trace(contrasts @ after.covariance @ contrasts.T))
    assert choose(posterior, candidates, 1)[0] == np.argmin(traces)


def test_rows_computed_one_by_one_give_the_same_choice(posterior, monkeypatch):
    candidates = all_pairs(N)
    together = choose(posterior, candidates, 8)
    monkeypatch.setattr(active, "ROW_BY_ROW", 1)
    assert choose(posterior, candidates, 8).tolist() == together.tolist()
