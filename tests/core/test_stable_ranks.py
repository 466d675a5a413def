"""Tests of `TopK.stable_ranks`."""

from dataclasses import FrozenInstanceError
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.stable_ranks import StableRanks

GAME = topshap.games.UnanimityGame([[0], [1, 2], [3, 4, 5]], [5.0, 4.0, 2.0], n_players=10)


@given(st.lists(st.floats(0.0, 1.0), max_size=20), st.floats(0.5, 0.999))
def test_ranks_end_at_the_first_doubt_and_sizes_are_corrected_for_their_number(p_values, level):
    stable = StableRanks.of(np.array(p_values), level, map(str, range(len(p_values) + 1)))
    assert all(p <= 1.0 - level for p in p_values[: stable.count])
    assert stable.count > len(p_values) or p_values[stable.count] > 1.0 - level
    assert len(stable.names) == stable.count
    assert all((p * len(p_values) <= 1.0 - level) == (k + 1 in stable.sizes) for k, p in enumerate(p_values))


def test_a_higher_level_verifies_no_more():
    top = topshap.identify(GAME, k=4, budget=100, algorithm="cmcs", random_state=1)
    stable = [top.stable_ranks(level) for level in (0.5, 0.9, 0.99, 0.999999)]
    assert sorted((each.count for each in stable), reverse=True) == [each.count for each in stable]
    assert all(set(more.sizes) >= set(less.sizes) for more, less in pairwise(stable))


@pytest.mark.parametrize("rank_by", ["value", "lowest", "magnitude"])
def test_exact_results_are_verified_up_to_ties(rank_by):
    game = topshap.games.AdditiveGame([3.0, -4.0, 1.0, 1.0, 0.0])
    stable = topshap.identify(game, k=2, rank_by=rank_by, random_state=0).stable_ranks()
    assert stable.count == {"value": 1, "lowest": 2, "magnitude": 2}[rank_by]
    assert stable.sizes == {"value": (1, 3, 4), "lowest": (1, 2, 4), "magnitude": (1, 2, 4)}[rank_by]


def test_the_whole_order_is_verified_if_all_values_differ_and_are_exact():
    top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=1, player_names=["a", "b", "c"])
    assert top.stable_ranks().count == 3
    assert top.stable_ranks().names == ("a", "c", "b")


def test_nothing_is_verified_before_anything_is_known():
    stable = topshap.identify(GAME, k=4, budget=2).stable_ranks()
    assert (stable.count, stable.sizes) == (0, ())
    assert str(stable) == "No rank and no top set is beyond doubt at level 95%."


def test_one_player_alone_is_the_first():
    assert topshap.identify(topshap.games.AdditiveGame([3.0]), k=1).stable_ranks().count == 1


def test_each_output_has_stable_ranks():
    def game(coalitions):
        return np.stack([GAME(coalitions), GAME(coalitions[:, ::-1])], axis=1)

    tops: Any = topshap.identify(game, k=3, n_players=10, budget=200, random_state=0)
    assert [top.stable_ranks().sizes[0] for top in tops] == [1, 1]


def test_a_saved_result_has_the_same_stable_ranks(tmp_path):
    top = topshap.identify(GAME, k=3, budget=80, algorithm="cmcs", random_state=0)
    top.save(tmp_path / "top.json")
    assert repr(topshap.load(tmp_path / "top.json").stable_ranks(0.9)) == repr(top.stable_ranks(0.9))


def test_values_of_any_magnitude_have_the_same_stable_ranks():
    def verified(unit):
        top = topshap.identify(lambda s: GAME(s) * unit, k=3, n_players=10, budget=80, algorithm="cmcs", random_state=0)
        return repr(top.stable_ranks())

    assert verified(2.0**-900) == verified(1.0) == verified(2.0**900)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "high", float("nan")])
def test_a_level_is_between_0_and_1(level):
    top = topshap.identify(GAME, k=3, budget=50, random_state=0)
    with pytest.raises(topshap.ParameterError, match="'level' parameter of stable_ranks must be a number between 0"):
        top.stable_ranks(level)


def test_it_is_frozen():
    stable: Any = topshap.identify(GAME, k=3).stable_ranks()
    with pytest.raises(FrozenInstanceError):
        stable.count = 9
    with pytest.raises(ValueError, match="read-only"):
        stable.p_values[0] = 0.0


@pytest.mark.parametrize(
    ("p_values", "text"),
    [
        ([0.01, 0.9], "rank 1 (a); the top 1."),
        ([0.01, 0.01], "ranks 1 to 3 (a, b and c); the top 1 and 2."),
        ([0.9, 0.01], "no rank; the top 2."),
        ([0.04, 0.9], "rank 1 (a); no set size."),
        ([0.0] * 7, "ranks 1 to 8 (a, b, c, d and 4 more); the top 1, 2, 3, 4 and 3 more."),
    ],
)
def test_the_text_names_ranks_and_sizes(p_values, text):
    assert str(StableRanks.of(np.array(p_values), 0.95, "abcdefgh")) == f"Beyond doubt at level 95%: {text}"


def test_control_characters_in_names_are_escaped():
    assert "\x1b" not in str(StableRanks.of(np.zeros(1), 0.95, ["\x1b[31m", "b"]))
