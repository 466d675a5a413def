"""Properties of every algorithm: budget, exactness, scale, ties, randomness, uncertainty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS, Enumeration, enumeration, make
from topshap.core import rounds as core_rounds
from topshap.core.coalitions import to_ids
from topshap.games import AdditiveGame, TableGame
from topshap.reference.exact import shapley_values

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
either_counting = pytest.mark.parametrize("counting", ["distinct", "calls"])

PLANS_AHEAD = {"kernelshap", "odd-gp", "odd-gp@k", "swap@k"}
"""Algorithms that ask for distinct coalitions only, and have nothing left to ask once all are known."""


def expected_to_spend(algorithm, n, budget, counting):
    """Return the whole budget, or the number of coalitions if there is nothing left to evaluate."""
    nothing_left = counting == "distinct" or n == 1 or algorithm in PLANS_AHEAD
    return min(budget, 2**n) if nothing_left else budget


# The budget.


@either_counting
@every_algorithm
@settings(max_examples=30)
@given(data=st.data())
def test_an_algorithm_spends_its_budget_and_no_more(random_game, counted, algorithm, counting, data):
    n = data.draw(st.integers(1, 12), label="n")
    k = data.draw(st.integers(1, n), label="k")
    budget, seed = data.draw(st.integers(2, 140), label="budget"), data.draw(st.integers(0, 99), label="seed")
    game = counted(random_game(n))
    top = topshap.identify(game, k=k, budget=budget, algorithm=algorithm, counting=counting, random_state=seed)
    assert len(set(game.asked)) == len(game.asked) == top.evaluations
    spent = top.evaluations if counting == "distinct" else top.calls
    assert spent == expected_to_spend(algorithm, n, budget, counting) <= budget
    assert top.evaluations <= top.calls
    assert len(set(top.players.tolist())) == k
    assert np.isfinite(top.estimates).all()


@either_counting
@every_algorithm
def test_a_budget_may_end_anywhere_in_a_round(random_game, algorithm, counting):
    game = random_game(5)
    for budget in range(2, 45):
        top = topshap.identify(game, k=2, budget=budget, algorithm=algorithm, counting=counting, random_state=budget)
        spent = top.evaluations if counting == "distinct" else top.calls
        assert spent == expected_to_spend(algorithm, 5, budget, counting)
        assert np.isfinite(top.estimates).all()


@every_algorithm
def test_a_budget_of_all_but_one_coalition_is_spent(random_game, counted, algorithm):
    game = counted(random_game(8))
    top = topshap.identify(game, k=3, budget=255, algorithm=algorithm, random_state=0)
    assert (top.evaluations, top.stopped) == (255, "budget")
    assert len(set(game.asked)) == len(game.asked) == 255


@either_counting
@every_algorithm
def test_stopped_is_budget_only_if_the_budget_is_spent(random_game, algorithm, counting):
    for n, budget in ((1, 2), (1, 50), (2, 50), (4, 15), (4, 16), (4, 17), (4, 100)):
        options = {"budget": budget, "algorithm": algorithm, "counting": counting}
        top = topshap.identify(random_game(n), k=1, random_state=0, **options)
        spent = top.evaluations if counting == "distinct" else top.calls
        everything_known = top.evaluations == 2**n
        if counting == "distinct":
            assert top.stopped == ("exact" if everything_known else "budget")
        assert {"budget": spent == budget, "exact": everything_known}[top.stopped]


@either_counting
@every_algorithm
def test_with_two_evaluations_all_estimates_are_equal(random_game, algorithm, counting):
    game = random_game(5)
    top = topshap.identify(game, k=2, budget=2, algorithm=algorithm, counting=counting, random_state=0)
    np.testing.assert_allclose(top.estimates, (top.grand - top.empty) / 5)
    assert (top.grand, top.empty) == (game.values[-1], game.values[0])
    assert np.isnan(top.std_errors).all()
    assert np.isnan(top.confidence)


# Exactness.


@every_algorithm
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_a_budget_of_all_coalitions_gives_an_exact_result(random_game, counted, algorithm, n):
    for budget in (2**n, 2**n + 1, 10 * 2**n):
        game = counted(random_game(n, seed=n))
        top = topshap.identify(game, k=(n + 1) // 2, budget=budget, algorithm=algorithm, random_state=0)
        assert (top.stopped, top.evaluations) == ("exact", 2**n)
        np.testing.assert_allclose(top.estimates, shapley_values(game.game), atol=1e-9)
        assert not top.std_errors.any()
        assert top.confidence == 1.0
        assert len(set(game.asked)) == len(game.asked) == 2**n


@pytest.mark.parametrize("algorithm", ["cmcs", "cmcs@k", "greedy-cmcs", "samplingshap@k"])
def test_a_race_that_stops_by_itself_is_exact_once_all_coalitions_are_known(random_game, algorithm):
    game = random_game(5)
    options = {"epsilon": 0.0, "guarantee": "published", "algorithm": algorithm}
    top = topshap.identify(game, k=2, random_state=0, **options)
    assert (top.stopped, top.evaluations) == ("exact", 32)
    np.testing.assert_allclose(top.estimates, game.shapley_values(), atol=1e-9)


@either_counting
@every_algorithm
def test_a_single_player_has_the_whole_gain(algorithm, counting):
    for budget in (2, 3, 100):
        game = TableGame([3.0, 10.0])
        top = topshap.identify(game, k=1, budget=budget, algorithm=algorithm, counting=counting, random_state=0)
        assert top.players.tolist() == [0]
        assert top.estimates.tolist() == [7.0]
        assert (top.stopped, top.evaluations) == ("exact", 2)


SAMPLES_OF_MARGINALS = sorted(set(ALGORITHMS) - {"kernelshap", "stratified-svarm", "odd-gp", "odd-gp@k", "player-gp"})


@either_counting
@pytest.mark.parametrize("algorithm", SAMPLES_OF_MARGINALS)
def test_one_sample_each_is_enough_for_an_additive_game(algorithm, counting):
    weights = np.array([3.0, -1.0, 2.0, 0.0, 5.0, 1.0])
    game = AdditiveGame(weights, baseline=8.0)
    top = topshap.identify(game, k=2, budget=30, algorithm=algorithm, counting=counting, random_state=0)
    np.testing.assert_allclose(top.estimates, weights, atol=1e-12)
    assert top.players.tolist() == [4, 0]


@either_counting
@every_algorithm
def test_a_larger_budget_reduces_the_error(smooth_game, algorithm, counting):
    game = smooth_game(7, seed=1)

    def error(budget):
        options = {"k": 3, "budget": budget, "algorithm": algorithm, "counting": counting}
        runs = [topshap.identify(game, random_state=seed, **options).estimates for seed in range(12)]
        return np.mean((np.array(runs) - game.shapley_values()) ** 2)

    assert error(120) < 0.7 * error(25)


# Extremes that must neither warn nor fail.


@either_counting
@every_algorithm
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_k_may_be_the_number_of_players(random_game, algorithm, counting, n):
    for budget in (2, 3, n + 2, 40):
        options = {"budget": budget, "algorithm": algorithm, "counting": counting}
        top = topshap.identify(random_game(n), k=n, random_state=0, **options)
        assert sorted(top.players) == list(range(n))
        assert np.all(np.diff(top.estimates[top.players]) < 1e-12)
        assert top.confidence == 1.0


@either_counting
@every_algorithm
@pytest.mark.parametrize("value", [0.0, 7.0, -1e9])
def test_all_estimates_of_a_constant_game_are_zero(algorithm, counting, value):
    for n, k, budget in ((2, 1, 3), (6, 2, 50), (6, 2, 63), (6, 6, 40)):
        options = {"budget": budget, "algorithm": algorithm, "counting": counting}
        top = topshap.identify(lambda c: np.full(len(c), value), n, k=k, random_state=0, **options)
        np.testing.assert_allclose(top.estimates, 0.0, atol=1e-12)
        assert len(top.players) == k
        str(top)


@either_counting
@every_algorithm
@pytest.mark.parametrize("power", [-30, 30])
def test_the_unit_of_the_values_does_not_matter(random_game, algorithm, counting, power):
    """Powers of two, about 1e-9 and 1e9, change no digit of a number: everything must scale exactly."""
    game, options = random_game(6), {"k": 2, "budget": 55, "algorithm": algorithm, "counting": counting}
    top = topshap.identify(game, random_state=0, **options)
    scaled = topshap.identify(lambda c: 2.0**power * game(c), 6, random_state=0, **options)
    np.testing.assert_array_equal(scaled.players, top.players)
    np.testing.assert_array_equal(scaled.estimates, 2.0**power * top.estimates)
    np.testing.assert_array_equal(scaled.std_errors, 2.0**power * top.std_errors)
    assert scaled.confidence == top.confidence or np.isnan(top.confidence)


@either_counting
@every_algorithm
@pytest.mark.parametrize("baseline", [2.0**30, -(2.0**30)])
def test_a_large_common_baseline_does_not_matter(algorithm, counting, baseline):
    """Whole numbers beside a baseline of about 1e9 are exact: contributions must be exactly the same."""
    table = np.random.default_rng(0).integers(-50, 51, size=64).astype(float)
    options = {"k": 2, "budget": 55, "algorithm": algorithm, "counting": counting, "random_state": 0}
    top, lifted = (topshap.identify(TableGame(table + start), **options) for start in (0.0, baseline))
    np.testing.assert_array_equal(lifted.players, top.players)
    if algorithm.startswith("odd-gp"):  # its even part is centred, which leaves rounding errors in the hyper-parameters
        np.testing.assert_allclose(lifted.estimates, top.estimates, atol=1e-6)
        np.testing.assert_allclose(lifted.std_errors, top.std_errors, atol=1e-6)
        return
    np.testing.assert_array_equal(lifted.estimates, top.estimates)
    np.testing.assert_array_equal(lifted.std_errors, top.std_errors)


@every_algorithm
@pytest.mark.parametrize(("scale", "baseline"), [(1e9, 0.0), (1e-9, 0.0), (1.0, 1e9), (1e-3, -1e9)])
def test_large_small_and_lifted_values_give_finite_results(random_game, algorithm, scale, baseline):
    game = random_game(6, scale=scale, baseline=baseline)
    for budget in (3, 9, 30, 60):
        top = topshap.identify(game, k=2, budget=budget, algorithm=algorithm, counting="calls", random_state=0)
        assert np.isfinite(top.estimates).all()
        assert np.abs(top.estimates).max() < 10 * scale
        assert 0 <= top.confidence <= 1 or np.isnan(top.confidence)


# Uncertainty.


def all_equal_but_for_one_coalition(coalitions):
    """Every player adds 1 to any coalition, but one coalition of six players among 4096 has a value 20 higher."""
    rare = (coalitions == np.isin(np.arange(12), [0, 2, 4, 6, 8, 10])).all(axis=1)
    return coalitions.sum(axis=1) + 20.0 * rare


@every_algorithm
@pytest.mark.parametrize("budget", [60, 400])
def test_equal_samples_are_not_certain(algorithm, budget):
    options = {"k": 3, "budget": budget, "algorithm": algorithm, "counting": "calls"}
    runs = (topshap.identify(all_equal_but_for_one_coalition, 12, random_state=seed, **options) for seed in range(10))
    top = next(top for top in runs if np.allclose(top.estimates, 1.0))  # the rare coalition was not evaluated
    unknown = np.isnan(top.std_errors)
    assert (unknown | (top.std_errors > 1e-4)).all()
    width = np.ptp(np.where(np.isfinite(top.interval()), top.interval(), [-1e9, 1e9]), axis=1)
    assert width.min() > 1e-4
    assert not top.confidence > 0.9


# Ties.


def symmetric(coalitions):
    """A nonlinear function of the size: all players have the same Shapley value, but samples vary."""
    return np.array([0.0, 0.0, 0.0, 0.5, 2.0, 2.0])[coalitions.sum(axis=1)]


def equal(coalitions):
    return coalitions.sum(axis=1) * 0.75


RUNS = 400


@every_algorithm
@pytest.mark.parametrize(
    ("game", "budget"),
    [(equal, 12), (symmetric, 5), (symmetric, 11), (symmetric, 17)],
    ids=["ties", "part of the first round", "part of a later round", "more rounds"],
)
def test_equal_players_are_selected_equally_often(algorithm, game, budget):
    options = {"k": 1, "budget": budget, "algorithm": algorithm, "counting": "calls"}
    found = [int(topshap.identify(game, 5, random_state=seed, **options).players[0]) for seed in range(RUNS)]
    times = np.bincount(found, minlength=5)
    chi_square = ((times - RUNS / 5) ** 2 / (RUNS / 5)).sum()
    assert chi_square < 33.4, times  # the 1e-6 quantile with 4 degrees of freedom


@every_algorithm
def test_exact_ties_are_broken_at_random(algorithm):
    found = [
        topshap.identify(equal, 4, k=2, algorithm=algorithm, random_state=seed).players.tolist() for seed in range(RUNS)
    ]
    times = np.bincount(np.ravel(found), minlength=4)
    assert np.abs(times - RUNS / 2).max() < 5 * np.sqrt(RUNS / 4)


# Batches.


@either_counting
@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"kernelshap", "stratified-svarm"}))
@pytest.mark.parametrize("rows", [5, 8, 47])
def test_the_largest_batch_allowed_does_not_change_the_result(random_game, monkeypatch, algorithm, counting, rows):
    """Rounds are split, and the samples stay the same.

    This excludes kernelshap and stratified-svarm, which draw sizes for as many coalitions as fit into a batch before
    they draw the members, so that the order of the random numbers depends on the size of a batch.
    """
    game, options = random_game(9), {"k": 3, "budget": 250, "algorithm": algorithm, "counting": counting}
    whole = topshap.identify(game, random_state=0, **options)
    monkeypatch.setattr(core_rounds, "MAX_BATCH_BYTES", 9 * rows)
    cut = topshap.identify(game, random_state=0, **options)
    np.testing.assert_array_equal(cut.players, whole.players)
    np.testing.assert_array_equal(cut.estimates, whole.estimates)
    np.testing.assert_array_equal(cut.std_errors, whole.std_errors)


@every_algorithm
def test_no_batch_is_larger_than_allowed(monkeypatch, counted, algorithm):
    game = counted(AdditiveGame(np.arange(40) % 7))
    monkeypatch.setattr(core_rounds, "MAX_BATCH_BYTES", 40 * 16)
    topshap.identify(game, k=5, budget=41 * 33, algorithm=algorithm, random_state=0)
    assert max(batch.nbytes for batch in game.batches) <= 40 * 16
    assert sum(len(batch) for batch in game.batches) == 41 * 33


# Names and objects.


@every_algorithm
def test_an_algorithm_gives_the_same_result_by_name_and_as_an_object(random_game, algorithm):
    game = random_game(6)
    by_name = topshap.identify(game, k=2, budget=50, algorithm=algorithm, random_state=0)
    by_object = topshap.identify(game, k=2, budget=50, algorithm=ALGORITHMS[algorithm](), random_state=0)
    np.testing.assert_array_equal(by_name.estimates, by_object.estimates)
    assert by_name.algorithm == by_object.algorithm == algorithm == ALGORITHMS[algorithm].name


@every_algorithm
def test_an_algorithm_keeps_nothing_between_races(random_game, algorithm):
    shared = make(algorithm)
    first, again = (
        topshap.identify(random_game(6), k=2, budget=50, algorithm=shared, random_state=0).estimates for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)


@every_algorithm
def test_the_repr_of_an_algorithm_is_its_constructor(algorithm):
    shown = repr(make(algorithm))
    assert shown.startswith(ALGORITHMS[algorithm].__name__ + "(")
    assert eval(shown, vars(topshap.algorithms)).name == algorithm  # noqa: S307 - our own text


def test_enumeration_with_too_small_a_budget_gives_estimates_without_standard_errors(random_game):
    top = topshap.identify(random_game(5), k=2, budget=20, algorithm=Enumeration(), random_state=0)
    assert (top.evaluations, top.stopped) == (20, "budget")
    assert top.estimates.sum() == pytest.approx(top.grand - top.empty)
    assert np.isnan(top.std_errors).all()
    weights = np.arange(5.0)
    additive = topshap.identify(AdditiveGame(weights), k=2, budget=20, algorithm=Enumeration(), random_state=0)
    np.testing.assert_allclose(additive.estimates, weights, atol=1e-12)


def test_enumeration_asks_in_batches_of_bounded_size(random_game, counted, monkeypatch):
    monkeypatch.setattr(core_rounds, "MAX_BATCH_BYTES", 6 * 10)
    game = counted(random_game(6))
    top = topshap.identify(game, k=2, budget=64)
    assert (top.stopped, max(map(len, game.batches))) == ("exact", 10)
    asked = np.concatenate(game.batches)
    np.testing.assert_array_equal(np.sort(to_ids(asked)), np.arange(64))


def test_enumeration_evaluates_small_coalitions_and_their_complements_first(random_game, counted):
    game = counted(random_game(5))
    topshap.identify(game, k=2, budget=32)
    ids = to_ids(np.concatenate(game.batches))
    np.testing.assert_array_equal(ids[::2] + ids[1::2], 31)
    sizes = np.concatenate(game.batches).sum(axis=1)
    assert np.minimum(sizes, 5 - sizes).tolist() == [0] * 2 + [1] * 10 + [2] * 20


def test_enumeration_of_more_players_goes_by_id(random_game, counted, monkeypatch):
    monkeypatch.setattr(enumeration, "IDS_PER_ROUND", 2**3)
    game = counted(random_game(4))
    topshap.identify(game, k=2, budget=16)
    ids = to_ids(np.concatenate(game.batches))
    assert ids.tolist() == [0, 15, *range(1, 15)]


# Small values.


def scaled(game, exponent):
    def small(coalitions):
        return np.ldexp(game(coalitions), exponent)

    return small


@every_algorithm
@pytest.mark.parametrize("exponent", [-300, -480])
def test_values_down_to_1e_150_give_the_same_answer_as_ordinary_ones(random_game, algorithm, exponent):
    game, options = random_game(9), {"k": 3, "budget": 200, "algorithm": algorithm, "random_state": 0}
    top = topshap.identify(game, **options)
    small = topshap.identify(scaled(game, exponent), 9, **options)
    np.testing.assert_array_equal(small.players, top.players)
    np.testing.assert_allclose(np.ldexp(small.estimates, -exponent), top.estimates, rtol=1e-9)
    np.testing.assert_allclose(np.ldexp(small.std_errors, -exponent), top.std_errors, rtol=1e-9)


@every_algorithm
def test_values_whose_squares_underflow_give_finite_estimates_and_no_false_certainty(random_game, algorithm):
    options = {"k": 3, "budget": 200, "algorithm": algorithm, "random_state": 0}
    top = topshap.identify(random_game(9), **options)
    small = topshap.identify(scaled(random_game(9), -980), 9, **options)
    assert np.isfinite(small.estimates).all()
    assert not (small.std_errors == 0.0).any()
    assert not small.confidence > 0.99
    if algorithm in ("swap@k", "cmcs"):
        np.testing.assert_array_equal(small.players, top.players)
        np.testing.assert_allclose(np.ldexp(small.estimates, 980), top.estimates, rtol=1e-6)
