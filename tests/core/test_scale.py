"""The scale of the values does not matter: neither squares that underflow nor those that overflow change a result."""

import warnings

import numpy as np
import pytest

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.coalitions import from_ids, to_ids
from topshap.core.scale import Scale
from topshap.core.tables import shapley_from_table
from topshap.games import AdditiveGame

N, K = 6, 2
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
RNG = np.random.default_rng(3)
WHOLE = np.round(from_ids(np.arange(2**N), N) @ [40, 30, 20, 8, 4, 0] + 6.0 * RNG.random(2**N))
"""The values of a game, whole numbers up to 105."""
SEVERAL = [5e-324, 1e-310, 1e-200, 1e-100, 1e75, 1e150, 1e297]
POWERS = [-1074, -1030, -700, -300, 300, 500, 985]


def run(table, *, budget=40, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expected in (topshap.PublishedRuleWarning, topshap.RareContributionsWarning):
            warnings.simplefilter("ignore", expected)
        top = topshap.identify(
            lambda rows: table[to_ids(rows)], N, k=K, budget=budget, **({"random_state": 0} | options)
        )
        assert str(top)
        assert np.isfinite(top.pairwise()).all()
        _ = top.confidence, top.inclusion, top.tied
    return top


@pytest.mark.parametrize("rank_by", ["value", "lowest"])
@every_algorithm
def test_every_algorithm_finds_the_same_players_in_a_scaled_game(algorithm, rank_by):
    expected = run(WHOLE, algorithm=algorithm, rank_by=rank_by)
    for factor in SEVERAL:
        assert set(run(WHOLE * factor, algorithm=algorithm, rank_by=rank_by).players) == set(expected.players), factor


@every_algorithm
def test_powers_of_two_scale_estimates_and_errors(algorithm):
    expected = run(WHOLE / 128.0, algorithm=algorithm)  # the values as the algorithm gets them in all cases
    for exponent in POWERS:
        top = run(np.ldexp(WHOLE, exponent), algorithm=algorithm)
        assert top.evaluations == expected.evaluations
        np.testing.assert_array_equal(top.estimates, np.ldexp(expected.estimates, exponent + 7))
        np.testing.assert_array_equal(top.std_errors, np.ldexp(expected.std_errors, exponent + 7))
        np.testing.assert_array_equal(top.players, expected.players)


@pytest.mark.parametrize("algorithm", ["odd-gp@k", "swap@k", "greedy-cmcs"])
@pytest.mark.parametrize("factor", [2.0**-1074, 2.0**-500, 2.0**900])
def test_epsilon_and_value_range_are_in_units_of_the_values(algorithm, factor):
    guarantee = "exact" if algorithm == "swap@k" else None

    def confident(times):
        ranges = {"value_range": (-10.0 * times, 150.0 * times), "guarantee": guarantee} if guarantee else {}
        return run(WHOLE * times, algorithm=algorithm, budget=None, epsilon=4.0 * times, **ranges)

    top, expected = confident(factor), confident(1.0)
    assert (top.stopped, top.evaluations, top.epsilon) == (expected.stopped, expected.evaluations, 4.0 * factor)


@every_algorithm
@pytest.mark.parametrize("epsilon", [0.5, 1e300])
def test_an_epsilon_far_above_all_values_is_reached(algorithm, epsilon):
    top = run(WHOLE * 5e-324, algorithm=algorithm, budget=60, epsilon=epsilon, guarantee="credible", counting="calls")
    assert top.epsilon == epsilon
    assert np.isfinite(top.estimates).all()


@pytest.mark.parametrize("factor", [5e-324, 1e-310, 1e297])
def test_exact_values_decide_where_their_rounded_numbers_are_equal(factor):
    table = np.zeros(2**N)
    table[-1], table[0b011111] = 1.0, 1.0  # Shapley values 1/5 and less, all of which round to 0 as denormal numbers
    table[0b000010] = -1.0
    expected = run(table, budget=2**N)
    top = run(table * factor, budget=2**N)
    assert top.stopped == "exact"
    np.testing.assert_array_equal(top.players, expected.players)


@pytest.mark.parametrize("factor", [5e-324, 1e-200, 1e297])
def test_the_report_and_the_leaderboard_have_no_warnings(tmp_path, factor):
    top = run(WHOLE * factor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top.to_html(tmp_path / "report.html")
        assert top.to_frame()["top_k"].sum() == K
        top.save(tmp_path / "top.json")
    assert (topshap.load(tmp_path / "top.json").estimates == top.estimates).all()


def test_a_table_of_the_smallest_numbers_has_rounded_shapley_values():
    table = np.array([0.0, 3.0, 6.0, 15.0])
    np.testing.assert_array_equal(shapley_from_table(table * 5e-324), np.array([6.0, 9.0]) * 5e-324)
    np.testing.assert_allclose(shapley_from_table(np.array([-1e300, 1e300, 1e300, 1e300])), [1e300, 1e300])


@pytest.mark.parametrize("counting", ["distinct", "calls"])
@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.0, 5e-324), (5e-324, 1e-200), (0.0, 1e-100)])
@every_algorithm
def test_the_scale_may_show_only_after_the_first_values(algorithm, ends, counting):
    for factor in (1e-310, 1.0, 1e290):
        table = WHOLE * factor
        table[0], table[-1] = ends
        top = run(table, algorithm=algorithm, counting=counting)
        assert top.calls <= 40 if counting == "calls" else top.evaluations <= 40
        assert np.isfinite(top.estimates).all()
        assert top.learned


