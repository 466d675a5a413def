"""TopK: its fields, its confidence, its texts, and that it cannot be changed."""

import dataclasses
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.errors import ParameterError
from topshap.statistics import top_k_probability


def top_k(estimates, std_errors, k=2, covariance=None, **options):
    estimates = np.array(estimates, dtype=float)
    fields = {
        "players": np.argsort(-estimates, kind="stable")[:k],
        "estimates": estimates,
        "std_errors": np.array(std_errors, dtype=float),
        "covariance": None if covariance is None else np.array(covariance, dtype=float),
        "player_names": None,
        "evaluations": 50,
        "calls": 60,
        "budget": 50,
        "epsilon": None,
        "delta": None,
        "stopped": "budget",
        "algorithm": "cmcs",
        "counting": "distinct",
        "empty": 0.0,
        "grand": float(estimates.sum()),
    }
    return topshap.TopK(**(fields | options))


@st.composite
def results(draw):
    """Results with known and unknown errors, with and without a covariance."""
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    kind = draw(st.sampled_from(["covariance", "errors", "some unknown", "certain"]))
    errors, covariance = rng.uniform(0.1, 2.0, n), None
    if kind == "covariance":
        root = rng.normal(size=(n, n))
        covariance = root @ root.T
        errors = np.sqrt(np.diag(covariance))
    if kind == "some unknown":
        errors[0] = np.nan
    if kind == "certain":
        errors[:] = 0.0
    return top_k(rng.integers(-3, 4, n), errors, draw(st.integers(1, n)), covariance)


# Frozen.


def test_a_result_cannot_be_changed(random_game):
    for budget in (60, 64):
        top = topshap.identify(random_game(6), k=2, budget=budget, random_state=0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            top.evaluations = 0  # type: ignore[misc]
        for array in (top.players, top.estimates, top.std_errors, top.covariance):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


def test_players_are_the_top_k_best_first(random_game):
    top = topshap.identify(random_game(6), k=4, budget=50, random_state=0)
    assert (top.k, top.n_players) == (4, 6)
    assert top.players.tolist() == np.argsort(-top.estimates)[:4].tolist()


def test_names_are_those_of_the_players_or_their_indices():
    assert top_k([1, 3, 2], [1, 1, 1]).names == ("1", "2")
    assert top_k([1, 3, 2], [1, 1, 1], player_names=("a", "b", "c")).names == ("b", "c")


# Intervals.


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959964), (0.5, 0.674490), (0.99, 2.575829)])
def test_an_interval_is_normal_around_the_estimate(level, z):
    top = top_k([1.0, -2.0], [0.5, 3.0], k=1)
    expected = [[1.0 - 0.5 * z, 1.0 + 0.5 * z], [-2.0 - 3.0 * z, -2.0 + 3.0 * z]]
    np.testing.assert_allclose(top.interval(level), expected, atol=1e-5)


def test_the_default_level_of_an_interval_is_95_percent():
    top = top_k([1.0, -2.0], [0.5, 3.0], k=1)
    np.testing.assert_array_equal(top.interval(), top.interval(0.95))


def test_an_interval_is_unbounded_if_the_standard_error_is_unknown_and_a_point_if_it_is_zero():
    top = top_k([1.0, 2.0], [np.nan, 0.0], k=1)
    np.testing.assert_array_equal(top.interval(), [[-np.inf, np.inf], [2.0, 2.0]])


def test_an_interval_at_the_highest_possible_level_is_finite_and_a_point_if_exact():
    low, high = top_k([1.0, 2.0], [0.5, 0.0], k=1).interval(math.nextafter(1.0, 0.0)).T
    assert high[0] - 1.0 == pytest.approx(0.5 * 8.2924, abs=1e-3)
    assert low[1] == high[1] == 2.0


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, float("nan"), None, "0.95", True])
def test_an_invalid_level_is_refused(level):
    with pytest.raises(ParameterError, match="The 'level' parameter of interval must be a number between 0 and 1"):
        top_k([1.0], [1.0], k=1).interval(level)


# Pairs.


@given(results())
def test_the_probabilities_of_the_two_orders_of_a_pair_add_up_to_one(top):
    pairwise = top.pairwise()
    assert pairwise.shape == (top.n_players, top.n_players)
    assert np.all((pairwise >= 0) & (pairwise <= 1))
    np.testing.assert_allclose(pairwise + pairwise.T, 1.0, atol=1e-12)
    np.testing.assert_array_equal(np.diag(pairwise), 0.5)


