"""identify: its parameters, its errors and their messages, and its random numbers."""

import re

import numpy as np
import pandas as pd
import pytest

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import EvaluationError, GameError, ParameterError
from topshap.reference.exact import shapley_values


def never(coalitions):
    pytest.fail("The game was called although a parameter is wrong.")


def additive(coalitions):
    return np.where(coalitions, [3.0, 1.0, 2.0, 0.0], 0.0).sum(axis=1)


# Errors before the game is called.


WRONG = [
    ({"k": 0}, "'k'", "an int in [1, 4]", "0"),
    ({"k": 5}, "'k'", "an int in [1, 4]", "5"),
    ({"k": -1}, "'k'", "an int in [1, 4]", "-1"),
    ({"k": None}, "'k'", "an int in [1, 4]", "None"),
    ({"k": True}, "'k'", "an int in [1, 4]", "True"),
    ({"k": np.True_}, "'k'", "an int in [1, 4]", "True"),
    ({"k": 2.0}, "'k'", "an int in [1, 4]", "2.0"),
    ({"k": "2"}, "'k'", "an int in [1, 4]", "'2'"),
    ({"n_players": None}, "'n_players'", "given, since the game has no attribute 'n_players'", "None"),
    ({"n_players": 0}, "'n_players'", "an int of at least 1", "0"),
    ({"n_players": 4.0}, "'n_players'", "an int of at least 1", "4.0"),
    ({"n_players": True}, "'n_players'", "an int of at least 1", "True"),
    ({"budget": 0}, "'budget'", "an int of at least 2", "0"),
    ({"budget": 1}, "'budget'", "an int of at least 2", "1"),
    ({"budget": -5}, "'budget'", "an int of at least 2", "-5"),
    ({"budget": 10.5}, "'budget'", "an int of at least 2", "10.5"),
    ({"budget": True}, "'budget'", "an int of at least 2", "True"),
    ({"epsilon": -0.1}, "'epsilon'", "a finite number of at least 0", "-0.1"),
    ({"epsilon": float("nan")}, "'epsilon'", "a finite number of at least 0", "nan"),
    ({"epsilon": float("inf")}, "'epsilon'", "a finite number of at least 0", "inf"),
    ({"epsilon": "0.1"}, "'epsilon'", "a finite number of at least 0", "'0.1'"),
    ({"epsilon": True}, "'epsilon'", "a finite number of at least 0", "True"),
    ({"delta": 0.0}, "'delta'", "a number between 0 and 1", "0.0"),
    ({"delta": 1e-300}, "'delta'", "at least 1e-100", "1e-300"),
    ({"delta": 1}, "'delta'", "a number between 0 and 1", "1"),
    ({"delta": -0.05}, "'delta'", "a number between 0 and 1", "-0.05"),
    ({"delta": float("nan")}, "'delta'", "a number between 0 and 1", "nan"),
    ({"delta": None}, "'delta'", "a number between 0 and 1", "None"),
    ({"algorithm": "cmsc"}, "'algorithm'", "'cmcs'", "'cmsc'"),
    ({"algorithm": None}, "'algorithm'", "'cmcs'", "None"),
    ({"algorithm": ["cmcs"]}, "'algorithm'", "'cmcs'", "['cmcs']"),
    ({"algorithm": topshap.algorithms.CMCS}, "'algorithm'", "an Algorithm", "CMCS"),
    ({"algorithm": "kernelshap", "epsilon": 0.1}, "'algorithm'", "stop by itself", "'kernelshap'"),
    ({"algorithm": "cmcs@k", "epsilon": 0.1, "guarantee": "exact"}, "'algorithm'", "guarantee='exact'", "'cmcs@k'"),
    ({"guarantee": "certain"}, "'guarantee'", "'asymptotic', 'credible', 'exact' or 'published'", "'certain'"),
    ({"guarantee": True}, "'guarantee'", "'asymptotic', 'credible', 'exact' or 'published'", "True"),
    ({"value_range": (1.0, 0.0)}, "'value_range'", "a pair of finite numbers", "(1.0, 0.0)"),
    ({"value_range": (0.0, 0.0)}, "'value_range'", "with low < high", "(0.0, 0.0)"),
    ({"value_range": (0.0, float("inf"))}, "'value_range'", "a pair of finite numbers", "(0.0, inf)"),
    ({"value_range": (float("nan"), 1.0)}, "'value_range'", "a pair of finite numbers", "(nan, 1.0)"),
    ({"value_range": (0.0, 1.0, 2.0)}, "'value_range'", "a pair of finite numbers", "(0.0, 1.0, 2.0)"),
    ({"value_range": "01"}, "'value_range'", "a pair of finite numbers", "'01'"),
    ({"value_range": 1.0}, "'value_range'", "a pair of finite numbers", "1.0"),
    ({"epsilon": 0.1, "guarantee": "exact", "counting": "calls"}, "'value_range'", "given for guarantee", "None"),
    (
        {"epsilon": 0.1, "guarantee": "exact", "n_players": 31, "budget": None},
        "'value_range'",
        "with more than 30 players and no budget",
        "None",
    ),
    (
        {"epsilon": 0.1, "guarantee": "credible", "algorithm": "kernelshap", "budget": None},
        "'budget'",
        "given with algorithm 'kernelshap'",
        "None",
    ),
    ({"counting": "unique"}, "'counting'", "'distinct' or 'calls'", "'unique'"),
    ({"counting": None}, "'counting'", "'distinct' or 'calls'", "None"),
    ({"player_names": ["a", "b", "c"]}, "'player_names'", "one name for each of the 4 players", "['a', 'b', 'c']"),
    ({"player_names": "abcd"}, "'player_names'", "one name for each of the 4 players", "'abcd'"),
    ({"player_names": list("abca")}, "'player_names'", "'a' occurs more than once", "['a', 'b', 'c', 'a']"),
    ({"player_names": 4}, "'player_names'", "one name for each of the 4 players", "4"),
    ({"random_state": -1}, "'random_state'", "an int of at least 0", "-1"),
    ({"random_state": "zero"}, "'random_state'", "a numpy Generator", "'zero'"),
    ({"random_state": 0.5}, "'random_state'", "a numpy Generator", "0.5"),
    ({"n_jobs": 0}, "'n_jobs'", "an int other than 0, or None", "0"),
    ({"n_jobs": 1.5}, "'n_jobs'", "an int other than 0, or None", "1.5"),
    ({"store": 3}, "'store'", "a path, a Store or None", "3"),
    ({"store": "run.db"}, "'store'", "Store(path, game='my-game-v1')", "'run.db'"),
    ({"callback": 3}, "'callback'", "a function of the race or None", "3"),
    ({"on_interrupt": "stop"}, "'on_interrupt'", "'return' or 'raise'", "'stop'"),
]


