"""PlayerGroups: every element belongs to one player, or is in every coalition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.errors import ParameterError
from topshap.games.base import GroupedGame, PlayerGroups, distinct_names, in_blocks


@st.composite
def grouped(draw):
    """Draw elements, groups of some of them, and some that are always included."""
    n = draw(st.integers(1, 8))
    group_of = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))  # 3: no group
    groups = {f"group {g}": [i for i in range(n) if group_of[i] == g] for g in range(3) if g in group_of}
    alone = [i for i in range(n) if group_of[i] == 3]
    names = [*groups, *alone]
    always = draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names) - 1))
    labels = [f"column {i}" for i in range(n)]
    return PlayerGroups(labels, groups, always), groups, always


@given(grouped())
def test_players_are_a_partition_of_the_elements_that_are_not_always_included(drawn):
    players, groups, always = drawn
    fixed = {i for name in always for i in groups.get(name, [name])}
    assert set(np.flatnonzero(players.player_of == players.n_players)) == fixed
    one_each = players.present(np.eye(players.n_players, dtype=bool))
    free = np.array([i not in fixed for i in range(len(players.labels))])
    assert (one_each[:, free].sum(axis=0) == 1).all()
    assert one_each[:, ~free].all()
    assert len(players.player_names) == players.n_players == len(set(players.player_of[free].tolist()))


@given(grouped(), st.data())
def test_the_elements_of_a_union_are_the_union_of_the_elements(drawn, data):
    players, _, _ = drawn
    bits = st.lists(st.booleans(), min_size=players.n_players, max_size=players.n_players)
    one, other = (np.array([data.draw(bits)]) for _ in range(2))
    np.testing.assert_array_equal(players.present(one | other), players.present(one) | players.present(other))
    np.testing.assert_array_equal(players.present(one & other), players.present(one) & players.present(other))
    assert players.present(np.ones_like(one)).all()


@given(grouped())
def test_players_are_ordered_by_their_first_element(drawn):
    players, _, _ = drawn
    first = [int(np.argmax(players.player_of == player)) for player in range(players.n_players)]
    assert first == sorted(first)


def test_without_groups_every_element_is_a_player():
    coalitions = np.array([[True, False], [False, False]])
    assert PlayerGroups(["a", "b"]).present(coalitions) is coalitions


def test_elements_are_found_by_label_alias_or_position():
    players = PlayerGroups(["a", 7, ("t", 1)], aliases=["first", "second", "second"])
    assert [players.find(label, "groups") for label in ("a", 7, "7", ("t", 1), "second", 2, np.int64(0))] == [
        0, 1, 1, 2, 1, 2, 0,
    ]  # fmt: skip
    for wrong in ("b", 3, -1, True, ["a"], None):
        with pytest.raises(ParameterError, match=r"existing columns only \('a', 7, \('t', 1\)\)"):
            players.find(wrong, "groups")


def test_labels_take_precedence_over_positions():
    assert PlayerGroups([1, 0]).find(0, "always") == 1


@pytest.mark.parametrize(
    ("labels", "groups", "always", "message"),
    [
        (["a", "a"], None, None, "'feature_names' parameter must be given, .* 'a' is repeated"),
        (["a", "b"], {"b": ["a"]}, None, "'groups' parameter must be a dict whose names differ .* 'b' is repeated"),
        (["a", "b"], {"g": ["a", "a"]}, None, "disjoint groups; 'a' is in two"),
        (["a", "b"], {"g": []}, None, "without empty groups"),
        (["a", "b"], ["a"], None, "'groups' parameter must be a dict"),
        (["a", "b"], {"g": ["a", "b"]}, "a", "'always' .* the whole group 'g', which this column"),
        (["a", "b"], {"g": ["a", "b"]}, ["g"], "must leave at least one player"),
    ],
)
def test_invalid_groups_are_refused(labels, groups, always, message):
    with pytest.raises(ParameterError, match=message):
        PlayerGroups(labels, groups, always)


def test_a_single_name_is_a_list_of_one():
    players = PlayerGroups(["a", "b", "c"], {"g": "a"}, "b")
    assert players.player_names == ("g", "c")


class CountGame(GroupedGame):
    """The number of elements."""

    def _values(self, present):
        return present.sum(axis=1)

    def _parts(self):
        return {}


def test_a_grouped_game_maps_players_to_elements():
    game = CountGame(PlayerGroups("abcd", {"g": ["a", "c"]}, ["d"]), fingerprint=None)
    assert (game.n_players, game.player_names) == (2, ("g", "b"))
    assert game.player_of.tolist() == [0, 1, 0, 2]
    assert game(np.array([[False, False], [True, False], [True, True]])).tolist() == [1, 3, 4]
    assert repr(game) == "CountGame(n_players=2)"
    other = CountGame(PlayerGroups("abcd", {"g": ["a", "b"]}, ["d"]), fingerprint=None)
    assert len(game.fingerprint) == 64
    assert game.fingerprint != other.fingerprint
    with pytest.raises(ParameterError, match=r"bool array of shape \(m, 2\)"):
        game(np.zeros((1, 4), dtype=bool))


@given(st.integers(0, 20), st.integers(0, 25))
def test_blocks_are_bounded_and_complete(n, size):
    sizes = []

    def double(rows):
        sizes.append(len(rows))
        return 2.0 * rows[:, 0]

    rows = np.arange(float(n))[:, None]
    np.testing.assert_array_equal(in_blocks(double, rows, size), 2.0 * rows[:, 0])
    assert all(count <= max(1, size) for count in sizes)


@given(st.lists(st.sampled_from(["a", "b", "a (2)", "b (2)"])))
def test_names_are_made_unique_and_the_first_is_kept(names):
    result = distinct_names(names)
    assert len(set(result)) == len(result) == len(names)
    assert all(new.startswith(old) for old, new in zip(names, result, strict=True))
    if names:
        assert result[0] == names[0]
