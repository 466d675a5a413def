"""Criteria: the laws of their composition, and how each of them ends a race."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError
from topshap.core.stopping import AllOf, AnyOf, Budget, Confidence, Criterion, Exhausted, TimeLimit, When

SIMPLE_GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)

PLANS_AHEAD = {name for name, kind in ALGORITHMS.items() if kind.needs_budget}


@dataclass
class RaceView:
    """The attributes of a race that criteria read."""

    spent: int
    seconds: float
    n_players: int = 4
    deterministic: bool = True
    confident: bool = False
    rule_completion: float = 0.0

    @property
    def evaluations(self):
        return min(self.spent, 2**self.n_players)

    @property
    def exhausted(self):
        return self.deterministic and self.evaluations == 2**self.n_players


race_views = st.builds(
    RaceView,
    spent=st.integers(2, 40),
    seconds=st.floats(0.0, 40.0),
    deterministic=st.booleans(),
    confident=st.booleans(),
)


def is_odd(race):
    return race.spent % 2 == 1


def as_far_as_twenty(race):
    return race.spent / 20


leaves = st.one_of(
    st.builds(Budget, st.integers(2, 40)),
    st.builds(TimeLimit, st.floats(0.1, 40.0)),
    st.builds(Confidence, st.floats(0.0, 1.0)),
    st.just(Exhausted()),
    st.just(When(is_odd)),
    st.just(When(is_odd, as_far_as_twenty)),
)
criteria = st.recursive(
    leaves, lambda c: st.tuples(c, c, st.booleans()).map(lambda t: t[0] & t[1] if t[2] else t[0] | t[1]), max_leaves=6
)


def seen(criterion, race):
    return criterion.met(race), criterion.completion(race)


# The laws of composition.


@given(criteria, race_views)
def test_completion_goes_from_0_to_1_and_is_1_exactly_if_it_is_met(criterion, race):
    met, completion = seen(criterion, race)
    assert 0.0 <= completion <= 1.0
    assert (completion == 1.0) == met


@given(criteria, criteria, race_views)
def test_a_or_b_is_met_if_one_of_them_is_and_has_the_larger_completion(a, b, race):
    assert (a | b).met(race) == (a.met(race) or b.met(race))
    assert (a | b).completion(race) == max(a.completion(race), b.completion(race))


@given(criteria, criteria, race_views)
def test_a_and_b_is_met_if_both_are_and_has_the_smaller_completion(a, b, race):
    assert (a & b).met(race) == (a.met(race) and b.met(race))
    assert (a & b).completion(race) == min(a.completion(race), b.completion(race))


@given(criteria, criteria, criteria, race_views)
def test_composition_is_a_distributive_lattice(a, b, c, race):
    assert seen(a | b, race) == seen(b | a, race)
    assert seen(a & b, race) == seen(b & a, race)
    assert seen(a | a, race) == seen(a & a, race) == seen(a, race)
    assert seen(a | (a & b), race) == seen(a & (a | b), race) == seen(a, race)
    assert seen(a & (b | c), race) == seen((a & b) | (a & c), race)
    assert seen(a | (b & c), race) == seen((a | b) & (a | c), race)


@given(criteria, criteria, criteria)
def test_grouping_does_not_matter(a, b, c):
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)


@given(criteria, race_views)
def test_a_criterion_is_met_when_its_limit_is_spent(criterion, race):
    if criterion.limit is not None and race.spent >= criterion.limit:
        assert criterion.met(race)


@given(criteria)
@example(Budget(3) | TimeLimit(2))
@example(Budget(3) & (TimeLimit(2) | Exhausted()) & When(is_odd))
def test_the_repr_of_a_criterion_evaluates_to_it(criterion):
    assume(When(is_odd, as_far_as_twenty) not in criterion.leaves())  # the repr does not show `progress`
    names = {c.__name__: c for c in (Budget, TimeLimit, Confidence, Exhausted, When)} | {"is_odd": is_odd}
    assert eval(repr(criterion), names) == criterion  # noqa: S307 - our own text


def test_the_repr_of_a_function_does_not_show_its_progress():
    assert repr(When(is_odd, as_far_as_twenty)) == repr(When(is_odd)) == "When(is_odd)"


@given(criteria, race_views)
def test_the_reason_is_that_of_a_part_that_is_met(criterion, race):
    if criterion.met(race):
        reasons = {leaf.reason(race) for leaf in criterion.leaves() if leaf.met(race)}
        assert criterion.reason(race) in reasons | {"rule"}
        if isinstance(criterion, AnyOf) and not any(isinstance(part, AllOf) for part in criterion.criteria):
            assert criterion.reason(race) == next(part for part in criterion.criteria if part.met(race)).reason(race)


def test_the_limit_of_a_criterion_follows_from_its_budgets():
    assert (Budget(100) | Budget(50) | TimeLimit(1)).limit == 50
    assert (Budget(100) & Budget(50)).limit == 100
    assert (Budget(100) & TimeLimit(1)).limit is None
    assert ((Budget(100) & Budget(200)) | TimeLimit(1)).limit == 200
    assert TimeLimit(1).limit is None


def test_and_or_and_not_are_refused_since_they_would_drop_one_side():
    for slip in (
        lambda: Budget(10) and TimeLimit(1),
        lambda: Budget(10) or TimeLimit(1),
        lambda: not Budget(10),
    ):
        with pytest.raises(TypeError, match="Compose criteria with & and "):
            slip()


@pytest.mark.parametrize("other", [None, 3, is_odd])
def test_a_criterion_is_composed_with_criteria_only(other):
    with pytest.raises(TypeError):
        Budget(10) | other
    with pytest.raises(TypeError):
        Budget(10) & other


@pytest.mark.parametrize(
    ("kind", "wrong", "parameter"),
    [
        (Budget, {"evaluations": 1}, "evaluations"),
        (Budget, {"evaluations": 10.0}, "evaluations"),
        (TimeLimit, {"seconds": 0}, "seconds"),
        (TimeLimit, {"seconds": float("inf")}, "seconds"),
        (Confidence, {"epsilon": -1.0}, "epsilon"),
        (Confidence, {"epsilon": 0.1, "delta": 1.0}, "delta"),
        (Confidence, {"epsilon": 0.1, "guarantee": "sure"}, "guarantee"),
        (When, {"function": 3}, "function"),
        (When, {"function": is_odd, "progress": 3}, "progress"),
    ],
)
def test_invalid_parameters_are_refused(kind, wrong, parameter):
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of {kind.__name__} must be"):
        kind(**wrong)


# What ends a race.


class Clock:
    """A clock that advances by a second whenever it is read."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        self.now += 1.0
        return self.now


