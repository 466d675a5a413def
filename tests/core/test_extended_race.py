"""An extended race equals a race that had the larger budget from the start."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError, RaceError
from topshap.core.stopping import TimeLimit

EXTENDABLE = [name for name, kind in ALGORITHMS.items() if kind.extendable]


def finish(race, game):
    while not race.done:
        race.tell(game(race.ask()))
    return race.result()


def as_bits(top):
    arrays = (top.players, top.estimates, top.std_errors, top.covariance, *vars(top.history).values())
    said = (top.calls, top.evaluations, top.budget, top.stopped)
    return said, [None if array is None else array.tobytes() for array in arrays]


@given(
    algorithm=st.sampled_from(EXTENDABLE),
    counting=st.sampled_from(["calls", "distinct"]),
    budgets=st.sets(st.integers(2, 127), min_size=2, max_size=6).map(sorted),
    k_and_seed=st.tuples(st.integers(1, 7), st.integers(0, 3)),
)
def test_an_extended_race_equals_a_race_with_the_larger_budget(algorithm, counting, budgets, k_and_seed, random_game):
    game, (k, seed) = random_game(7), k_and_seed
    setup = {"k": k, "algorithm": algorithm, "counting": counting, "random_state": seed}
    race = topshap.Race(7, budget=budgets[0], **setup)
    for budget, larger in itertools.zip_longest(budgets, budgets[1:]):
        assert as_bits(finish(race, game)) == as_bits(topshap.identify(game, budget=budget, **setup))
        if larger is not None:
            race.extend(larger)


@given(algorithm=st.sampled_from(["bus", "cmcs", "cmcs@k", "greedy-cmcs", "samplingshap@k"]), cut=st.integers(3, 1500))
@settings(max_examples=25)
def test_a_long_race_is_the_same_however_often_its_budget_was_raised(algorithm, cut, random_game):
    game = random_game(6)
    setup = {"k": 2, "algorithm": algorithm, "counting": "calls", "random_state": 0}
    race = topshap.Race(6, budget=cut, **setup)
    finish(race, game)
    race.extend(cut + 1)
    finish(race, game)
    race.extend(cut + 500)
    assert as_bits(finish(race, game)) == as_bits(topshap.identify(game, budget=cut + 500, **setup))


def test_an_algorithm_that_plans_by_its_budget_is_not_extendable():
    assert not any(kind.extendable and kind.needs_budget for kind in ALGORITHMS.values())
    assert {"cmcs", "bus", "cmcs@k", "samplingshap@k", "greedy-cmcs", "approshapley"} <= set(EXTENDABLE)


def test_only_a_spent_budget_can_be_raised(random_game):
    game = random_game(6)
    race = topshap.Race(6, 2, budget=20, algorithm="cmcs", random_state=0)
    with pytest.raises(RaceError, match="this one is not over"):
        race.extend(30)
    finish(race, game)
    for budget in (20, 64):  # no more than before; all coalitions, which would be enumerated
        with pytest.raises(
            ParameterError, match=rf"'budget' parameter of extend must be an int in \[21, 63\]. Got {budget}"
        ):
            race.extend(budget)
    for options, why in (
        ({"algorithm": "sar"}, "'sar' depends on the budget"),
        ({"algorithm": "cmcs", "stop": TimeLimit(60)}, "'stop'"),
    ):
        race = topshap.Race(6, 2, budget=20, **options)
        finish(race, game)
        with pytest.raises(RaceError, match=why):
            race.extend(30)
    exact = topshap.Race(6, 2, budget=64)
    finish(exact, game)
    with pytest.raises(RaceError, match="this one is exact"):
        exact.extend(100)