def test_a_pair_is_compared_by_the_variance_of_its_difference():
    top = top_k([2.0, 1.0], [1.0, 2.0], k=1, covariance=[[1.0, 1.5], [1.5, 4.0]])
    expected = math.erfc(-1.0 / math.sqrt(1.0 + 4.0 - 3.0) / math.sqrt(2)) / 2
    assert top.pairwise()[0, 1] == pytest.approx(expected)


def test_without_a_covariance_estimates_count_as_independent():
    top = top_k([2.0, 1.0], [1.0, 2.0], k=1)
    assert top.pairwise()[0, 1] == pytest.approx(math.erfc(-1.0 / math.sqrt(5.0) / math.sqrt(2)) / 2)


def test_the_two_orders_of_a_pair_add_up_to_one_despite_rounding_errors_in_the_covariance():
    variance, ulp = 2.137555067172082e-06, 4.2e-22
    covariance = [[variance, variance + ulp], [variance - ulp, variance]]
    pairwise = top_k([0.1096452, 0.1096452 - 1e-16], [math.sqrt(variance)] * 2, k=1, covariance=covariance).pairwise()
    np.testing.assert_allclose(pairwise + pairwise.T, 1.0)


def test_pairs_of_exact_values_are_certain_unless_they_are_equal():
    np.testing.assert_array_equal(
        top_k([2.0, 1.0, 1.0], [0.0, 0.0, 0.0], k=1).pairwise(), [[0.5, 1.0, 1.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]
    )


def test_a_pair_with_an_unknown_standard_error_has_probability_one_half():
    assert top_k([2.0, 1.0], [np.nan, 1.0], k=1).pairwise()[0, 1] == 0.5


# Confidence and inclusion.


@given(results())
def test_confidence_is_a_probability_or_unknown(top):
    assert 0.0 <= top.confidence <= 1.0 or (math.isnan(top.confidence) and np.isnan(top.std_errors).any())


@given(results())
def test_inclusion_adds_up_to_k_or_is_unknown(top):
    if np.isnan(top.inclusion).any():
        assert np.isnan(top.inclusion).all()
        assert np.isnan(top.std_errors).any()
    else:
        assert top.inclusion.shape == (top.n_players,)
        assert top.inclusion.sum() == pytest.approx(top.k)


def test_a_clear_result_has_a_higher_confidence_than_a_close_one():
    assert top_k([5.0, 4.0, 0.0, 0.0], [0.1] * 4).confidence == 1.0
    assert 0.2 < top_k([5.0, 1.02, 1.0, 0.0], [0.1] * 4).confidence < 0.8


def test_the_top_n_of_n_is_certain():
    top = top_k([1.0, 2.0], [np.nan, np.nan], k=2)
    assert top.confidence == 1.0
    assert top.inclusion.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(6))
def test_returned_players_have_no_smaller_inclusion_probability_than_equal_players_left_out(seed):
    top = topshap.identify(topshap.games.AdditiveGame([1.0] * 5), k=2, random_state=seed)
    assert top.stopped == "exact"
    others = np.setdiff1d(np.arange(5), top.players)
    assert top.inclusion[top.players].min() >= top.inclusion[others].max()


def test_equal_estimates_with_zero_errors_are_not_confident():
    assert not top_k([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], k=1).confidence > 0.9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_results_of_every_algorithm_can_be_printed_and_exported(random_game, algorithm):
    top = topshap.identify(random_game(7), k=3, budget=100, algorithm=algorithm, random_state=0)
    explained = "± is the 95% interval" in str(top)
    assert explained == np.isfinite(top.std_errors).any()
    assert len(str(top).splitlines()) == 1 + 7 + 1 + explained + 1
    assert top.interval().shape == (7, 2)
    np.testing.assert_allclose(top.pairwise() + top.pairwise().T, 1.0, atol=1e-12)
    assert 0 <= top.confidence <= 1 or math.isnan(top.confidence)
    assert len(top.to_frame()) == 7


# Exports and text.


def test_the_frame_has_all_players_best_first():
    names = ("a", "b", "c", "d")
    top = top_k([1.0, 4.0, 3.0, 2.0], [0.1, 0.2, 0.3, 0.4], player_names=names)
    frame = top.to_frame()
    assert frame["player"].tolist() == ["b", "c", "d", "a"]
    assert frame.index.tolist() == [1, 2, 3, 0]
    assert frame["estimate"].tolist() == [4.0, 3.0, 2.0, 1.0]
    assert frame["std_error"].tolist() == [0.2, 0.3, 0.4, 0.1]
    assert frame["top_k"].tolist() == [True, True, False, False]
    np.testing.assert_array_equal(frame[["low", "high"]].to_numpy(), top.interval()[[1, 2, 3, 0]])
    np.testing.assert_array_equal(frame["p_top_k"], top.inclusion[[1, 2, 3, 0]])