def finish(race, game):
    while not race.done:
        race.tell(game(race.ask()))
    return race.result()


def test_a_time_limit_ends_the_race_after_the_batch_in_which_it_is_reached(counted):
    game = counted(SIMPLE_GAME)
    race = topshap.Race(12, 2, stop=TimeLimit(5), algorithm="cmcs", random_state=0, clock=Clock())
    top = finish(race, game)
    assert top.stopped == "time"
    assert len(game.batches) == 5
    assert top.budget is None
    assert "the time was up" in str(top)
    assert top.promise.startswith("No guarantee: the time was up; intervals and confidence are estimates")


def test_the_clock_of_a_race_starts_when_it_is_created():
    race = topshap.Race(4, 2, clock=Clock())
    assert [race.seconds, race.seconds] == [1.0, 2.0]


def test_a_time_limit_that_passes_at_once_leaves_two_evaluations():
    top = topshap.identify(SIMPLE_GAME, k=2, stop=TimeLimit(1e-9), random_state=0)
    assert (top.stopped, top.evaluations) == ("time", 2)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_budget_as_criterion_is_never_exceeded_and_the_same_as_the_parameter(random_game, algorithm):
    game, options = random_game(9), {"k": 3, "algorithm": algorithm, "random_state": 0}
    by_parameter = topshap.identify(game, budget=77, **options)
    by_criterion = topshap.identify(game, stop=Budget(77), **options)
    np.testing.assert_array_equal(by_parameter.estimates, by_criterion.estimates)
    assert (by_criterion.evaluations, by_criterion.budget, by_criterion.stopped) == (77, 77, "budget")
    either = topshap.identify(game, stop=Budget(77) | TimeLimit(600), **options)
    assert (either.evaluations, either.budget, either.stopped) == (77, 77, "budget")


