"""Fewer evaluations than players are enough to find few important ones."""

import numpy as np
import pytest

import topshap
from topshap.algorithms.odd_gp.active_sets import ActiveSets
from topshap.algorithms.odd_gp.sparse_rounds import SparseRun, plan_for, sparse_estimate


def additive(coalitions):
    return 3.0 * coalitions[:, 5] + 2.0 * coalitions[:, 20] + 1.5 * coalitions[:, 41]


def together(coalitions):
    return 2.0 * (coalitions[:, 5] & coalitions[:, 20]) + 1.5 * (coalitions[:, 41] & coalitions[:, 3])


def redundant(coalitions):
    return 2.0 * (coalitions[:, 5] | coalitions[:, 20]) + 1.5 * (coalitions[:, 41] | coalitions[:, 3])


@pytest.mark.parametrize(
    ("game", "k", "budget"),
    [(additive, 3, 24), (together, 4, 40), (redundant, 4, 40)],
    ids=["additive", "together", "redundant"],
)
def test_few_important_players_are_found_with_fewer_evaluations_than_players(game, k, budget):
    expected = {5, 20, 41, 3} if k == 4 else {5, 20, 41}
    for seed in range(2):
        top = topshap.identify(game, n_players=50, k=k, budget=budget, random_state=seed)
        assert set(top.players.tolist()) == expected
        assert top.evaluations == budget


def test_estimates_are_efficient_and_close_to_the_shapley_values():
    top = topshap.identify(together, n_players=50, k=4, budget=48, random_state=0)
    assert top.estimates.sum() == pytest.approx(3.5)
    assert top.estimates[[5, 20, 41, 3]] == pytest.approx([1.0, 1.0, 0.75, 0.75], abs=0.05)
    assert top.std_errors[[5, 20]].max() < 0.2


def test_several_outputs_share_the_coalitions():
    top = topshap.identify(
        lambda coalitions: np.column_stack([additive(coalitions), together(coalitions)]),
        n_players=50,
        k=3,
        budget=44,
        random_state=0,
    )
    assert set(top[0].players.tolist()) == {5, 20, 41}
    assert {5, 20} < set(top[1].players.tolist())
    assert top.evaluations == 44


def test_a_sparse_game_is_recognised_with_more_evaluations_than_players():
    weights = np.where(np.arange(50) % 2, 1.0, -1.0)
    recognised = []
    for game in (additive, lambda coalitions: coalitions @ weights):
        run = SparseRun(50, 4, 80, game(np.array([[False] * 50, [True] * 50])), np.random.default_rng(1))
        for planned in run.rounds(lambda: None, check=True):
            planned.add(game(planned.rows))
        recognised.append(len(run.coalitions) == 82)
    assert recognised == [True, False]


def test_games_in_which_all_players_matter_are_ranked_well():
    right = 0
    for seed in range(2):
        weights = np.random.default_rng(seed).normal(size=50)
        top = topshap.identify(
            lambda coalitions, w=weights: coalitions @ w, n_players=50, k=5, budget=98, random_state=seed
        )
        right += len(set(top.players.tolist()) & set(np.argsort(-weights)[:5].tolist()))
        assert top.evaluations == 98
    assert right >= 9


@pytest.mark.parametrize(
    ("n", "budget", "outputs", "plan"),
    [
        (50, 49, 1, "sparse"),
        (50, 50, 1, "single players"),
        (50, 78, 1, "single players"),
        (50, 79, 1, "check"),
        (201, 100, 1, "single players"),
        (50, 30, 17, "single players"),
        (150, 150, 1, "check"),
    ],
)
def test_the_plan_depends_on_players_budget_and_outputs(n, budget, outputs, plan):
    assert plan_for(n, budget, outputs) == plan


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("budget", [3, 4, 5])
def test_tiny_games_spend_no_more_than_their_budget(n, budget):
    top = topshap.identify(lambda coalitions: coalitions.sum(axis=1), n_players=n, k=1, budget=budget, random_state=0)
    assert top.evaluations <= budget
    assert top.estimates.sum() == pytest.approx(n)


def test_constant_values_give_zeros():
    x = np.where(np.random.default_rng(0).random((6, 9)) < 0.5, 1.0, -1.0)
    mean, covariance = ActiveSets(x, np.zeros(6), 2).shapley_values()
    assert mean == pytest.approx(np.zeros(9))
    assert np.isfinite(covariance).all()


def test_other_outputs_are_estimated_from_halves_only():
    rng = np.random.default_rng(0)
    halves = np.argsort(rng.random((30, 50)), axis=1) < 25
    known = np.concatenate([[[False] * 50, [True] * 50], halves])
    values = np.column_stack([additive(known), together(known)])
    estimate = sparse_estimate(known, values, 3)
    assert set(np.argsort(-estimate.values[0])[:3].tolist()) == {5, 20, 41}
    assert estimate.std_errors.shape == (2, 50)
    assert estimate.covariance_of(1).diagonal() == pytest.approx(estimate.std_errors[1] ** 2)
    singles = np.concatenate([known[:2], np.eye(50, dtype=bool)])
    assert sparse_estimate(singles, np.zeros((52, 1)), 3) is None
