"""Games with a closed form, compared with enumeration."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.coalitions import draw_anchors, from_ids
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, AirportGame, AllOrNothingGame, GloveGame, UnanimityGame, VotingGame, closed_form
from topshap.reference.exact import shapley_values, value_table

EIGHT = st.integers(1, 8)
NUMBERS = st.floats(-10, 10, allow_subnormal=False)


@st.composite
def unanimity_games(draw):
    n = draw(EIGHT)
    sets = draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=1, max_size=6))
    coefficients = draw(st.lists(NUMBERS, min_size=len(sets), max_size=len(sets)))
    return UnanimityGame(sets, coefficients, n)


@st.composite
def voting_games(draw):
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any))
    return VotingGame(weights, draw(st.integers(1, sum(weights))))


GAMES = st.one_of(
    st.builds(AdditiveGame, st.lists(NUMBERS, min_size=1, max_size=8), NUMBERS),
    unanimity_games(),
    st.builds(AirportGame, st.lists(st.floats(0, 10, allow_subnormal=False), min_size=1, max_size=8)),
    voting_games(),
    st.builds(GloveGame, st.integers(0, 4), st.integers(1, 4)),
    st.builds(GloveGame, st.integers(1, 4), st.integers(0, 4)),
    st.builds(AllOrNothingGame, EIGHT),
)

LARGE = [
    AdditiveGame(np.random.default_rng(0).normal(size=300), 0.1),
    UnanimityGame([range(i, i + 5) for i in range(90)], np.random.default_rng(1).normal(size=90), 100),
    AirportGame(np.random.default_rng(2).random(200)),
    VotingGame(np.random.default_rng(3).integers(0, 20, size=60), 290),
    GloveGame(150, 100),
    AllOrNothingGame(500),
]


def kind(game):
    return type(game).__name__


@given(GAMES)
def test_the_closed_form_equals_enumeration(game):
    np.testing.assert_allclose(game.shapley_values(), shapley_values(game), atol=1e-12)


@pytest.mark.parametrize("game", LARGE, ids=kind)
def test_the_closed_form_of_many_players_adds_up_to_the_grand_value(game):
    ends = game(np.array([[False] * game.n_players, [True] * game.n_players]))
    assert math.isclose(game.shapley_values().sum(), ends[1] - ends[0], rel_tol=1e-12)


@pytest.mark.parametrize("game", LARGE, ids=kind)
def test_the_value_of_a_coalition_does_not_depend_on_the_batch(game, monkeypatch):
    rows = draw_anchors(101, game.n_players, np.random.default_rng(0))
    together = game(rows)
    np.testing.assert_array_equal([game(row[None])[0] for row in rows], together)
    np.testing.assert_array_equal(game(np.asfortranarray(rows)), together)
    monkeypatch.setattr(closed_form, "_BLOCK_CELLS", 7 * game.n_players)
    np.testing.assert_array_equal(game(rows), together)


@pytest.mark.parametrize("game", LARGE, ids=kind)
def test_a_game_is_frozen_and_can_be_pickled(game):
    for name in vars(game):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(game, name, None)
    rows = draw_anchors(5, game.n_players, np.random.default_rng(0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(game))(rows), game(rows))


def test_the_repr_of_a_game_shows_its_parameters():
    assert repr(AllOrNothingGame(3)) == "AllOrNothingGame(n_players=3)"
    assert repr(VotingGame([2, 1], 2)) == "VotingGame(weights=array([2, 1]), quota=2)"
    assert repr(UnanimityGame([{1, 0}], [2.0], 3)) == (
        "UnanimityGame(n_players=3, sets=((0, 1),), coefficients=array([2.]))"
    )


@pytest.mark.parametrize(
    ("game", "rule"),
    [
        (AdditiveGame([1.0, 2.0, 4.0], 8.0), lambda s: 8 + sum(2**i for i in s)),
        (UnanimityGame([{0, 1}, {2}, {0, 1}], [3, 5, 1], 3), lambda s: 4 * ({0, 1} <= s) + 5 * (2 in s)),
        (AirportGame([3.0, 1.0, 2.0]), lambda s: max([[3.0, 1.0, 2.0][i] for i in s], default=0.0)),
        (VotingGame([3, 1, 1], 4), lambda s: 0 in s and len(s) > 1),
        (GloveGame(2, 1), lambda s: min(len(s & {0, 1}), len(s & {2}))),
        (AllOrNothingGame(3), lambda s: len(s) == 3),
    ],
    ids=kind,
)
def test_the_values_follow_the_documented_rule(game, rule):
    rows = from_ids(np.arange(8), 3)
    np.testing.assert_array_equal(value_table(game), [rule(set(np.flatnonzero(row))) for row in rows])


def test_gloves_of_the_scarce_hand_have_higher_values():
    values = GloveGame(left=500, right=501).shapley_values()
    assert values[0] > values[-1]
    assert GloveGame(3, 0).shapley_values().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: AdditiveGame([]), "weights"),
        (lambda: AdditiveGame([math.nan]), "weights"),
        (lambda: AdditiveGame([1.0], math.inf), "baseline"),
        (lambda: UnanimityGame([set()], [1.0], 3), "sets"),
        (lambda: UnanimityGame([{3}], [1.0], 3), "sets"),
        (lambda: UnanimityGame([{0.5}], [1.0], 3), "sets"),
        (lambda: UnanimityGame([{1}], [1.0, 2.0], 3), "coefficients"),
        (lambda: UnanimityGame([{1}], [1.0], 0), "n_players"),
        (lambda: AirportGame([-1.0]), "costs"),
        (lambda: AirportGame([[1.0]]), "costs"),
        (lambda: VotingGame([1.5], 1), "weights"),
        (lambda: VotingGame([-1, 3], 1), "weights"),
        (lambda: VotingGame([0, 0], 1), "weights"),
        (lambda: VotingGame([1, 2], 0), "quota"),
        (lambda: VotingGame([1, 2], 4), "quota"),
        (lambda: VotingGame([1, 2], 1.5), "quota"),
        (lambda: GloveGame(-1, 3), "left"),
        (lambda: GloveGame(0, 0), "right"),
        (lambda: AllOrNothingGame(0), "n"),
    ],
)
def test_the_error_about_invalid_parameters_names_the_parameter(build, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of [A-Za-z]+Game must be .*Got .* instead"):
        build()


@pytest.mark.parametrize("game", LARGE, ids=kind)
def test_coalitions_of_another_number_of_players_are_refused(game):
    with pytest.raises(ParameterError, match=rf"must be a bool array of shape \(m, {game.n_players}\)"):
        game(np.zeros((1, game.n_players + 1), dtype=bool))