@pytest.mark.parametrize(("wrong", "parameter", "right", "value"), WRONG, ids=[str(case[0]) for case in WRONG])
def test_the_error_about_an_invalid_parameter_has_its_name_its_value_and_valid_values(wrong, parameter, right, value):
    with pytest.raises(ParameterError) as refusal:
        topshap.identify(never, **({"n_players": 4, "k": 2, "budget": 10} | wrong))
    message = str(refusal.value)
    assert message.startswith(f"The {parameter} parameter of identify must be ")
    assert right in message
    assert re.search(rf"Got .*{re.escape(value)}.* instead\.( Did you mean '[\w@-]+'\?)?$", message)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("budget", [0, 1])
def test_a_budget_below_two_is_refused_before_the_game_is_called(algorithm, budget):
    for counting in ("distinct", "calls"):
        with pytest.raises(ParameterError, match=rf"'budget' .* an int of at least 2\. Got {budget} instead"):
            topshap.identify(never, 4, k=2, budget=budget, algorithm=algorithm, counting=counting)


@pytest.mark.parametrize("game", [None, 3, "game", np.zeros(16)])
def test_a_game_that_cannot_be_called_is_refused(game):
    with pytest.raises(ParameterError, match=r"The 'game' parameter of identify must be a callable"):
        topshap.identify(game, 4, k=2)