def test_changing_the_frame_does_not_change_the_result():
    top = top_k([1.0, 4.0, 3.0], [0.1, 0.2, 0.3])
    frame = top.to_frame()
    frame.loc[0, "estimate"] = 100.0
    assert top.estimates[0] == 1.0


def test_a_missing_pandas_is_named_with_the_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"topshap\[pandas\]"):
        top_k([1.0], [1.0], k=1).to_frame()


def test_the_leaderboard_shows_the_border_the_errors_and_the_cost():
    lines = str(top_k([1.0, 4.0, 3.0], [0.1, 0.2, 0.3], player_names=("age", "sex", "bmi"))).splitlines()
    assert lines[0].startswith("Top 2 of 3 players after 50 evaluations (the budget was spent")
    assert [line.split()[:3] for line in lines[1:3]] == [["1", "sex", "4"], ["2", "bmi", "3"]]
    assert lines[3].strip() == "--"
    assert lines[4].split() == ["3", "age", "1", "±", "0.2"]


def test_the_leaderboard_shows_rounding_errors_as_zero():
    lines = str(top_k([3.0, 1.0, 2e-14], [0.1, 0.1, 0.1], k=1)).splitlines()
    assert lines[4].split() == ["3", "2", "0", "±", "0.2"]


def test_a_long_leaderboard_ends_with_the_number_of_further_players():
    lines = str(top_k(np.arange(40), np.ones(40), k=3)).splitlines()
    assert len(lines) == 1 + 10 + 1 + 1 + 1 + 1
    assert lines[-3].strip() == "... 30 more"


def test_a_leaderboard_with_k_equal_to_n_has_no_border():
    assert "--" not in str(top_k([1.0, 2.0], [0.1, 0.1], k=2))


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("exact", "exact: all coalitions are known"),
        ("budget", "the budget was spent"),
        ("confident", "stopped by itself at epsilon=0.1, delta=0.05"),
        ("interrupted", "the race is not over"),
        ("time", "the time was up"),
        ("rule", "When(enough) was met"),
        ("finished", "the algorithm had nothing more to ask"),
    ],
)
def test_the_headline_says_why_the_race_stopped(stopped, words):
    assert words in str(
        top_k([1.0, 2.0], [0.1, 0.1], k=1, stopped=stopped, epsilon=0.1, delta=0.05, rule="When(enough)")
    )


# Guarantees.

CONFIDENT = {"stopped": "confident", "epsilon": 0.1, "delta": 0.05, "budget": None, "evaluations": 1234}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"guarantee": "asymptotic"},
            ["With probability at least 95%", "are like those that were", "for repeated looks"],
        ),
        ({"guarantee": "credible"}, ["With posterior probability at least 95%", "Not a guarantee", "normal"]),
        ({"guarantee": "published"}, ["The published rule was met", "Not a guarantee at level delta"]),
        ({"guarantee": "exact", "value_range": (0.0, 1.0)}, ["With probability at least 95%", "values in [0, 1]"]),
        ({"guarantee": "exact"}, ["Certain: no player left out", "every coalition that matters is known"]),
        ({"guarantee": "asymptotic", "delta": 1e-3}, ["With probability at least 99.9%"]),
        ({"guarantee": "asymptotic", "delta": 1e-15}, ["With probability at least 1 - 1e-15, no player"]),
        ({"stopped": "exact"}, ["Certain: all coalitions are known"]),
        ({"k": 3}, ["Certain: all players are in the set"]),
    ],
)
def test_a_promise_states_its_assumptions_and_the_cost(options, words):
    top = top_k([3.0, 2.0, 1.0], [0.1, 0.1, 0.1], **(CONFIDENT | options))
    assert "\n" not in top.promise
    assert all(word in top.promise for word in words)
    assert "0.1" in top.promise or "Certain" in top.promise
    assert top.promise.endswith("It took 1,234 evaluations.")
    assert str(top).splitlines()[-1] == top.promise


