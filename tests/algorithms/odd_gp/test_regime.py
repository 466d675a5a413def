from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.algorithms.odd_gp.regime import LEAST_LEARNED, MAX_PAIRS, Regime


def regime(n, remaining, *, noise=False, active_rounds=4, min_batch=1):
    problem = SimpleNamespace(n=n, order=1, remaining=remaining, deterministic=not noise)
    return Regime.of(problem, active_rounds=active_rounds, min_batch=min_batch)


@given(
    n=st.integers(2, 300),
    remaining=st.integers(0, 2000),
    noise=st.booleans(),
    active_rounds=st.integers(0, 9),
    min_batch=st.integers(1, 500),
)
def test_the_plan_spends_the_budget_and_no_more(n, remaining, noise, active_rounds, min_batch):
    plan = regime(n, remaining, noise=noise, active_rounds=active_rounds, min_batch=min_batch)
    assert 2 * plan.pairs + plan.spare_evaluation <= remaining
    assert plan.pairs == remaining // 2 or (not noise and plan.pairs == 2 ** (n - 1) - 1)
    assert plan.first_design <= plan.pairs
    left = plan.pairs - plan.first_design
    batches = plan.batches(left)
    assert sum(batches) == left
    assert len(batches) <= max(1, active_rounds)
    assert len(batches) <= 1 or min(batches) >= max(1, min_batch // 2)


@pytest.mark.parametrize(("remaining", "small"), [(26, True), (27, True), (28, False), (29, False)])
def test_a_budget_below_one_pair_per_player_is_for_single_players(remaining, small):
    assert regime(14, remaining).single_players_only == small


def test_a_game_whose_pairs_all_fit_is_never_small():
    assert not regime(3, 6).single_players_only
    assert not regime(2, 2).single_players_only


def test_large_games_keep_the_hyper_parameters_of_a_larger_first_design():
    small, large = regime(200, 2000), regime(201, 2000)
    assert small.refit > 0
    assert large.refit == 0
    assert small.first_design < large.first_design
    assert (small.overall_weight, large.overall_weight) == (1.0, 0.0)


def test_the_best_surrogate_chooses_in_games_of_many_players_without_noise():
    chooses = [
        regime(n, 500, noise=noise).best_surrogate_chooses for n, noise in [(16, False), (17, False), (17, True)]
    ]
    assert chooses == [False, True, False]


def test_without_active_rounds_or_with_too_many_pairs_the_first_design_has_the_whole_budget():
    assert regime(14, 500, active_rounds=0).first_design == 250
    assert regime(30, 2 * MAX_PAIRS + 2).first_design == MAX_PAIRS + 1
    assert regime(30, 2 * MAX_PAIRS).first_design < MAX_PAIRS


def test_beyond_the_largest_number_of_pairs_the_process_learns_from_fewer():
    learned = [regime(30, 2 * pairs).learned for pairs in (100, MAX_PAIRS, MAX_PAIRS + 1, 9000, 20_000, 10**6)]
    assert learned == [MAX_PAIRS, MAX_PAIRS, 5999, 4000, LEAST_LEARNED, LEAST_LEARNED]


@pytest.mark.parametrize(
    ("n", "remaining", "rounds"), [(14, 68, 2), (14, 70, 3), (14, 138, 3), (14, 140, 4), (200, 500, 2), (201, 500, 4)]
)
def test_small_budgets_have_fewer_batches(n, remaining, rounds):
    assert regime(n, remaining).active_rounds == rounds
    assert regime(n, remaining, active_rounds=1).active_rounds == 1