def test_the_error_about_an_unknown_algorithm_lists_all_algorithms():
    with pytest.raises(ParameterError) as refusal:
        topshap.identify(never, 4, k=2, algorithm="shap")
    assert all(repr(name) in str(refusal.value) for name in ["auto", *ALGORITHMS])


# Invalid values.


def spoiled(value, coalition):
    """Return the additive game with the value of one coalition replaced."""

    def game(coalitions):
        values = additive(coalitions)
        values[(coalitions == coalition).all(axis=1)] = value
        return values

    return game


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_error_about_a_value_that_is_not_finite_names_the_coalition(value):
    game = spoiled(value, [True, True, True, False])
    with pytest.raises(GameError, match=rf"a finite number. Got {value} for \{{0, 1, 2\}} instead"):
        topshap.identify(game, 4, k=2)
    with pytest.raises(GameError, match=rf"Got {value} for \{{age, sex, bmi\}} instead"):
        topshap.identify(game, 4, k=2, player_names=["age", "sex", "bmi", "bp"])


async def _awaited(coalitions):
    return additive(coalitions)


class _AsyncGame:
    n_players = 4

    async def __call__(self, coalitions):
        return additive(coalitions)


ASYNC_GAMES = {
    "function": _awaited,
    "object": _AsyncGame(),
    "of one coalition": topshap.games.per_coalition(_awaited, n_players=4),
    "text": topshap.games.TextGame(_awaited, "to be or not"),
    "oracle": topshap.Oracle(_awaited),
}


@pytest.mark.parametrize("kind", ASYNC_GAMES)
def test_the_error_about_an_async_game_names_aidentify(kind):
    with pytest.raises(ParameterError, match="'game' parameter of identify must be a synchronous function"):
        topshap.identify(ASYNC_GAMES[kind], 4, k=2)


@pytest.mark.parametrize("value", [1e301, -1.7e308])
def test_a_value_whose_sums_overflow_is_refused(value):
    with pytest.raises(GameError, match=r"a finite number in \[-1e\+300, 1e\+300\]. Got .* for \{0, 1, 2\} instead"):
        topshap.identify(spoiled(value, [True, True, True, False]), 4, k=2)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_large_values_give_the_same_result_up_to_scale(random_game, algorithm):
    game = random_game(6)
    scale = 2.0**246
    small, large = (
        topshap.identify(lambda c, s=s: s * game(c), 6, k=2, budget=50, algorithm=algorithm, random_state=0)
        for s in (1.0, scale)
    )
    np.testing.assert_allclose(large.estimates / scale, small.estimates, rtol=1e-6)
    np.testing.assert_allclose(large.std_errors / scale, small.std_errors, rtol=1e-6)


WRONG_SHAPES = {
    "a column": (lambda c: additive(c)[:, None], "(2, 1)"),
    "one too many": (lambda c: np.zeros(len(c) + 1), "(3,)"),
    "one too few": (lambda c: additive(c)[1:], "(1,)"),
    "a number": (lambda c: 1.0, "()"),
    "nothing": (lambda c: None, "()"),
    "text": (lambda c: "text", "()"),
    "a dict": (lambda c: {"value": 1.0}, "()"),
    "ragged lists": (lambda c: [[1.0], [2.0, 3.0]], "shape"),
}


@pytest.mark.parametrize("kind", WRONG_SHAPES)
def test_the_error_about_values_of_the_wrong_shape_names_both_shapes(kind):
    game, got = WRONG_SHAPES[kind]
    with pytest.raises(GameError, match=r"one number per coalition, an array of shape \(2,\)") as refusal:
        topshap.identify(game, 4, k=2)
    assert got in str(refusal.value).partition("Got")[2]


def test_the_error_about_a_function_of_one_coalition_names_per_coalition():
    with pytest.raises(GameError, match=r"Use topshap.games.per_coalition for a function of one coalition\.$"):
        topshap.identify(lambda coalition: float(np.sum(coalition)), 4, k=2)