def test_the_smaller_of_two_budgets_ends_the_race(random_game):
    options = {"k": 3, "random_state": 0}
    assert topshap.identify(random_game(9), budget=50, stop=Budget(77), **options).evaluations == 50
    assert topshap.identify(random_game(9), budget=90, stop=Budget(77), **options).evaluations == 77


@pytest.mark.parametrize("algorithm", ["cmcs", "cmcs@k", "greedy-cmcs", "samplingshap@k"])
@pytest.mark.parametrize("guarantee", ["published", "credible"])
def test_confidence_as_criterion_is_the_same_as_the_parameters(algorithm, guarantee):
    options = {"k": 2, "algorithm": algorithm, "random_state": 0}
    promise = {"epsilon": 0.3, "delta": 0.1, "guarantee": guarantee}
    by_parameter = topshap.identify(SIMPLE_GAME, **promise, **options)
    by_criterion = topshap.identify(SIMPLE_GAME, stop=Confidence(**promise), **options)
    assert by_parameter.stopped == by_criterion.stopped == "confident"
    np.testing.assert_array_equal(by_parameter.estimates, by_criterion.estimates)
    for top in (by_parameter, by_criterion):
        assert (top.epsilon, top.delta) == (0.3, 0.1)
    assert by_parameter.guarantee == by_criterion.guarantee


def test_confidence_and_budget_ends_a_race_when_both_are_met():
    options = {"k": 2, "algorithm": "cmcs", "random_state": 0}
    sure = Confidence(epsilon=0.3, guarantee="published")
    alone = topshap.identify(SIMPLE_GAME, stop=sure, **options)
    later = topshap.identify(SIMPLE_GAME, stop=sure & Budget(alone.evaluations + 100), **options)
    assert alone.stopped == later.stopped == "confident"
    assert later.evaluations >= alone.evaluations + 100


def test_a_race_refuses_different_confidence_criteria():
    with pytest.raises(ParameterError, match="The 'stop' parameter of identify must be such that all confidence"):
        topshap.identify(SIMPLE_GAME, k=2, epsilon=0.1, stop=Confidence(0.2) & Budget(100))
    with pytest.raises(ParameterError, match="all confidence criteria of a race have the same epsilon"):
        topshap.identify(SIMPLE_GAME, k=2, stop=Confidence(0.2) | Confidence(0.2, guarantee="credible"))
    race = topshap.Race(12, k=2, epsilon=0.2, stop=Confidence(0.2) & Budget(100))
    assert race.budget is None


def test_a_race_is_exact_once_all_coalitions_are_known_even_if_calls_are_counted(random_game):
    top = topshap.identify(random_game(4), k=2, counting="calls", stop=Exhausted(), random_state=0)
    assert (top.stopped, top.evaluations) == ("exact", 16)
    np.testing.assert_allclose(top.estimates, random_game(4).shapley_values(), atol=1e-12)


def test_a_function_of_the_race_is_a_criterion(random_game):
    def precise(race):
        return race.calls > 100 and race.standing.std_errors.max() < 1.0

    top = topshap.identify(random_game(9), k=3, stop=precise, random_state=0)
    assert top.stopped == "rule"
    assert top.calls > 100
    assert top.std_errors.max() < 1.0
    assert "precise) was met" in top.promise
    assert topshap.identify(random_game(9), k=3, stop=When(precise), random_state=0).evaluations == top.evaluations


class Often(Criterion):
    """A custom criterion with only the required method."""

    def met(self, race):
        return bool(race.standing.counts.min() >= 3)


def test_a_custom_criterion_needs_only_met(random_game):
    race = topshap.Race(9, 3, stop=Often() | Budget(500), algorithm="cmcs", random_state=0)
    top = finish(race, random_game(9))
    assert top.stopped == "rule"
    assert race.standing.counts.tolist() == [3.0] * 9


def test_an_error_in_a_custom_function_is_raised_and_the_race_can_continue(random_game):
    broken = [True]

    def stop(race):
        if broken:
            raise ZeroDivisionError("in the function")
        return race.evaluations > 50

    game, race = random_game(9), topshap.Race(9, 3, stop=stop, random_state=0)
    with pytest.raises(ZeroDivisionError, match="in the function"):
        race.tell(game(race.ask()))
    broken.clear()
    top = finish(race, game)
    whole = topshap.identify(game, k=3, stop=lambda race: race.evaluations > 50, random_state=0)
    np.testing.assert_array_equal(top.estimates, whole.estimates)
    assert top.evaluations == whole.evaluations > 50


