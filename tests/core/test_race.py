"""Race: the order of ask and tell, the coalitions of a batch, and the state of a race."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS, CMCS, Algorithm, Round
from topshap.core.coalitions import keys
from topshap.core.errors import GameError, ParameterError, RaceError, TopshapError
from topshap.core.limits import default_budget


def finish(race, game):
    while not race.done:
        race.tell(game(race.ask()))
    return race.result()


def test_the_first_batch_is_the_empty_and_the_grand_coalition():
    race = topshap.Race(4, 2, budget=10, random_state=0)
    np.testing.assert_array_equal(race.ask(), [[False] * 4, [True] * 4])


def test_asking_again_gives_the_same_coalitions(random_game):
    game, race = random_game(6), topshap.Race(6, 2, budget=40, random_state=0)
    while not race.done:
        first = race.ask().copy()
        np.testing.assert_array_equal(race.ask(), first)
        race.tell(game(first))


def test_changing_the_asked_coalitions_does_not_change_the_race(random_game):
    game, race = random_game(6), topshap.Race(6, 2, budget=40, random_state=0)
    while not race.done:
        asked = race.ask()
        before = asked.copy()
        with suppress(ValueError):  # a read-only array would do as well
            asked ^= True
        np.testing.assert_array_equal(race.ask(), before)
        race.tell(game(before))


def test_changing_told_values_afterwards_changes_nothing(random_game):
    game = random_game(6)
    race = topshap.Race(6, 2, budget=40, random_state=0)
    while not race.done:
        values = game(race.ask())
        race.tell(values)
        values[:] = np.nan
    expected = topshap.identify(game, k=2, budget=40, random_state=0)
    np.testing.assert_array_equal(race.result().estimates, expected.estimates)


@pytest.mark.parametrize("counting", ["distinct", "calls"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_coalition_is_asked_for_twice(random_game, algorithm, counting):
    game = random_game(6)
    race = topshap.Race(6, 2, budget=60, algorithm=algorithm, counting=counting, random_state=0)
    asked = []
    while not race.done:
        coalitions = race.ask()
        assert coalitions.dtype == np.bool_
        assert coalitions.shape == (len(coalitions), 6)
        assert len(coalitions) > 0
        asked += keys(coalitions)
        race.tell(game(coalitions))
    assert len(set(asked)) == len(asked) == race.evaluations


@pytest.mark.parametrize("counting", ["distinct", "calls"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=6)
@given(seed=st.integers(0, 99))
def test_evaluating_in_any_pieces_gives_the_same_result_to_the_bit(random_game, algorithm, counting, seed):
    game, cuts = random_game(7), np.random.default_rng(seed)
    options = {"k": 3, "budget": 90, "algorithm": algorithm, "counting": counting, "random_state": seed % 3}
    race = topshap.Race(7, **options)
    while not race.done:
        asked = race.ask()
        pieces = np.array_split(asked, int(cuts.integers(1, len(asked) + 1)))
        race.tell(np.concatenate([game(piece) for piece in pieces]))
    by_hand, at_once = race.result(), topshap.identify(game, **options)
    np.testing.assert_array_equal(by_hand.players, at_once.players)
    np.testing.assert_array_equal(by_hand.estimates, at_once.estimates)
    np.testing.assert_array_equal(by_hand.std_errors, at_once.std_errors)
    assert (by_hand.evaluations, by_hand.calls) == (at_once.evaluations, at_once.calls)
    assert by_hand.stopped == at_once.stopped


def test_a_race_that_has_not_started_has_no_standing_and_no_result():
    race = topshap.Race(4, 2, budget=10)
    assert not race.done
    assert (race.evaluations, race.calls, race.budget, race.stopped) == (0, 0, 10, None)
    with pytest.raises(RaceError, match="not started"):
        _ = race.standing
    with pytest.raises(RaceError, match="not started"):
        race.result()


def test_a_race_that_is_done_refuses_ask_and_tell(random_game):
    race = topshap.Race(5, 2, budget=12, random_state=0)
    top = finish(race, random_game(5))
    with pytest.raises(RaceError, match=r"over \(budget\)"):
        race.ask()
    with pytest.raises(RaceError, match=r"over \(budget\)"):
        race.tell([1.0])
    np.testing.assert_array_equal(race.result().estimates, top.estimates)


def test_results_can_be_read_while_a_race_runs(random_game):
    game, race = random_game(8), topshap.Race(8, 3, budget=100, algorithm="bus", random_state=0)
    spent = []
    while not race.done:
        race.tell(game(race.ask()))
        top = race.result()
        assert top.stopped == (race.stopped or "interrupted")
        np.testing.assert_array_equal(top.estimates, race.standing.estimates)
        np.testing.assert_array_equal(top.players, race.standing.ranking()[:3])
        spent.append(race.evaluations)
    assert spent[0] == 2
    assert spent[-1] == 100
    assert np.all(np.diff(spent) >= 0)


def test_a_result_taken_early_does_not_change_when_the_race_goes_on(random_game):
    game, race = random_game(8), topshap.Race(8, 3, budget=100, algorithm="bus", random_state=0)
    for _ in range(5):
        race.tell(game(race.ask()))
    early = race.result()
    players, estimates, errors = early.players.copy(), early.estimates.copy(), early.std_errors.copy()
    final = finish(race, game)
    np.testing.assert_array_equal(early.players, players)
    np.testing.assert_array_equal(early.estimates, estimates)
    np.testing.assert_array_equal(early.std_errors, errors)
    assert early.stopped == "interrupted"
    assert early.evaluations < final.evaluations
    assert not np.array_equal(early.estimates, final.estimates)


def test_reading_results_does_not_change_the_race(random_game):
    game = random_game(8)
    undisturbed = finish(topshap.Race(8, 3, budget=300, random_state=0), game)
    race = topshap.Race(8, 3, budget=300, random_state=0)
    while not race.done:
        race.tell(game(race.ask()))
        top = race.result()
        assert 0 <= top.confidence <= 1 or np.isnan(top.confidence)
        top.pairwise()
    np.testing.assert_array_equal(race.result().estimates, undisturbed.estimates)


def test_invalid_values_leave_the_race_unchanged(random_game):
    game, race = random_game(6), topshap.Race(6, 2, budget=40, random_state=0)
    undisturbed = topshap.identify(game, k=2, budget=40, random_state=0)
    while not race.done:
        asked = race.ask().copy()
        for wrong in (np.full(len(asked), np.nan), np.zeros(len(asked) + 1), None):
            with pytest.raises(GameError):
                race.tell(wrong)
        np.testing.assert_array_equal(race.ask(), asked)
        race.tell(game(asked))
    np.testing.assert_array_equal(race.result().estimates, undisturbed.estimates)


def test_an_invalid_value_is_reported_with_the_names_in_its_coalition():
    race = topshap.Race(2, 1, budget=3, player_names=["age", "bmi"])
    with pytest.raises(GameError, match=r"Got nan for \{age, bmi\}"):
        race.tell([0.0, np.nan])


def test_infinities_of_both_signs_are_refused_without_a_warning():
    with pytest.raises(GameError, match=r"Got inf for \{\}"):
        topshap.Race(2, 1, budget=3).tell([np.inf, -np.inf])


def test_every_error_is_a_topshap_error_and_a_builtin_error():
    for error, builtin in ((ParameterError, ValueError), (GameError, ValueError), (RaceError, RuntimeError)):
        assert issubclass(error, TopshapError)
        assert issubclass(error, builtin)


def test_an_invalid_parameter_is_reported_as_one_of_race():
    with pytest.raises(ParameterError, match=r"The 'k' parameter of Race must be an int in \[1, 4\]. Got 5 instead."):
        topshap.Race(4, 5)


def test_without_a_budget_there_are_fifty_evaluations_a_player_or_all_coalitions():
    assert [default_budget(n) for n in (1, 5, 8, 9, 14)] == [2, 32, 256, 450, 700]
    assert topshap.Race(14, 3).budget == 700
    assert topshap.Race(14, 3, epsilon=0.1).budget is None
    assert topshap.Race(14, 3, epsilon=0.1, budget=100).budget == 100


class Stubborn(Algorithm):
    """Yields the same round without end, and records how many values it gets."""

    name = "stubborn"

    def __init__(self):
        self.got = []

    def standing(self, problem):
        return problem.mean_standing()

    def rounds(self, problem, standing):
        while True:
            yield Round(np.eye(problem.n, dtype=bool), lambda values: self.got.append(len(values)))


def test_an_algorithm_gets_the_values_within_the_budget_and_is_not_resumed(random_game):
    algorithm = Stubborn()
    top = finish(topshap.Race(5, 2, budget=4, algorithm=algorithm), random_game(5))
    assert (top.evaluations, top.stopped, algorithm.got) == (4, "budget", [2])


class OneRound(Algorithm):
    """A custom algorithm that needs less than the budget."""

    name = "one-round"

    def standing(self, problem):
        return problem.mean_standing(pairs=False)

    def rounds(self, problem, standing):
        rows = np.asfortranarray(np.eye(problem.n, dtype=bool))
        yield Round(rows, lambda values: standing.add(values - problem.empty))


def test_a_custom_algorithm_is_named_in_the_result():
    game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 5.0], baseline=7.0)
    top = topshap.identify(game, k=2, budget=20, algorithm=OneRound())
    assert top.players.tolist() == [4, 0]
    assert (top.algorithm, top.evaluations, top.budget, top.stopped) == ("one-round", 7, 20, "finished")


def test_a_result_records_the_options_of_its_race(random_game):
    race = topshap.Race(5, 2, budget=9, algorithm=CMCS(), counting="calls", player_names=list("abcde"), random_state=0)
    top = finish(race, random_game(5))
    assert (top.algorithm, top.counting, top.budget, top.player_names) == ("cmcs", "calls", 9, tuple("abcde"))
    assert (top.epsilon, top.delta) == (None, None)
    assert top.empty == random_game(5).values[0]
    assert top.grand == random_game(5).values[-1]


# The arrays of a standing.


@pytest.mark.parametrize("rank_by", ["value", "lowest"])
@pytest.mark.parametrize("algorithm", ["cmcs", "cmcs@k", "greedy-cmcs", "swap@k", "kernelshap", "odd-gp", "bus"])
def test_arrays_of_the_standing_cannot_be_written_and_do_not_change(random_game, algorithm, rank_by):
    game, options = random_game(9), {"budget": 400, "algorithm": algorithm, "rank_by": rank_by, "random_state": 0}
    undisturbed = topshap.Race(9, 3, **options)
    while not undisturbed.done:
        undisturbed.tell(game(undisturbed.ask()))
    race = topshap.Race(9, 3, **options)
    seen = []
    while not race.done:
        race.tell(game(race.ask()))
        standing = race.standing
        for array in (standing.estimates, standing.std_errors, standing.counts, standing.covariance()):
            if array is not None:
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 99.0
                seen.append((array, array.copy()))
    for array, at_that_time in seen:
        np.testing.assert_array_equal(array, at_that_time)
    np.testing.assert_array_equal(race.result().estimates, undisturbed.result().estimates)
    np.testing.assert_array_equal(race.result().std_errors, undisturbed.result().std_errors)