@pytest.mark.parametrize("stopped", ["budget", "time", "rule", "finished", "interrupted"])
@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_a_race_that_is_not_confident_has_no_guarantee(stopped, epsilon):
    options = {"stopped": stopped, "epsilon": epsilon, "delta": epsilon, "rule": "When(enough)", "guarantee": "exact"}
    promise = top_k([3.0, 2.0, 1.0], [0.1, 0.1, 0.1], **options).promise
    assert promise.startswith("No guarantee: ")
    assert "intervals and confidence are estimates that assume normal errors." in promise
    assert ("before epsilon=0.1 was reached at delta=0.1" in promise) == (
        epsilon is not None and stopped != "interrupted"
    )
    assert promise.endswith("It took 50 evaluations of a budget of 50.")


def test_with_counting_by_calls_the_cost_is_in_calls():
    assert top_k([1.0, 0.0], [0.1, 0.1], counting="calls", budget=70).promise.endswith(
        "It took 60 calls of a budget of 70, 50 evaluations."
    )


def test_the_published_rule_is_not_called_a_guarantee():
    game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    top = topshap.identify(game, k=2, epsilon=0.1, algorithm="cmcs@k", guarantee="published", random_state=0)
    assert (top.stopped, top.guarantee) == ("confident", "published")
    assert "Not a guarantee at level delta" in top.promise


def test_a_result_for_a_fixed_budget_has_no_guarantee(random_game):
    top = topshap.identify(random_game(8), k=2, budget=60, guarantee="credible", value_range=(-9, 9), random_state=0)
    assert (top.guarantee, top.epsilon, top.delta, top.value_range) == (None, None, None, (-9.0, 9.0))
    assert top.promise.startswith("No guarantee: after a fixed budget, intervals and confidence are estimates")


def test_an_exact_result_shows_no_intervals():
    top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=1)
    assert "±" not in str(top)


def test_a_long_name_is_shortened_to_keep_the_columns():
    lines = str(top_k([2.0, 1.0], [0.1, 0.1], k=1, player_names=("x" * 90, "y"))).splitlines()
    assert max(map(len, lines[1:-1])) < 70


# Ties.


def test_tied_lists_the_players_tied_with_the_last_one_of_the_set():
    game = topshap.games.AdditiveGame([3.0, 0.0, 1.0, 0.0, 0.0, -1.0])
    top = topshap.identify(game, k=3, random_state=0)
    assert {*top.players.tolist(), *top.tied.tolist()} == {0, 1, 2, 3, 4}
    assert len(topshap.identify(game, k=2, random_state=0).tied) == 0
    assert len(topshap.identify(game, k=6, random_state=0).tied) == 0


@pytest.mark.parametrize("algorithm", ["auto", "swap@k", "cmcs", "kernelshap"])
def test_players_that_no_evaluation_distinguishes_are_tied(algorithm):
    n = 12

    def cut(coalitions):
        return (coalitions != np.roll(coalitions, 1, axis=1)).sum(axis=1).astype(float)

    additive = topshap.games.AdditiveGame([3.0, 2.0, 1.0] + 9 * [0.0])
    top = topshap.identify(additive, k=5, budget=300, algorithm=algorithm, random_state=0)
    assert {*top.players.tolist(), *top.tied.tolist()} == set(range(n))
    assert len(topshap.identify(additive, k=3, budget=300, algorithm=algorithm, random_state=0).tied) == 0
    if algorithm == "auto":
        assert len(topshap.identify(cut, n, k=3, budget=300, random_state=0).tied) == n - 3


@pytest.mark.parametrize("rank_by", ["value", "magnitude", "lowest"])
def test_ties_are_of_the_values_that_players_are_ranked_by(rank_by):
    game = topshap.games.AdditiveGame([2.0, 1.0, -1.0, -2.0])
    top = topshap.identify(game, k=1, rank_by=rank_by, random_state=0)
    assert len(top.tied) == (1 if rank_by == "magnitude" else 0)


def test_players_are_not_tied_while_nothing_is_known_about_them():
    game = topshap.games.AdditiveGame(np.arange(12.0))
    assert len(topshap.identify(game, k=3, budget=2, random_state=0).tied) == 0


def test_confidence_and_inclusion_come_from_the_same_draws(monkeypatch):
    drawn = []
    draw = top_k_probability._draw
    monkeypatch.setattr(top_k_probability, "_draw", lambda *question: drawn.append(1) or draw(*question))
    top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.5]), k=2, budget=12, algorithm="cmcs")
    assert 0.0 <= top.confidence <= 1.0
    assert top.inclusion.sum() == pytest.approx(2.0)
    assert len(drawn) == 1
