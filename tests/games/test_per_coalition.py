"""Games from functions of one coalition."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from topshap.core.errors import GameError, ParameterError
from topshap.games import per_coalition
from topshap.reference.exact import shapley_values

ROWS = np.array([[True, False, True], [False, False, False], [True, True, True]])


def size(coalition):
    return int(coalition.sum())


def test_every_coalition_is_evaluated_once_and_in_order():
    seen = []
    game = per_coalition(lambda coalition: seen.append(coalition.tolist()) or len(seen))
    assert game(ROWS).tolist() == [1.0, 2.0, 3.0]
    assert seen == ROWS.tolist()


def test_no_coalitions_have_no_values():
    assert per_coalition(size)(np.zeros((0, 3), dtype=bool)).tolist() == []


def test_the_number_of_players_may_come_from_the_names():
    game = per_coalition(size, player_names=["a", "b", "c"])
    assert (game.n_players, game.player_names) == (3, ("a", "b", "c"))
    np.testing.assert_allclose(shapley_values(game), np.ones(3))
    assert per_coalition(size, 3).player_names is None
    assert per_coalition(size).n_players is None


def test_a_function_may_modify_the_coalition_it_gets():
    def greedy(coalition):
        coalition[:] = True
        return coalition.sum()

    rows = ROWS.copy()
    assert per_coalition(greedy)(rows).tolist() == [3.0, 3.0, 3.0]
    np.testing.assert_array_equal(rows, ROWS)


def test_the_game_can_be_pickled_if_the_function_can():
    game = per_coalition(pickle.loads, 3, ["a", "b", "c"])
    assert pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize("one", [1, True, np.True_, 1.0, np.float32(1), Fraction(1), np.array(1), np.array([[1.0]])])
def test_any_numeric_type_becomes_a_float(one):
    values = per_coalition(lambda _: one)(ROWS)
    assert values.dtype == np.float64
    assert values.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("answer", [None, "1", np.array(["1"]), [1.0], np.ones((2, 2)), np.array([]), 1j])
def test_the_error_about_a_value_that_is_not_a_number_names_the_coalition(answer):
    game = per_coalition(lambda _: answer, player_names=["a", "b", "c"])
    with pytest.raises(GameError, match=r"must return one number. Got .* for the coalition \{a, c\}"):
        game(ROWS)


def test_errors_of_the_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        per_coalition(lambda coalition: 1 / int(coalition.sum() - 2))(ROWS)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("f", (3,)),
        ("n_players", (size, 0)),
        ("n_players", (size, 2.0)),
        ("player_names", (size, 2, ["a"])),
        ("player_names", (size, None, "ab")),
        ("player_names", (size, None, ["a", "a"])),
    ],
)
def test_invalid_parameters_are_refused(name, arguments):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of per_coalition must be"):
        per_coalition(*arguments)


def test_coalitions_of_another_number_of_players_are_refused():
    with pytest.raises(ParameterError, match=r"must be a bool array of shape \(m, 2\). Got bool of shape \(3, 3\)"):
        per_coalition(size, 2)(ROWS)


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.array(3.0, mask=True), np.ma.array([3.0], mask=[True])])
def test_a_masked_value_is_not_a_number(value):
    with pytest.raises(GameError, match="must return one number"):
        per_coalition(lambda _: value, 3)(ROWS)


@pytest.mark.parametrize("answer", [[1.0, 2.0], (1, 2), np.array([1.0, 2.0])])
def test_several_numbers_are_outputs(answer):
    assert per_coalition(lambda _: answer)(ROWS).tolist() == [[1.0, 2.0]] * 3


def test_a_function_whose_number_of_outputs_changes_is_refused():
    with pytest.raises(GameError, match="must not change: it returned 2 numbers per coalition before and 3 numbers"):
        per_coalition(lambda row: [1.0] * (1 + int(row.sum())))(np.array([[True, False], [True, True]]))
