"""KernelSHAP: the coalitions, their weights, and the regression."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms import KernelSHAP
from topshap.algorithms.baselines.kernelshap import make_plan
from topshap.core.coalitions import from_ids, keys
from topshap.games import AdditiveGame


def kernel_of_sizes(n):
    """The Shapley kernel of all coalitions of each size together, for sizes 1 .. n-1; adds up to 1."""
    kernel = np.array([(n - 1) / (s * (n - s)) for s in range(1, n)])
    return kernel / kernel.sum()


def sizes_covered(n, budget):
    """Return how many sizes KernelExplainer enumerates: those with at least one sample per set by the kernel."""
    kernel, left, covered = kernel_of_sizes(n), budget, 0
    remaining = 1.0
    for size in range(1, n // 2 + 1):
        share = kernel[size - 1] + (kernel[n - size - 1] if 2 * size < n else 0.0)
        sets = math.comb(n, size) * (2 if 2 * size < n else 1)
        if left * share / remaining < sets * (1 - 1e-8):
            break
        covered, left, remaining = size, left - sets, remaining - share
    return covered


def weighted_least_squares(coalitions, worths, weights, gain):
    """Eliminate the last player by the efficiency constraint and solve the rest by ordinary least squares."""
    rows = coalitions.astype(float)
    root = np.sqrt(weights)
    design = (rows[:, :-1] - rows[:, -1:]) * root[:, None]
    target = (worths - rows[:, -1] * gain) * root
    first = np.linalg.lstsq(design, target, rcond=None)[0]
    return np.append(first, gain - first.sum())


def run(game, budget, seed=0, **options):
    return topshap.identify(game, k=1, budget=budget, algorithm="kernelshap", random_state=seed, **options)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8])
def test_all_coalitions_give_the_exact_values_by_regression(random_game, n):
    """Calls are counted, so that the race does not compute exact values from all coalitions."""
    game = random_game(n)
    top = run(game, 2**n, counting="calls")
    np.testing.assert_allclose(top.estimates, game.shapley_values(), atol=1e-9)
    inner = from_ids(np.arange(1, 2**n - 1), n)
    kernel = np.array([kernel_of_sizes(n)[s - 1] / math.comb(n, s) for s in inner.sum(axis=1)])
    reference = weighted_least_squares(inner, game(inner) - top.empty, kernel, top.grand - top.empty)
    np.testing.assert_allclose(top.estimates, reference, atol=1e-9)


@given(st.integers(3, 9), st.integers(0, 200), st.integers(0, 99))
def test_the_estimates_are_the_least_squares_fit_of_the_plan(play, random_game, n, extra, seed):
    budget = min(3 * n + extra, 2**n - 2)
    played = play(KernelSHAP(), random_game(n), seed=seed, budget=budget)
    rng = np.random.default_rng(seed)
    rng.permutation(n)  # the tie order comes first
    plan = make_plan(n, budget, rng)
    assert not played.answer()
    rows, values = played.accesses()
    np.testing.assert_array_equal(rows, plan.coalitions)
    centred = rows - rows.mean(axis=1, keepdims=True)
    if np.linalg.matrix_rank(centred) == n - 1:
        worths, gain = values - played.problem.empty, played.problem.grand - played.problem.empty
        reference = weighted_least_squares(rows, worths, plan.weights, gain)
        np.testing.assert_allclose(played.standing.estimates, reference, atol=1e-7)


@given(st.integers(2, 10), st.integers(0, 400), st.integers(0, 99))
def test_a_plan_spends_the_budget_on_distinct_inner_coalitions(n, budget, seed):
    plan = make_plan(n, budget, np.random.default_rng(seed))
    assert len(set(keys(plan.coalitions))) == len(plan.coalitions) == min(budget, 2**n - 2)
    sizes = plan.coalitions.sum(axis=1)
    assert np.all((sizes > 0) & (sizes < n))
    assert np.all(plan.weights > 0)
    assert plan.weights.sum() == pytest.approx(1.0 if budget > 0 else 0.0)


@given(st.integers(2, 10), st.integers(1, 400))
def test_sizes_are_enumerated_from_the_outside_in(n, budget):
    plan = make_plan(n, budget, np.random.default_rng(0))
    found = np.bincount(plan.coalitions.sum(axis=1), minlength=n + 1)
    covered = sizes_covered(n, budget)
    for size in range(1, covered + 1):
        assert found[size] == math.comb(n, size)
        assert found[n - size] == math.comb(n, size)
    in_full = sum(found[size] + (found[n - size] if 2 * size != n else 0) for size in range(1, covered + 1))
    assert (plan.draws[:in_full] == -1).all()
    assert (plan.draws[in_full:] >= 0).all()
    sizes = plan.coalitions.sum(axis=1)
    assert np.all(np.minimum(sizes, n - sizes)[:in_full] <= covered)
    assert np.all(np.minimum(sizes, n - sizes)[in_full:] > covered)


@pytest.mark.parametrize("n", [6, 7, 9])
def test_a_complete_size_has_the_weight_of_the_kernel(n):
    plan = make_plan(n, 2**n - 10, np.random.default_rng(0))
    sizes = plan.coalitions.sum(axis=1)
    covered = sizes_covered(n, 2**n - 10)
    assert covered >= 1
    for size in range(1, covered + 1):
        expected = kernel_of_sizes(n)[size - 1] / math.comb(n, size)
        np.testing.assert_allclose(plan.weights[sizes == size], expected)


@pytest.mark.parametrize(("n", "budget"), [(5, 12), (6, 30), (7, 40), (8, 60), (8, 150)])
def test_a_sampled_size_has_the_weight_of_the_kernel_on_average(n, budget):
    plans = [make_plan(n, budget, np.random.default_rng(seed)) for seed in range(300)]
    found = np.array([np.bincount(plan.coalitions.sum(axis=1), plan.weights, minlength=n + 1) for plan in plans])
    error = found.std(axis=0, ddof=1) / math.sqrt(len(plans))
    # A plan ends when enough distinct coalitions are found, which favours sizes with many coalitions by a few percent.
    expected = kernel_of_sizes(n)
    assert np.all(np.abs(found.mean(axis=0)[1:n] - expected) < 4 * error[1:n] + 0.08 * expected)


def test_sampled_coalitions_come_with_their_complements():
    plan = make_plan(9, 100, np.random.default_rng(0))
    drawn = plan.coalitions[plan.draws >= 0]
    known = set(keys(drawn))
    missing = [key for key in keys(~drawn) if key not in known]
    assert len(missing) <= 1  # an odd budget ends inside a pair
    assert len(drawn) > 20


@given(st.integers(2, 9), st.integers(2, 60), st.integers(0, 99))
def test_the_estimates_always_add_up_to_the_gain(random_game, n, budget, seed):
    top = run(random_game(n), budget, seed)
    assert top.estimates.sum() == pytest.approx(top.grand - top.empty, abs=1e-9)


def test_estimates_of_an_additive_game_are_exact():
    weights = np.array([3.0, -1.0, 2.0, 0.0, 5.0, 1.0, 0.5, 4.0])
    top = run(AdditiveGame(weights, baseline=-3.0), 60)
    np.testing.assert_allclose(top.estimates, weights, atol=1e-9)


@pytest.mark.parametrize("budget", [3, 4, 5, 8, 14, 20])
def test_an_interpolating_fit_is_not_certain(random_game, budget):
    """Up to n - 1 pairs are fitted without a residual: there is nothing to estimate an error from."""
    top = run(random_game(12), budget)
    assert np.all(np.isnan(top.std_errors) | (top.std_errors > 1e-3))
    assert not top.confidence > 0.99


def test_standard_errors_are_zero_when_all_coalitions_are_known(random_game):
    assert not run(random_game(6), 64, counting="calls").std_errors.any()


def test_a_plan_for_a_budget_of_zero_is_empty():
    plan = make_plan(5, 0, np.random.default_rng(0))
    assert plan.coalitions.shape == (0, 5)
    assert len(plan.weights) == len(plan.draws) == 0
