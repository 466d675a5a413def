"""Tests of ``k="clear"``: races that choose k at a clear gap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms.odd_gp.bounds import BorderDifferences
from topshap.algorithms.odd_gp.clear_gap import closest_to_clear
from topshap.core.clear_gap import chosen_size
from topshap.core.standing import FittedStanding
from topshap.core.stopping import ClearGap, Confidence, CredibleGap

GAME = topshap.games.UnanimityGame([[0, 1, 2], [2, 3], [4]], [6.0, 0.4, 0.1], n_players=10)


def clear(game=GAME, epsilon=0.1, **options):
    return topshap.identify(game, k="clear", epsilon=epsilon, **({"random_state": 0} | options))


@pytest.mark.parametrize("guarantee", ["asymptotic", "credible"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_it_ends_at_the_gap_that_is_there(guarantee, epsilon):
    top = clear(epsilon=epsilon, guarantee=guarantee)
    assert (top.k, sorted(top.players.tolist()), top.stopped) == (3, [0, 1, 2], "confident")
    assert (top.clear_gap, top.guarantee, top.algorithm) == (True, guarantee, "odd-gp@k")


def test_the_lowest_values_have_gaps_too():
    top = clear(lambda coalitions: -GAME(coalitions), n_players=10, rank_by="lowest")
    assert sorted(top.players.tolist()) == [0, 1, 2]


def test_a_criterion_may_ask_for_the_confidence():
    top = topshap.identify(GAME, k="clear", stop=Confidence(epsilon=0.1), random_state=0)
    assert (top.k, top.stopped) == (3, "confident")


def test_the_promise_is_about_a_gap():
    top = clear()
    assert "every player in the set is ahead of every player left out by at least 0.1. This assumes" in top.promise
    assert "after a clear gap at epsilon=0.1" in top.headline
    assert "ahead of every player left out. This assumes" in clear(epsilon=0.0).promise


def test_without_a_clear_gap_the_budget_ends_the_race_and_the_result_says_so():
    top = clear(budget=60, epsilon=1.9)
    assert top.stopped == "budget"
    assert "before a gap of at least epsilon=1.9 was clear" in top.promise


def test_if_no_gap_is_wide_enough_the_result_is_exact_with_the_widest_one():
    top = clear(epsilon=5.0)
    assert (top.stopped, top.k) == ("exact", 3)
    assert "No gap is as wide as epsilon=5; this is the widest." in top.promise


def test_players_that_all_tie_have_no_clear_gap():
    top = clear(topshap.games.AdditiveGame([1.0] * 6), epsilon=0.0)
    assert top.stopped == "exact"
    assert "No gap is as wide" in top.promise


def test_ask_and_tell_shows_the_size_chosen_so_far():
    race = topshap.Race(n_players=10, k="clear", epsilon=0.1, random_state=0)
    assert race.k == 1
    while not race.done:
        race.tell(GAME(race.ask()))
        assert 1 <= race.k < 10
        assert 0.0 <= race.completion <= 1.0
    assert race.k == race.result().k == 3


def test_the_same_seed_gives_the_same_result_for_any_unit_of_the_values():
    one = clear()
    many = clear(lambda coalitions: GAME(coalitions) * 2.0**40, epsilon=0.1 * 2.0**40, n_players=10)
    assert (one.players.tolist(), one.evaluations) == (many.players.tolist(), many.evaluations)


def test_a_saved_result_says_that_k_was_chosen(tmp_path):
    top = clear()
    top.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").promise == top.promise


def test_an_explainer_finds_a_clear_gap_with_dummies():
    explainer = topshap.Explainer(lambda X: X @ [5.0, 4.0, 0.1, 0.0, 0.0], np.array([[0.0, 0.0, 0.0, 1.0, 1.0]]))
    top = explainer.explain([1.0, 1.0, 1.0, 1.0, 1.0], k="clear", epsilon=0.5, random_state=0)
    assert top.players.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"'k' parameter of identify must be an int in \[1, 10\] without 'epsilon'.*stable_ranks"),
        ({"budget": 50}, "must be an int in"),
        ({"epsilon": 0.1, "algorithm": "swap@k"}, "algorithm 'swap@k', which does not look for gaps.*'odd-gp@k'"),
        ({"epsilon": 0.1, "guarantee": "exact"}, "'enumeration', which does not look for gaps"),
        ({"epsilon": 0.1, "rank_by": "magnitude"}, "'rank_by' parameter of identify must be 'value' or 'lowest'"),
        ({"epsilon": 0.1, "delta": 2.0}, "'delta' parameter"),
    ],
)
def test_what_is_not_possible_is_refused_by_name(options, message):
    with pytest.raises(topshap.ParameterError, match=message):
        topshap.identify(GAME, k="clear", **options)


def test_another_word_for_k_is_refused():
    with pytest.raises(topshap.ParameterError, match=r"'k' parameter of identify must be an int in \[1, 10\]"):
        topshap.identify(GAME, k="best", epsilon=0.1)  # type: ignore[arg-type]


def test_one_player_has_no_gap():
    with pytest.raises(topshap.ParameterError, match="'k' parameter of identify must be 1"):
        topshap.identify(topshap.games.AdditiveGame([3.0]), k="clear", epsilon=0.1)


def test_several_outputs_are_refused():
    def game(coalitions):
        return np.stack([GAME(coalitions), GAME(coalitions)], axis=1)

    with pytest.raises(topshap.ParameterError, match="'k' parameter"):
        topshap.identify(game, n_players=10, k="clear", epsilon=0.1)


def test_many_rows_need_one_k():
    explainer = topshap.Explainer(lambda X: X @ [5.0, 4.0, 0.1], np.zeros((1, 3)))
    with pytest.raises(topshap.ParameterError, match="'k' parameter of explain_many must be an int"):
        explainer.explain_many(np.ones((2, 3)), k="clear", epsilon=0.1)  # type: ignore[arg-type]


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=8))
def test_the_size_of_exact_values_is_that_of_the_widest_gap(values):
    ranked = np.sort(np.array(values, dtype=float))[::-1]
    gaps = ranked[:-1] - ranked[1:]
    size = chosen_size(FittedStanding(np.arange(len(values)), np.array(values, dtype=float)))
    assert gaps[size - 1] == gaps.max()
    assert (gaps[: size - 1] < gaps.max()).all()


def pairs_of(ranked):
    """Return the differences of players whose values are known exactly."""
    gaps = ranked[:, None] - ranked
    return BorderDifferences(gaps, *(np.zeros_like(gaps) for _ in range(4)))


@given(st.integers(0, 2**32), st.integers(2, 8), st.floats(0.0, 0.5))
def test_the_closest_size_follows_the_definition(seed, n, epsilon):
    rng = np.random.default_rng(seed)
    ranked = np.sort(rng.normal(size=n))[::-1]
    widths = rng.uniform(0.01, 2.0, size=(n, n))
    ratios = (ranked[:, None] - ranked - epsilon) / widths
    by_definition = [ratios[:k, k:].min() for k in range(1, n)]
    assert by_definition[closest_to_clear(pairs_of(ranked), widths, epsilon) - 1] == max(by_definition)


def test_of_gaps_without_uncertainty_the_widest_is_the_closest():
    assert closest_to_clear(pairs_of(np.array([9.0, 8.0, 3.0, 0.0])), np.zeros((4, 4)), 0.5) == 2


def test_the_rules_check_the_bound_and_the_posterior():
    class Bounded(FittedStanding):
        def worst_bound(self):
            return 0.2

    standing = Bounded(np.arange(3), np.array([2.0, 1.0, 0.0]))
    assert ClearGap(0.2)(standing, 1)
    assert not ClearGap(0.3)(standing, 1)
    assert 0.0 < ClearGap(0.3).completion(standing, 1) < 1.0
    standing.set(np.array([2.0, 1.0, 0.0]), np.diag([0.01, 0.01, 0.01]))
    assert CredibleGap(0.5, 0.05)(standing, 1)
    assert not CredibleGap(0.9, 0.05)(standing, 1)


def test_a_bound_of_0_is_not_a_gap():
    class Bounded(FittedStanding):
        def worst_bound(self):
            return 0.0

    assert not ClearGap(0.0)(Bounded(np.arange(2), np.zeros(2)), 1)


def test_the_rule_needs_bounds():
    with pytest.raises(TypeError, match="worst_bound"):
        ClearGap(0.1)(FittedStanding(np.arange(2), np.zeros(2)), 1)