NO_NUMBERS = {
    "strings": lambda c: np.array(["1.0"] * len(c)),
    "complex": lambda c: additive(c) + 0j,
    "None": lambda c: [None] * len(c),
    "objects": lambda c: additive(c).astype(object),
    "dates": lambda c: np.zeros(len(c), dtype="M8[s]"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_the_error_about_a_value_that_is_not_a_real_number_names_the_coalition(kind):
    with pytest.raises(GameError, match=r"real numbers.*for \{\}"):
        topshap.identify(NO_NUMBERS[kind], 4, k=2, player_names=list("abcd"))


def test_a_masked_value_is_missing():
    def game(coalitions):
        return np.ma.masked_array(additive(coalitions), mask=coalitions.all(axis=1))

    with pytest.raises(GameError):
        topshap.identify(game, 4, k=2)


def test_an_error_in_the_game_names_the_coalition_and_is_the_cause():
    def game(coalitions):
        raise ZeroDivisionError("in the model")

    oracle = topshap.Oracle(game, retries=0)
    with pytest.raises(EvaluationError, match=r"\{\} could not be evaluated in 1 attempt.*in the model") as raised:
        topshap.identify(oracle, 4, k=2)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert raised.value.coalition.tolist() == [False] * 4


# Valid games.


@pytest.mark.parametrize(
    "kind", [list, tuple, pd.Series, np.float32, np.int8, np.uint64, lambda v: v > 2, lambda v: [int(x) for x in v]]
)
def test_any_one_dimensional_sequence_of_real_numbers_is_accepted(kind):
    def game(coalitions):
        values = additive(coalitions)
        return values.astype(kind) if isinstance(kind, type) and issubclass(kind, np.generic) else kind(values)

    top = topshap.identify(game, 4, k=2, random_state=0)
    np.testing.assert_allclose(top.estimates, shapley_values(lambda c: np.asarray(game(c), dtype=float), 4))


def test_the_game_is_called_with_bool_rows_of_all_players(random_game, counted):
    game = counted(random_game(7))
    topshap.identify(game, k=2, budget=50, random_state=0)
    assert all(batch.dtype == np.bool_ and batch.shape[1] == 7 for batch in game.batches)


def test_a_game_may_modify_the_coalitions_it_gets(random_game):
    table = random_game(7)

    def game(coalitions):
        values = table(coalitions.copy())
        coalitions[:] = False
        return values

    spoiling = topshap.identify(game, 7, k=2, budget=90, random_state=0)
    np.testing.assert_array_equal(spoiling.estimates, topshap.identify(table, k=2, budget=90, random_state=0).estimates)


def test_the_number_of_players_and_their_names_come_from_the_game():
    game = topshap.games.TableGame(np.arange(8.0), player_names=["age", "sex", "bmi"])
    top = topshap.identify(game, k=1)
    assert top.n_players == 3
    assert top.names == ("bmi",)


def test_player_names_override_those_of_the_game():
    game = topshap.games.TableGame(np.arange(8.0), player_names=["age", "sex", "bmi"])
    assert topshap.identify(game, k=1, player_names=["a", "b", "c"]).names == ("c",)


def test_a_game_with_the_wrong_number_of_names_is_refused():
    def game(coalitions):
        return never(coalitions)

    game.n_players, game.player_names = 4, ["a", "b"]  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="one name for each of the 4 players"):
        topshap.identify(game, k=2)


def test_numpy_integers_are_accepted_as_integers():
    top = topshap.identify(additive, np.int64(4), np.int32(2), budget=np.int64(10), random_state=np.int64(3))
    assert top.players.tolist() == [0, 2]
    assert type(top.budget) is int


# Defaults.


def test_auto_enumerates_games_within_the_budget_and_selects_an_algorithm_otherwise(random_game):
    def chosen(n, **options):
        return topshap.identify(random_game(n), k=2, random_state=0, **options).algorithm

    assert chosen(5) == "enumeration"
    assert chosen(10) == "odd-gp"
    assert chosen(10, budget=100) == "odd-gp"
    assert chosen(10, epsilon=0.5) == "odd-gp@k"
    assert chosen(5, counting="calls") == "odd-gp"
    assert chosen(5, stop=topshap.stopping.TimeLimit(60.0)) == "greedy-cmcs"


def test_the_default_budget_is_reported(random_game):
    top = topshap.identify(random_game(10), k=2, random_state=0)
    assert (top.budget, top.evaluations, top.stopped) == (500, 500, "budget")


# Races that stop by themselves.


PUBLISHED = ["cmcs", "cmcs@k", "greedy-cmcs", "samplingshap@k"]


@pytest.mark.parametrize(
    ("algorithm", "guarantee"), [("auto", "asymptotic"), *[(algorithm, "published") for algorithm in PUBLISHED]]
)
def test_a_run_with_epsilon_stops_by_itself_with_the_right_set(algorithm, guarantee):
    game = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)
    top = topshap.identify(game, k=2, epsilon=0.3, algorithm=algorithm, guarantee=guarantee, random_state=0)
    assert (top.stopped, top.guarantee) == ("confident", guarantee)
    assert set(top.players) == {0, 1}
    assert (top.budget, top.epsilon, top.delta) == (None, 0.3, 0.05)
    assert top.evaluations < 2**12


