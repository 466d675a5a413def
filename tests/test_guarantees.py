"""The guarantees of races that stop by themselves."""

import numpy as np
import pytest

import topshap
from topshap.algorithms import ALGORITHMS, Algorithm, Round
from topshap.core.errors import GameError, ParameterError
from topshap.core.standing import FittedStanding
from topshap.core.stopping import GUARANTEES, Confidence, SeparatedBorder

GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)


class Bounded(FittedStanding):
    """A standing whose lowest bound is given."""

    bound = -1.0

    def worst_bound(self):
        return self.bound


class Bounds(Algorithm):
    """An algorithm without estimates, whose bound rises by 0.1 with every coalition."""

    name = "bounds"
    guarantees = GUARANTEES

    def standing(self, problem):
        self.problem = problem
        return Bounded(problem.tie_order, np.zeros(problem.n))

    def rounds(self, problem, standing):
        def add(values):
            standing.bound += 0.1 * len(values)

        for size in range(1, problem.n):
            yield Round(np.arange(problem.n)[None] < size, add)

    def stopping_rule(self, problem):
        return SeparatedBorder(problem.epsilon, problem.guarantee)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_algorithm_gets_epsilon_delta_guarantee_and_range(guarantee):
    algorithm = Bounds()
    options = {"epsilon": 0.25, "delta": 0.2, "guarantee": guarantee, "value_range": [0, 5]}
    topshap.identify(GAME, k=2, algorithm=algorithm, **options)
    problem = algorithm.problem
    assert (problem.epsilon, problem.delta, problem.guarantee) == (0.25, 0.2, guarantee)
    assert problem.value_range == (0.0, 5.0)


def test_a_race_for_a_fixed_budget_has_no_guarantee():
    algorithm = Bounds()
    topshap.identify(GAME, k=2, algorithm=algorithm, budget=8, delta=0.2)
    problem = algorithm.problem
    assert (problem.epsilon, problem.delta, problem.value_range) == (None, None, None)


def test_a_race_with_bounds_stops_as_soon_as_they_are_at_least_minus_epsilon():
    top = topshap.identify(GAME, k=2, algorithm=Bounds(), epsilon=0.45)
    assert (top.stopped, top.evaluations) == ("confident", 2 + 6)


def test_the_error_about_a_value_outside_the_range_names_the_coalition():
    def game(coalitions):
        return coalitions.sum(axis=1) / 3.0

    assert topshap.identify(game, 3, k=1, value_range=(0.0, 1.0)).stopped == "exact"
    with pytest.raises(GameError, match=r"value_range \(0.0, 0.9\). Got 1.0 for \{0, 1, 2\} instead"):
        topshap.identify(game, 3, k=1, value_range=(0.0, 0.9))
    with pytest.raises(GameError, match=r"value_range \(0.1, 1.0\). Got 0.0 for \{\} instead"):
        topshap.identify(game, 3, k=1, value_range=(0.1, 1.0), player_names=list("abc"))


def test_values_outside_the_range_leave_the_race_unchanged():
    race = topshap.Race(3, 1, value_range=(0.0, 1.0))
    with pytest.raises(GameError):
        race.tell([0.0, 1.5])
    assert race.evaluations == 0
    race.tell([0.0, 1.0])
    assert race.evaluations == 2


def test_an_exact_guarantee_without_a_range_evaluates_all_coalitions(random_game):
    game = random_game(6)
    top = topshap.identify(game, k=2, epsilon=0.1, guarantee="exact", random_state=0)
    assert (top.stopped, top.evaluations) == ("exact", 64)


def test_an_exact_guarantee_for_varying_values_needs_a_range():
    with pytest.raises(ParameterError, match="The 'value_range' parameter of Race must be given"):
        topshap.Race(3, 2, epsilon=0.1, guarantee="exact", deterministic=False)


CREDIBLE = [name for name, algorithm in ALGORITHMS.items() if "credible" in algorithm.guarantees]


@pytest.mark.parametrize("algorithm", CREDIBLE)
def test_the_credible_rule_works_with_every_algorithm(algorithm):
    options = {"epsilon": 0.3, "delta": 0.05, "guarantee": "credible", "budget": 3500}
    top = topshap.identify(GAME, k=2, algorithm=algorithm, random_state=0, **options)
    assert top.stopped in ("confident", "budget")
    assert set(top.players) == {0, 1}
    if algorithm in ("cmcs", "greedy-cmcs", "cmcs@k", "approshapley", "samplingshap@k", "stratified-svarm"):
        assert (top.stopped, top.evaluations < 3500) == ("confident", True)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_error_about_an_unsupported_guarantee_names_the_algorithms_that_support_it(name, guarantee):
    able = [name for name, algorithm in ALGORITHMS.items() if guarantee in algorithm.guarantees]
    options = {"epsilon": 0.3, "guarantee": guarantee, "budget": 100, "value_range": (0.0, 4.5)}
    if name in able:
        topshap.identify(GAME, k=2, algorithm=name, **options)
        return
    with pytest.raises(ParameterError, match=f"stop by itself with guarantee='{guarantee}'") as refusal:
        topshap.identify(GAME, k=2, algorithm=name, **options)
    assert all(repr(other) in str(refusal.value) for other in able)


