"""Groups of outputs with different players, whose hyper-parameters are fitted together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.fitting import OWN
from topshap.algorithms.odd_gp.shared.fitting import fit_outputs, observe_outputs
from topshap.algorithms.odd_gp.shared.pooled_fitting import (
    FITTED_GAMES,
    PooledGame,
    PooledObjective,
    fit_pooled,
)
from topshap.algorithms.odd_gp.shared.pooled_rounds import PooledRun
from topshap.reference.exact import shapley_values

N = 9


def smooth(coalitions, players, seed):
    """Return probabilities of two rows, given coalitions of some of the players."""
    rng = np.random.default_rng(seed)
    weights, pairs = rng.normal(size=(2, N)), rng.normal(size=(N, N)) / 3.0
    whole = np.zeros((len(coalitions), N))
    whole[:, players] = coalitions
    logits = whole @ weights.T + np.einsum("mi,ij,mj->m", whole, pairs, whole)[:, None] / 2.0
    return 1.0 / (1.0 + np.exp(-logits))


def groups_of(count, seed=0):
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(N, 7 + i % 3, replace=False)) for i in range(count)]


def play(run, seed=0):
    """Play a run, and return the coalitions of each group."""
    seen = [[] for _ in run.groups]
    for request in run.requests():
        values = []
        for i, (group, coalitions) in enumerate(zip(run.groups, request.coalitions, strict=True)):
            seen[i].append(coalitions)
            values.append(smooth(coalitions, group.players, seed + i))
        request.add(values)
    return [np.concatenate(each) for each in seen]


def truth_of(group, seed):
    games = [lambda z, row=row: smooth(z, group.players, seed)[:, row] for row in range(2)]
    return np.array([shapley_values(game, len(group.players)) for game in games])


@pytest.mark.parametrize("budget", [50, 150])
def test_intervals_cover_and_errors_are_small(budget):
    inside, errors = [], []
    for seed in range(3):
        run = PooledRun(groups_of(8, seed), N, 3, [budget] * 8, np.random.default_rng(seed))
        play(run, seed=10 * seed)
        for i, group in enumerate(run.groups):
            truth = truth_of(group, 10 * seed + i)
            error = np.abs(group.estimate.values - truth)
            errors.append(np.sqrt(np.mean(error**2, axis=1)) / np.ptp(truth, axis=1))
            if not group.exact:
                inside.append((error <= 1.96 * group.estimate.std_errors).ravel())
    assert np.concatenate(inside).mean() >= 0.90
    assert np.mean(errors) < (0.02 if budget == 50 else 0.004)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_budgets_are_kept_pairs_are_distinct_and_estimates_add_up(sizes, further, seed):
    rng = np.random.default_rng(seed)
    players = [np.sort(rng.choice(7, size, replace=False)) for size in sizes]
    budgets = [2 * size + 2 + further for size in sizes]
    tables = [rng.normal(size=(2**size, 3)) for size in sizes]
    run = PooledRun(players, 7, 2, budgets, np.random.default_rng(1))
    seen = [[] for _ in sizes]
    for request in run.requests():
        for own, coalitions in zip(seen, request.coalitions, strict=True):
            own.append(coalitions)
        request.add([
            table[coalitions @ 2 ** np.arange(size)]
            for table, coalitions, size in zip(tables, request.coalitions, sizes, strict=True)
        ])  # fmt: skip
    for group, own, table, budget in zip(run.groups, seen, tables, budgets, strict=True):
        coalitions = np.concatenate(own)
        assert len(coalitions) <= budget
        keys = pair_keys(coalitions[::2])
        assert len(set(keys)) == len(keys)
        np.testing.assert_allclose(group.estimate.values.sum(axis=1), table[-1] - table[0], atol=1e-9)
        assert group.exact == (len(coalitions) == len(table))


def test_groups_with_all_coalitions_are_exact():
    players = [np.array([0, 2, 3]), np.array([1, 4, 5, 8]), np.array([6])]
    run = PooledRun(players, N, 2, [16] * 3, np.random.default_rng(0))
    assert [len(each) for each in play(run)] == [8, 16, 2]
    for i, group in enumerate(run.groups):
        assert group.estimate.values == pytest.approx(truth_of(group, i), abs=1e-12)
        assert not group.estimate.std_errors.any()


def observed(players, seed, m=40):
    rng = np.random.default_rng(seed)
    coalitions = rng.random((m, len(players))) < 0.5
    values, opposite = smooth(coalitions, players, seed), smooth(~coalitions, players, seed)
    odd, even = (values - opposite) / 2.0, (values + opposite) / 2.0
    unit = np.sqrt(np.mean(odd**2, axis=0))
    return PooledGame(observe_outputs(np.where(coalitions, 1.0, -1.0), odd / unit, even / unit), players)


def test_the_gradient_is_the_derivative_of_the_objective():
    games = [observed(players, seed) for seed, players in enumerate(groups_of(3))]
    objective = PooledObjective(games, [np.arange(40)] * 3, N)
    at = 0.3 * np.random.default_rng(0).normal(size=OWN + N)
    _, gradient = objective(at)
    for i, step in enumerate(1e-5 * np.eye(OWN + N)):
        slope = (objective(at + step)[0] - objective(at - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_one_game_of_all_players_is_fitted_as_by_itself():
    game, rows = observed(np.arange(N), 5), np.arange(40)
    found = fit_pooled([game], [rows], N, iterations=25)
    _, alone = fit_outputs(game.data, rows, own=True, iterations=25)
    np.testing.assert_allclose(found.parameters_of(game), alone, atol=0.05)


def test_games_beyond_those_that_are_fitted_get_parameters_within_bounds():
    games = [observed(players, seed) for seed, players in enumerate(groups_of(FITTED_GAMES + 3))]
    found = fit_pooled(games, [np.arange(40)] * len(games), N, iterations=5)
    for game in games:
        parameters = found.parameters_of(game)
        assert parameters.shape == (OWN + len(game.players),)
        assert np.isfinite(parameters).all()