def test_a_run_with_epsilon_and_a_budget_ends_at_whichever_comes_first(random_game):
    game = random_game(10)
    assert topshap.identify(game, k=2, epsilon=1e-3, budget=400, random_state=0).stopped == "budget"
    assert topshap.identify(game, k=2, epsilon=5.0, budget=1000, random_state=0).stopped == "confident"


def test_a_run_with_a_tie_at_the_border_ends_when_all_coalitions_are_known():
    game = topshap.games.AllOrNothingGame(6)
    top = topshap.identify(game, k=2, epsilon=0.0, random_state=0)
    assert (top.stopped, top.evaluations) == ("exact", 64)


def test_a_run_never_stops_by_itself_before_the_warm_up(random_game):
    for seed in range(5):
        options = {"epsilon": 100.0, "guarantee": "published", "algorithm": "cmcs"}
        top = topshap.identify(random_game(10), k=3, random_state=seed, **options)
        assert top.stopped == "confident"
        assert top.calls > 30 * 9


# Randomness.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_seed_gives_a_bit_identical_result(random_game, algorithm):
    game = random_game(8)

    def run(random_state):
        return topshap.identify(game, k=3, budget=100, algorithm=algorithm, random_state=random_state)

    first, again, other = run(7), run(7), run(8)
    np.testing.assert_array_equal(first.players, again.players)
    np.testing.assert_array_equal(first.estimates, again.estimates)
    np.testing.assert_array_equal(first.std_errors, again.std_errors)
    assert first.calls == again.calls
    assert not np.array_equal(first.estimates, other.estimates)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_global_random_state_is_neither_used_nor_changed(random_game, algorithm):
    game, results = random_game(8), []
    for seed in (1, 2):
        np.random.seed(seed)
        before = np.random.get_state()
        top = topshap.identify(game, k=3, budget=100, algorithm=algorithm, random_state=0)
        str(top)
        after = np.random.get_state()
        np.testing.assert_array_equal(before[1], after[1])
        assert before[2:] == after[2:]
        results.append(top.estimates)
    np.testing.assert_array_equal(*results)


def test_a_generator_is_used_directly_and_advances(random_game):
    game, options = random_game(8), {"k": 3, "budget": 100}
    rng = np.random.default_rng(5)
    first, second = (topshap.identify(game, random_state=rng, **options).estimates for _ in range(2))
    np.testing.assert_array_equal(first, topshap.identify(game, random_state=5, **options).estimates)
    assert not np.array_equal(first, second)


def test_without_a_seed_runs_differ(random_game):
    first, second = (topshap.identify(random_game(8), k=3, budget=100).estimates for _ in range(2))
    assert not np.array_equal(first, second)