# The published rule.

PUBLISHED = ["cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k"]


def test_the_published_rule_is_not_an_asymptotic_guarantee():
    assert [name for name, algorithm in ALGORITHMS.items() if "published" in algorithm.guarantees] == PUBLISHED
    assert not any("asymptotic" in ALGORITHMS[name].guarantees for name in PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("as_criterion", [False, True])
def test_an_explicit_asymptotic_guarantee_is_refused_by_algorithms_with_only_the_published_rule(name, as_criterion):
    promise = {"epsilon": 0.3, "guarantee": "asymptotic"}
    options = {"stop": Confidence(**promise)} if as_criterion else promise
    with pytest.raises(ParameterError, match=f"{name}' takes guarantee='published'") as refusal:
        topshap.Race(9, 2, algorithm=name, **options)
    assert "'odd-gp@k', 'swap@k'" in str(refusal.value)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("as_criterion", [False, True])
def test_the_published_rule_by_default_issues_a_warning_that_says_what_to_pass(name, as_criterion):
    options = {"k": 2, "algorithm": name, "random_state": 0}
    promise = {"stop": Confidence(0.3)} if as_criterion else {"epsilon": 0.3}
    with pytest.warns(topshap.PublishedRuleWarning, match=f"published rule of '{name}'.*guarantee='published'") as seen:
        top = topshap.identify(GAME, **promise, **options)
    assert [warning.filename for warning in seen] == [__file__]
    asked_for = topshap.identify(GAME, epsilon=0.3, guarantee="published", **options)
    assert top.guarantee == asked_for.guarantee == "published"
    np.testing.assert_array_equal(top.estimates, asked_for.estimates)


def test_the_default_guarantee_is_asymptotic_where_the_algorithm_supports_it():
    for name in ("auto", "odd-gp@k", "swap@k"):
        top = topshap.identify(GAME, k=2, epsilon=0.3, algorithm=name, random_state=0)
        assert top.guarantee == "asymptotic"


def test_beyond_2000_players_an_asymptotic_guarantee_is_an_error_and_the_published_rule_a_warning():
    with pytest.raises(ParameterError, match=r"'guarantee' .* must be 'credible' or 'published' beyond 2000 players"):
        topshap.Race(2001, 2, epsilon=0.3, guarantee="asymptotic")
    with pytest.warns(topshap.PublishedRuleWarning, match="'cmcs@k'"):
        topshap.Race(2001, 2, epsilon=0.3)
    topshap.Race(2001, 2, epsilon=0.3, guarantee="published")
    topshap.Race(2001, 2, epsilon=0.3, guarantee="credible")
    topshap.Race(2000, 2, epsilon=0.3, guarantee="asymptotic")


def test_auto_runs_cmcs_at_k_with_the_published_rule():
    top = topshap.identify(GAME, k=2, epsilon=0.3, guarantee="published", random_state=0)
    assert (top.algorithm, top.guarantee, top.stopped) == ("cmcs@k", "published", "confident")


def test_the_error_of_an_algorithm_without_a_default_guarantee_names_the_supported_ones():
    with pytest.raises(ParameterError, match="'kernelshap' takes guarantee='credible'"):
        topshap.Race(9, 2, epsilon=0.3, algorithm="kernelshap", budget=100)


# No race evaluates more than all coalitions.

UNLIMITED = [
    (name, guarantee)
    for name, algorithm in ALGORITHMS.items()
    for guarantee in algorithm.guarantees
    if not algorithm.needs_budget
]


@pytest.mark.parametrize(("algorithm", "guarantee"), UNLIMITED)
def test_races_with_ties_end_with_a_correct_set_after_at_most_all_coalitions(counted, algorithm, guarantee):
    for game, k in ((topshap.games.AllOrNothingGame(5), 2), (topshap.games.AdditiveGame([1.0, 1.0, 0.0, 0.0]), 1)):
        asked = counted(game)
        options = {"epsilon": 0.0, "guarantee": guarantee, "algorithm": algorithm, "random_state": 0}
        top = topshap.identify(asked, k=k, **options)
        assert top.stopped in ("exact", "confident")
        assert len(set(asked.asked)) == len(asked.asked) == top.evaluations <= 2**game.n_players
        assert topshap.metrics.inclusion_exclusion_error(game.shapley_values(), top.players) < 1e-9


@pytest.mark.parametrize(("algorithm", "guarantee"), UNLIMITED)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_races_on_small_games_end_with_a_correct_set(random_game, counted, n, algorithm, guarantee):
    for k in range(1, n + 1):
        game = counted(random_game(n, seed=n))
        options = {"epsilon": 0.0, "guarantee": guarantee, "algorithm": algorithm, "random_state": 0}
        top = topshap.identify(game, k=k, **options)
        assert len(set(game.asked)) == len(game.asked) == top.evaluations <= 2**n
        assert top.stopped in ("exact", "confident")
        if top.stopped == "exact":
            assert topshap.metrics.inclusion_exclusion_error(game.game.shapley_values(), top.players) < 1e-9