@pytest.mark.parametrize("wrong", [3, "time", TimeLimit, [Budget(10)]])
def test_an_invalid_stop_is_refused(wrong):
    with pytest.raises(ParameterError, match="The 'stop' parameter of identify must be a Criterion, a function"):
        topshap.identify(SIMPLE_GAME, k=2, stop=wrong)


@pytest.mark.parametrize("algorithm", ["auto", *sorted(set(ALGORITHMS) - PLANS_AHEAD)])
def test_a_race_ends_at_the_latest_when_all_coalitions_are_known(random_game, counted, algorithm):
    game = counted(random_game(5))
    top = topshap.identify(game, k=2, stop=lambda race: False, algorithm=algorithm, random_state=0)
    assert (top.stopped, top.evaluations, len(game.asked), top.budget) == ("exact", 32, 32, None)


@pytest.mark.parametrize("algorithm", sorted(PLANS_AHEAD))
def test_an_algorithm_that_plans_for_a_budget_needs_one(random_game, algorithm):
    options = {"k": 2, "algorithm": algorithm, "random_state": 0}
    with pytest.raises(ParameterError, match="The 'budget' parameter of identify must be given with algorithm"):
        topshap.identify(random_game(7), stop=TimeLimit(60), **options)
    assert topshap.identify(random_game(7), stop=TimeLimit(60) | Budget(40), **options).evaluations == 40
    assert topshap.identify(random_game(7), stop=TimeLimit(60), budget=40, **options).evaluations == 40


def test_the_first_of_budget_confidence_and_criterion_ends_the_race(random_game):
    options = {"k": 2, "algorithm": "cmcs@k", "guarantee": "published", "random_state": 0}

    def stopped(**ends):
        return topshap.identify(SIMPLE_GAME, **options, **ends).stopped

    assert stopped(epsilon=0.3, budget=100, stop=TimeLimit(600)) == "budget"
    assert stopped(epsilon=0.3, budget=4000, stop=TimeLimit(600)) == "confident"
    assert stopped(epsilon=1e-3, budget=4000, stop=TimeLimit(1e-9)) == "time"
    assert stopped(epsilon=1e-3, budget=4000, stop=lambda race: race.calls > 50) == "rule"


# Completion.


@pytest.mark.parametrize(
    "ends",
    [
        {"budget": 300},
        {"epsilon": 0.3, "guarantee": "published"},
        {"epsilon": 0.3, "guarantee": "credible"},
        {"epsilon": 0.3, "guarantee": "published", "budget": 500},
        {"stop": Budget(100) & Confidence(0.3, guarantee="published")},
        {"stop": TimeLimit(30)},
        {"stop": Exhausted(), "counting": "calls", "budget": 600},
    ],
)
def test_completion_starts_at_0_and_is_1_when_the_race_is_done(ends):
    race = topshap.Race(12, 2, algorithm="cmcs@k", random_state=0, clock=Clock(), **ends)
    assert race.completion == 0.0
    while not race.done:
        race.tell(SIMPLE_GAME(race.ask()))
        assert race.completion == 1.0 if race.done else 0.0 <= race.completion <= 1.0


def test_completion_of_a_fixed_budget_is_the_part_spent():
    race = topshap.Race(12, 2, budget=300, algorithm="bus", random_state=0)
    while not race.done:
        race.tell(SIMPLE_GAME(race.ask()))
        assert race.completion == pytest.approx(race.evaluations / 300)


def test_completion_is_at_least_the_part_of_coalitions_that_are_known(random_game):
    race = topshap.Race(5, 2, epsilon=0.0, algorithm="cmcs", guarantee="published", random_state=0)
    while not race.done:
        race.tell(random_game(5)(race.ask()))
        assert race.completion >= race.evaluations / 32


@pytest.mark.parametrize("guarantee", ["published", "credible"])
def test_completion_of_a_confidence_criterion_grows_with_evaluations(guarantee):
    race = topshap.Race(12, 2, epsilon=0.05, guarantee=guarantee, algorithm="cmcs", random_state=0)
    done = []
    while not race.done:
        race.tell(SIMPLE_GAME(race.ask()))
        done.append(race.completion)
    half = len(done) // 2
    assert np.mean(done[:half]) < np.mean(done[half:])
