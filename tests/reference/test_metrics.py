"""Metrics of a returned set, compared with brute force over all sets."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.errors import ParameterError
from topshap.reference.metrics import binary_precision, inclusion_exclusion_error, mean_squared_error, ratio_precision

SET_METRICS = [binary_precision, ratio_precision, inclusion_exclusion_error]


@st.composite
def sets_with_ties(draw):
    """Small whole values, so that ties are common, and a set of players."""
    values = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=7))
    players = draw(st.sets(st.integers(0, len(values) - 1), min_size=1))
    return np.array(values, dtype=float), sorted(players)


def eligible_sets(values, k):
    """All sets of k players with the largest sum."""
    sums = {chosen: sum(values[list(chosen)]) for chosen in itertools.combinations(range(len(values)), k)}
    return [chosen for chosen, total in sums.items() if total == max(sums.values())]


@given(sets_with_ties())
def test_binary_precision_is_1_exactly_if_the_set_has_the_largest_sum(case):
    values, players = case
    assert binary_precision(values, players) == float(tuple(players) in eligible_sets(values, len(players)))


@given(sets_with_ties())
def test_ratio_precision_is_the_largest_overlap_with_an_eligible_set(case):
    values, players = case
    overlaps = [len(set(players) & set(chosen)) for chosen in eligible_sets(values, len(players))]
    assert ratio_precision(values, players) == max(overlaps) / len(players)


@given(sets_with_ties())
def test_the_inclusion_exclusion_error_is_the_smallest_sufficient_tolerance(case):
    values, players = case
    border = min(values[list(eligible_sets(values, len(players))[0])])
    others = [i for i in range(len(values)) if i not in players]

    def within(e):
        return all(values[players] >= border - e) and all(values[others] <= border + e)

    assert inclusion_exclusion_error(values, players) == next(e for e in range(7) if within(e))


@given(sets_with_ties(), st.sampled_from([1e-9, 0.1, 1.0, 1e9]), st.integers(0, 2**32 - 1))
def test_the_measures_agree_at_any_scale_and_under_rounding(case, scale, seed):
    values, players = case
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, len(values)) * 1e-9 * np.abs(values).max()
    rounded = scale * (values + noise)
    right = tuple(players) in eligible_sets(values, len(players))
    assert binary_precision(rounded, players) == float(right)
    assert (inclusion_exclusion_error(rounded, players) == 0.0) == right
    assert ratio_precision(rounded, players) == ratio_precision(values, players)
    assert math.isclose(
        inclusion_exclusion_error(rounded, players),
        scale * inclusion_exclusion_error(values, players),
        rel_tol=1e-8,
    )


def test_a_tied_set_is_right():
    values = [0.5, 0.3, 0.1 + 0.2, 0.0]
    for players in ([0, 1], [0, 2], [2, 0]):
        assert binary_precision(values, players) == 1.0
        assert ratio_precision(values, players) == 1.0
        assert inclusion_exclusion_error(values, players) == 0.0


@pytest.mark.parametrize("value", [0.0, 1e9, -1e-9])
def test_where_all_are_equal_every_set_is_right(value):
    for k in (1, 2, 3):
        for players in itertools.combinations(range(3), k):
            assert binary_precision([value] * 3, players) == 1.0
            assert inclusion_exclusion_error([value] * 3, players) == 0.0


def test_a_difference_beyond_rounding_is_not_a_tie():
    assert binary_precision([1.0, 1.0 + 2e-9], [0]) == 0.0
    assert inclusion_exclusion_error([1.0, 1.0 + 2e-9], [0]) > 0.0


def test_all_players_together_are_always_right():
    assert ratio_precision([3.0, -1.0, 2.0], [2, 0, 1]) == 1.0
    assert inclusion_exclusion_error([3.0, -1.0, 2.0], [2, 0, 1]) == 0.0


def test_the_error_depends_on_players_inside_and_outside_the_set():
    values = [9.0, 5.0, 4.0, 0.0]
    assert inclusion_exclusion_error(values, [0, 2]) == 1.0
    assert inclusion_exclusion_error(values, [0, 3]) == 5.0
    assert inclusion_exclusion_error(values, [1, 2]) == 4.0


@pytest.mark.parametrize("metric", SET_METRICS)
def test_players_may_be_any_collection_of_ints(metric):
    values = [1.0, 4.0, 2.0]
    for players in ((1, 2), {1, 2}, range(1, 3), np.array([2, 1], dtype=np.uint8)):
        assert metric(values, players) == metric(values, [1, 2])


@pytest.mark.parametrize("metric", SET_METRICS)
@pytest.mark.parametrize("players", [[], [0, 0], [3], [-1], [0.0], [True, False, True], ["0"], [[0, 1]], 1, None])
def test_an_invalid_set_of_players_is_refused(metric, players):
    message = rf"The 'players' parameter of {metric.__name__} must be .* in \[0, 2\]\. Got .* instead\."
    with pytest.raises(ParameterError, match=message):
        metric([1.0, 2.0, 3.0], players)


@pytest.mark.parametrize("metric", SET_METRICS)
@pytest.mark.parametrize("values", [[], [1.0, math.nan], [[1.0, 2.0]], ["a", "b"], 1.0])
def test_invalid_exact_values_are_refused(metric, values):
    with pytest.raises(ParameterError, match=f"The 'exact_values' parameter of {metric.__name__} must be"):
        metric(values, [0])


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10)), min_size=1, max_size=8))
def test_the_mean_squared_error_is_the_mean_of_squared_differences(pairs):
    exact, estimates = zip(*pairs, strict=True)
    expected = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    assert math.isclose(mean_squared_error(exact, estimates), expected, abs_tol=1e-12)


@pytest.mark.parametrize("estimates", [[1.0], [1.0, 2.0, 3.0], [1.0, math.nan], [[1.0], [2.0]]])
def test_estimates_that_do_not_match_are_refused(estimates):
    with pytest.raises(ParameterError, match="The 'estimates' parameter of mean_squared_error must be"):
        mean_squared_error([1.0, 2.0], estimates)


@pytest.mark.parametrize("metric", SET_METRICS)
def test_a_player_that_a_game_of_one_player_does_not_have_is_refused(metric):
    with pytest.raises(ParameterError, match=r"distinct ints in \[0, 0\]\. Got \[5\] instead"):
        metric([1.0], [5])
