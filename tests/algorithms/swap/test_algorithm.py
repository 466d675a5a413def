"""swap@k: players compared by swapping them, until the border of the top k is certain."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms import SwapAtK
from topshap.algorithms.swap.algorithm import allocate
from topshap.core.coalitions import from_ids
from topshap.games import AdditiveGame, TableGame, UnanimityGame
from topshap.reference.metrics import inclusion_exclusion_error


def run(game, k=2, epsilon=0.01, delta=0.05, seed=0, **options):
    return topshap.identify(game, k=k, epsilon=epsilon, delta=delta, algorithm="swap@k", random_state=seed, **options)


def rough_game(n, seed, gap=0.02):
    """Close neighbours across the border of the top 3, interactions of three, and heavy tails on top."""
    rng = np.random.default_rng(seed)
    coalitions = from_ids(np.arange(2**n), n)
    members = coalitions[:, 0] & coalitions[:, 3] & coalitions[:, 4]
    strength = 0.2 - gap * np.arange(n)
    return TableGame(coalitions @ strength + 0.1 * members + 0.02 * rng.standard_t(3, size=2**n))


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("kind", ["random", "additive", "constant", "tie", "dummies", "duplicates"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("guarantee", ["asymptotic", "exact"])
def test_degenerate_games_end_with_the_right_answer(n, kind, epsilon, guarantee):
    coalitions = from_ids(np.arange(2**n), n)
    table = {
        "random": np.random.default_rng(n).random(2**n),
        "additive": coalitions @ (np.arange(n) + 1.0),
        "constant": np.full(2**n, 3.0),
        "tie": coalitions.sum(axis=1) ** 2.0,
        "dummies": 1.0 * coalitions[:, 0],
        "duplicates": 1.0 * (coalitions[:, 0] | coalitions[:, 1]),
    }[kind]
    game = TableGame(table)
    for k in {1, 2, n - 1, n}:
        top = run(game, k=k, epsilon=epsilon, guarantee=guarantee, value_range=(table.min() - 0.1, table.max()))
        assert top.evaluations <= 2**n
        assert top.stopped in ("exact", "confident")
        assert inclusion_exclusion_error(game.shapley_values(), top.players) <= epsilon + 1e-9


def test_errors_on_near_ties_are_rare():
    """60 rough games with gaps of 0.02 at delta = 0.1: more than 12 failures have a probability of 0.5%."""
    wrong = 0
    for seed in range(60):
        game = rough_game(8, seed)
        top = run(game, k=3, epsilon=0.002, delta=0.1, seed=seed)
        wrong += inclusion_exclusion_error(game.shapley_values(), top.players) > 0.002
    assert wrong <= 12


def test_a_rarely_pivotal_player_is_not_missed():
    """Player 1 matters only together with six others, but its Shapley value is higher than that of player 0."""
    game = UnanimityGame([[0], list(range(1, 8))], [0.02, 0.4], n_players=12)
    exact = game.shapley_values()
    for seed in range(5):
        assert inclusion_exclusion_error(exact, run(game, k=1, epsilon=0.001, seed=seed).players) <= 0.001


def test_differences_of_estimates_are_unbiased():
    """200 runs that end before sampling depends on values: 4 standard errors of 0.07 deviations are allowed."""
    game = TableGame(np.random.default_rng(3).random(2**7))
    exact = game.shapley_values()
    tops = [topshap.identify(game, k=3, budget=72, algorithm="swap@k", random_state=seed) for seed in range(200)]
    differences = np.array([top.estimates[:, None] - top.estimates for top in tops])
    error = differences.std(axis=0, ddof=1) / math.sqrt(len(tops))
    pairs = np.triu_indices(7, 1)
    off = np.abs(differences.mean(axis=0) - (exact[:, None] - exact))[pairs]
    np.testing.assert_array_less(off, 4.0 * error[pairs])


def test_intervals_have_about_their_nominal_coverage_or_more():
    """50 runs, 9 players: the coverage of 0.95 is known to 0.03 for each; shared evaluations make it higher."""
    game = TableGame(np.random.default_rng(4).random(2**9))
    exact = game.shapley_values()
    options = {"k": 3, "budget": 250, "algorithm": "swap@k"}
    intervals = np.array([topshap.identify(game, random_state=s, **options).interval(0.95) for s in range(50)])
    covered = ((intervals[:, :, 0] <= exact) & (exact <= intervals[:, :, 1])).mean()
    assert covered > 0.92


def test_results_with_an_exact_guarantee_are_correct():
    """20 games of values in [0, 1] with delta = 0.2: the bounds are so conservative that none should be wrong."""
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        coalitions = from_ids(np.arange(2**9), 9)
        game = TableGame(1.0 * (coalitions @ rng.random(9) + 0.3 * rng.random(2**9) > 2.3))
        top = run(game, k=3, epsilon=0.02, delta=0.2, seed=seed, guarantee="exact", value_range=(0.0, 1.0))
        wrong += inclusion_exclusion_error(game.shapley_values(), top.players) > 0.02 + 1e-9
    assert wrong == 0


def test_with_a_range_an_exact_guarantee_does_not_take_all_coalitions():
    strength = np.array([1.0, 0.9, 0.8] + [0.0] * 15)
    game = AdditiveGame(strength / strength.sum())
    top = topshap.identify(game, k=3, epsilon=0.25, guarantee="exact", value_range=(0.0, 1.0), random_state=0)
    assert (top.stopped, top.algorithm, top.guarantee) == ("confident", "swap@k", "exact")
    assert top.evaluations < 2**18 / 4
    assert set(top.players) == {0, 1, 2}
    assert "for any game with values in [0, 1]" in top.promise


def test_a_noisy_game_is_decided():
    rng = np.random.default_rng(0)

    def noisy(coalitions):
        return coalitions @ np.array([3.0, 2.0, 1.0, 0.0, 0.0]) + rng.normal(size=len(coalitions))

    noisy.deterministic = False  # type: ignore[attr-defined]
    top = topshap.identify(noisy, 5, k=2, epsilon=0.2, random_state=0)
    assert (top.algorithm, top.stopped) == ("swap@k", "confident")
    assert set(top.players) == {0, 1}
    assert top.evaluations > 2**5


def test_a_large_game_is_finished_without_enumerating_it():
    rng = np.random.default_rng(0)
    sets = [[i] for i in range(40)] + [rng.choice(40, 3, replace=False).tolist() for _ in range(60)]
    game = UnanimityGame(sets, np.concatenate([np.linspace(4.0, 0.0, 40), rng.random(60)]), n_players=40)
    top = run(game, k=5, epsilon=0.1)
    assert top.stopped == "confident"
    assert inclusion_exclusion_error(game.shapley_values(), top.players) <= 0.1


def test_batches_are_at_least_min_batch_unless_the_undecided_pairs_need_less():
    race = topshap.Race(12, 3, epsilon=1e-6, budget=2000, algorithm=SwapAtK(min_batch=40), random_state=0)
    game = rough_game(12, 0)
    sizes = []
    while not race.done:
        asked = race.ask()
        sizes.append(len(asked))
        race.tell(game(asked))
    assert np.mean(np.array(sizes[1:-1]) >= 40) > 0.9


@given(
    count=st.integers(1, 40),
    variances=st.lists(st.floats(0.0, 100.0), min_size=4, max_size=4),
    counts=st.lists(st.integers(0, 20), min_size=4, max_size=4),
    left=st.lists(st.integers(0, 10), min_size=4, max_size=4),
)
def test_an_allocation_uses_the_count_as_far_as_comparisons_are_left(count, variances, counts, left):
    arrays = [np.array(each, dtype=float) for each in (variances, counts, left)]
    shares = allocate(count, *arrays, np.ones(4))  # type: ignore[call-arg]
    assert np.all(shares <= arrays[2])
    assert shares.sum() == min(count, sum(left))


@pytest.mark.parametrize("guarantee", ["asymptotic", "exact"])
def test_a_race_on_tiny_values_stops_like_one_on_ordinary_values(guarantee):
    game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3, 4]], [2.0, 1.0, 3.0], n_players=10)
    small = 2.0**-700

    def scaled(coalitions):
        return game(coalitions) * small

    options = {"k": 2, "algorithm": "swap@k", "guarantee": guarantee, "random_state": 0}
    top = topshap.identify(game, epsilon=0.25, value_range=(0.0, 8.0), **options)
    tiny = topshap.identify(scaled, 10, epsilon=0.25 * small, value_range=(0.0, 8.0 * small), **options)
    assert (tiny.evaluations, tiny.stopped) == (top.evaluations, top.stopped)
    np.testing.assert_array_equal(tiny.players, top.players)
    np.testing.assert_allclose(tiny.estimates / small, top.estimates, rtol=1e-9, atol=1e-12)


def test_ordinary_values_after_tiny_ones_do_not_break_a_run():
    """The values of all coalitions of the first round are tiny, those of some later ones are not."""

    def game(coalitions):
        return np.where(coalitions[:, 0] & coalitions[:, 1], 1.0, 1e-200) * coalitions.sum(axis=1)

    top = topshap.identify(game, 8, k=2, budget=200, algorithm="swap@k", random_state=0)
    assert set(top.players.tolist()) == {0, 1}
    assert np.isfinite(top.std_errors).all()
