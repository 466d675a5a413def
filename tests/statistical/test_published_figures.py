"""Statements of the published comparison, checked on another game: regression on subsets of the diabetes features.

`topshap-bench reproduce` makes the same comparison with the published games. Every statement below is about means over
seeded runs; differences are stated in their standard errors.
"""

from functools import cache
from math import comb

import numpy as np
import pytest

from topshap.core.tables import coalition_sizes
from topshap.games import TableGame, per_coalition
from topshap.reference.exact import value_table
from topshap_bench import reproduce

EPSILON, DELTA = 0.015, 0.05
NEIGHBOURS = 20
RUNS = {None: 60, 250: 600, 500: 160}
"""The number of runs for each budget; None stands for races that stop by themselves."""


@cache
def diabetes_game():
    """The share of variance that a nearest-neighbour regression on a feature subset explains on held-out rows."""
    X, y = pytest.importorskip("sklearn.datasets").load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:300], order[300:]
    squares = (X[test, None] - X[train]) ** 2
    chance = np.mean((y[test] - y[train].mean()) ** 2)

    def explained(subset):
        if not subset.any():
            return 0.0
        nearest = np.argpartition(squares @ subset.astype(float), NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        return 1.0 - np.mean((y[test] - y[train][nearest].mean(axis=1)) ** 2) / chance

    return TableGame(value_table(per_coalition(explained, X.shape[1])))


@cache
def outcomes(algorithm, k, budget):
    game, setting = diabetes_game(), reproduce.Setting("diabetes", algorithm, k, budget)
    return [reproduce.run(game, setting, seed=seed, epsilon=EPSILON, delta=DELTA) for seed in range(RUNS[budget])]


def mean(algorithm, figure, k, budget=None):
    return reproduce.summarize(outcomes(algorithm, k, budget))[figure]


def assert_below(small, large):
    assert large.mean - small.mean > 3 * np.hypot(small.se, large.se), f"{small} is not clearly below {large}"


@pytest.mark.parametrize(
    ("fewer", "more"), [("cmcs@k", "greedy-cmcs"), ("greedy-cmcs", "cmcs"), ("samplingshap@k", "cmcs")]
)
def test_sampling_near_the_border_stops_earlier(fewer, more):
    assert_below(mean(fewer, "calls", k=5), mean(more, "calls", k=5))


@pytest.mark.parametrize("algorithm", reproduce.PAC)
def test_a_race_that_stops_by_itself_is_right_with_probability_one_minus_delta(algorithm):
    right = np.mean([o.inc_exc_error <= EPSILON for o in outcomes(algorithm, 5, None)])
    assert right >= 1 - DELTA - 3 * np.sqrt(DELTA * (1 - DELTA) / RUNS[None])


@pytest.mark.parametrize("algorithm", reproduce.PAC)
def test_many_calls_of_a_race_are_repeats(algorithm):
    assert_below(mean(algorithm, "distinct", k=5), mean(algorithm, "calls", k=5))


def accesses_per_round(algorithm):
    """Return the mean number of counted accesses per round; the empty and the grand coalition are free.

    A round of cmcs reads n + 1 values, 4 / (n + 1) of them free on average; one of identical reads 2 n, 2 of them free.
    """
    n = diabetes_game().n_players
    return {"cmcs": n + 1 - 4 / (n + 1), "identical": 2 * n - 2}[algorithm]


def variance_of_a_sample():
    """The exact variance of v(S + i) - v(S - i) over the anchors S, averaged over the players."""
    game = diabetes_game()
    n, v, ids = game.n_players, game.values, np.arange(len(game.values))
    chance = np.array([1 / ((n + 1) * comb(n, int(size))) for size in coalition_sizes(n)])
    samples = [v[ids | 1 << i] - v[ids & ~(1 << i)] for i in range(n)]
    return np.mean([chance @ (d - phi) ** 2 for d, phi in zip(samples, game.shapley_values(), strict=True)])


@pytest.mark.parametrize("algorithm", ["cmcs", "identical"])
def test_the_error_is_the_exact_variance_divided_by_the_rounds(algorithm):
    found = mean(algorithm, "mse", k=3, budget=250)
    expected = variance_of_a_sample() / ((250 - 2) / accesses_per_round(algorithm))
    assert abs(found.mean - expected) < 4 * found.se
    assert found.se < 0.06 * expected


def test_sharing_the_value_of_the_anchor_almost_halves_the_error():
    shared, repeated = (mean(name, "mse", k=3, budget=250) for name in ("cmcs", "identical"))
    ratio = repeated.mean / shared.mean
    error = ratio * np.hypot(shared.se / shared.mean, repeated.se / repeated.mean)
    assert abs(ratio - accesses_per_round("identical") / accesses_per_round("cmcs")) < 4 * error
    assert ratio - 3 * error > 1.2


@pytest.mark.parametrize("worse", ["cmcs", "approshapley", "stratified-svarm", "bus"])
def test_kernelshap_has_the_best_estimates_for_500_calls(worse):
    assert_below(mean("kernelshap", "mse", k=5, budget=500), mean(worse, "mse", k=5, budget=500))


@pytest.mark.parametrize("better", ["cmcs", "approshapley", "stratified-svarm"])
def test_bus_neglects_the_players_far_from_the_border(better):
    assert_below(mean(better, "mse", k=5, budget=500), mean("bus", "mse", k=5, budget=500))
