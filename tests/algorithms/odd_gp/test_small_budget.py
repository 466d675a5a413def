from types import SimpleNamespace

import numpy as np
import pytest

from topshap.algorithms.odd_gp.small_budget import compare_single_players, singles_and_complements
from topshap.core.standing import FittedStanding

N = 6


def test_singles_or_their_complements_come_first_at_random():
    sizes = [singles_and_complements(N, np.random.default_rng(seed)).sum(axis=1).tolist() for seed in range(20)]
    assert {tuple(found) for found in sizes} == {(1,) * N + (N - 1,) * N, (N - 1,) * N + (1,) * N}


@pytest.mark.parametrize("known", [0, 1, N, N + 2])
def test_a_prefix_of_the_values_gives_an_efficient_estimate(known):
    problem = SimpleNamespace(n=N, rng=np.random.default_rng(0), remaining=N + 2, empty=1.0, grand=7.0, gain=6.0)
    standing = FittedStanding(np.arange(N), np.ones(N))
    ends = np.array([[False] * N, [True] * N])
    (only,) = compare_single_players(problem, standing, ends, np.array([1.0, 7.0]))
    assert only.rows.shape == (N + 2, N)
    only.add(only.rows[:known] @ np.arange(N) * 0.4 + 1.0)
    assert standing.estimates.sum() == pytest.approx(6.0)
    assert (standing.covariance() is None) == (known == 0)
