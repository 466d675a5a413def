"""Whole runs on tables of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.shared.rounds import SharedRun


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("model", ["polynomial", "forest"])
@pytest.mark.parametrize("budget", [40, 120])
def test_intervals_cover_the_exact_values(table_of_rows, models, model, refine, budget):
    # 24 rows x 10 players in each of 4 tables. Errors of rows that share coalitions depend on each other: over tables,
    # the coverage has a standard deviation of about 0.02, and the mean of four of 0.01.
    inside = []
    for seed in range(4):
        game = table_of_rows(models[model], n=10, seed=100 + seed)
        estimate = game.run(budget, seed=seed, refine=refine).estimate
        inside.append(np.abs(estimate.values - game.shapley_values) <= 1.96 * estimate.std_errors)
    assert 0.90 <= np.mean(inside) <= 0.998


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_estimates_are_exact_once_all_pairs_are_known(table_of_rows, models, n, refine):
    game = table_of_rows(models["polynomial"], n=n)
    estimate = game.run(2**n + 5, refine=refine).estimate
    assert estimate.values == pytest.approx(game.shapley_values, abs=1e-9)
    assert not estimate.std_errors.any()
    assert (game.used <= 2**n - 2).all()


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 7), st.integers(0, 70), st.booleans(), st.sampled_from(["value", "magnitude", "lowest"]), st.data()
)
def test_any_budget_is_kept_and_estimates_add_up(n, budget, refine, rank_by, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    outputs, k = data.draw(st.integers(1, 6)), data.draw(st.integers(1, n))
    table = rng.normal(size=(2**n, outputs))
    ids = 2 ** np.arange(n)
    run = SharedRun(n, k, budget, table[[0, -1]], np.random.default_rng(1), rank_by=rank_by, refine=refine)
    used = np.zeros(outputs)
    for request in run.requests():
        values = table[request.coalitions @ ids]
        used += len(values) if request.wanted is None else request.wanted.sum(axis=0)
        request.add(values if request.wanted is None else np.where(request.wanted, values, np.nan))
    assert used.mean() <= budget
    assert run.estimate.values.sum(axis=1) == pytest.approx(table[-1] - table[0], abs=1e-9)
    assert run.estimate.values.shape == (outputs, n)


@pytest.mark.parametrize("refine", [False, True])
def test_the_budget_is_spent_on_distinct_pairs(table_of_rows, models, refine):
    game = table_of_rows(models["forest"])
    run = game.start(61, refine=refine)
    keys = []
    for request in run.requests():
        keys += [] if request.wanted is not None else pair_keys(request.coalitions[::2])
        assert np.array_equal(request.coalitions[1::2], ~request.coalitions[::2])
        request.add(game(request.coalitions, request.wanted))
    assert len(set(keys)) == len(keys)
    assert game.used.mean() == 60


@pytest.mark.parametrize("refine", [False, True])
def test_a_run_is_deterministic(table_of_rows, models, refine):
    game = table_of_rows(models["forest"])
    first, second = (game.run(80, refine=refine).estimate for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.std_errors, second.std_errors)


@pytest.mark.parametrize("refine", [False, True])
def test_there_is_an_estimate_after_every_request_and_after_a_part_of_one(table_of_rows, models, refine):
    game = table_of_rows(models["forest"])
    requests = len(list(_played(game, game.start(80, refine=refine))))
    assert requests >= 4
    for stop in range(requests):
        run = game.start(80, refine=refine)
        for at, request in enumerate(run.requests()):
            values = game(request.coalitions, request.wanted)
            request.add(values[: len(values) // 2] if at == stop else values)
            if at == stop:
                break
        assert run.estimate.values.sum(axis=1) == pytest.approx(game.table[-1] - game.table[0])
        assert np.isfinite(run.estimate.std_errors).all()


def _played(game, run):
    for request in run.requests():
        request.add(game(request.coalitions, request.wanted))
        yield request


def test_before_any_value_the_estimates_are_equal_and_their_errors_unknown(table_of_rows, models):
    estimate = table_of_rows(models["forest"]).start(50).estimate
    assert np.ptp(estimate.values, axis=1) == pytest.approx(0.0)
    assert np.isnan(estimate.std_errors).all()


def test_budgets_of_less_than_a_pair_per_player_compare_single_players(table_of_rows, models):
    game = table_of_rows(models["polynomial"], n=10)
    exact = game.shapley_values
    run = game.run(12)
    errors = run.estimate.values - exact
    assert game.used.max() == 12
    assert np.mean(errors**2) < 0.3 * np.mean((exact - exact.mean(axis=1, keepdims=True)) ** 2)


@pytest.mark.parametrize("rank_by", ["lowest", "magnitude"])
def test_orders_look_for_the_same_border_as_for_the_negated_game(table_of_rows, models, rank_by):
    game = table_of_rows(models["forest"])
    first = game.run(60, rank_by=rank_by).estimate.values
    game.table = -game.table
    other = game.run(60, rank_by="value" if rank_by == "lowest" else "magnitude").estimate.values
    assert other == pytest.approx(-first, abs=1e-4)


def test_pairs_of_the_border_help_to_find_the_top(table_of_rows, models):
    # The number of wrong sets among 96 rows of 4 tables; it has a standard error of about 3.
    wrong = {False: 0, True: 0}
    for seed in range(4):
        game = table_of_rows(models["forest"], n=10, seed=seed)
        exact = game.shapley_values
        top = np.sort(np.argsort(-exact, axis=1)[:, :3])
        for refine in wrong:
            values = game.run(50, seed=seed, refine=refine).estimate.values
            wrong[refine] += int((np.sort(np.argsort(-values, axis=1)[:, :3]) != top).any(axis=1).sum())
    assert wrong[True] <= wrong[False] + 3


def test_shared_coalitions_are_as_accurate_as_single_games(table_of_rows, models):
    # Root mean square errors relative to the range, over 4 tables of 24 rows; the ratio has a standard error of 0.05.
    ratios = []
    for seed in range(4):
        game = table_of_rows(models["polynomial"], n=9, seed=20 + seed)
        exact = game.shapley_values
        shared = game.run(60, seed=seed).estimate.values - exact
        single = []
        for output in range(0, 24, 4):
            one = type(game)(game.table[:, output : output + 1])
            single.append(one.run(60, seed=seed).estimate.values[0] - exact[output])
        spread = np.ptp(exact, axis=1)
        relative = np.sqrt(np.mean(shared**2, axis=1)) / spread
        alone = np.sqrt(np.mean(np.square(single), axis=1)) / spread[::4]
        ratios.append(relative[::4].mean() / alone.mean())
    assert np.mean(ratios) < 1.2