def test_a_race_that_starts_anew_is_the_race_with_the_scale_known():
    late = WHOLE * 2.0**-1000
    late[0] = late[-1] = 0.0
    known = late * 2.0**1000
    top, expected = run(late, algorithm="cmcs"), run(known, algorithm="cmcs")
    np.testing.assert_array_equal(top.estimates, expected.estimates * 2.0**-1000)
    assert (top.evaluations, top.calls) == (expected.evaluations, expected.calls)


def test_values_that_vary_are_paid_for_at_every_access_when_the_scale_shows_late():
    table = WHOLE * 1e-310
    table[0] = table[-1] = 0.0
    game = topshap.Oracle(lambda rows: table[to_ids(rows)], n_players=N, deterministic=False)
    top = topshap.identify(game, k=K, budget=60, algorithm="cmcs", random_state=0)
    assert top.evaluations == 60
    assert top.learned


def test_a_race_may_be_ended_within_the_batch_that_shows_the_scale():
    race = topshap.Race(n_players=4, k=2, budget=14, algorithm="cmcs", random_state=0)
    race.tell([0.0, 0.0])
    race.tell_part(np.full(2, 1e-310))
    race.end()
    assert race.result().stopped == "interrupted"
    assert np.isfinite(race.result().estimates).all()


def test_games_of_usual_size_are_not_scaled():
    scale = Scale(negates=False)
    for largest in (1e-60, 1.0, 1e75):
        values = np.array([-largest, largest / 3.0])
        scale.fit(values)
        assert scale.is_one
        assert scale.apply(values) is values


def test_the_scale_follows_the_largest_value():
    scale = Scale(negates=True)
    assert scale.fit(np.array([1e-310]))
    assert not scale.fit(np.array([1e-320, 1e-309]))
    assert scale.fit(np.array([1.0]))
    assert scale.exponent == 0
    assert scale.fit(np.array([1e200]))
    assert not scale.fit(np.array([1e-320]))
    assert abs(scale.apply(np.array([1e200]))[0]) < 1.0


def test_values_beyond_the_largest_are_refused():
    with pytest.raises(topshap.GameError, match=r"finite number in \[-1e\+300, 1e\+300\]. Got 1e\+308"):
        topshap.identify(AdditiveGame([5e307, 5e307]), k=1)
