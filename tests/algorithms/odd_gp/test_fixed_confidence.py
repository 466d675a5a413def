import numpy as np
import pytest

import topshap
from topshap.algorithms import OddGPAtK
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, TableGame, UnanimityGame, VotingGame
from topshap.reference.exact import shapley_interactions
from topshap.reference.metrics import inclusion_exclusion_error


def run(game, k=2, epsilon=0.01, delta=0.05, seed=0, **options):
    return topshap.identify(game, k=k, epsilon=epsilon, delta=delta, algorithm=OddGPAtK(), random_state=seed, **options)


def rough_game(n, seed, gap=0.02):
    """Close neighbours across the border of the top 3, interactions of three, and heavy-tailed noise."""
    rng = np.random.default_rng(seed)
    coalitions = from_ids(np.arange(2**n), n)
    strength = 0.2 - gap * np.arange(n)
    members = coalitions[:, 0] & coalitions[:, 3] & coalitions[:, 4]
    return TableGame(coalitions @ strength + 0.1 * members + 0.02 * rng.standard_t(3, size=2**n))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["random", "additive", "constant", "tie"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_small_and_degenerate_games_end_with_the_right_answer(n, kind, epsilon):
    table = {
        "random": np.random.default_rng(n).random(2**n),
        "additive": from_ids(np.arange(2**n), n) @ (np.arange(n) + 1.0),
        "constant": np.full(2**n, 3.0),
        "tie": from_ids(np.arange(2**n), n).sum(axis=1) ** 2.0,
    }[kind]
    game = TableGame(table)
    for k in range(1, n + 1):
        top = run(game, k=k, epsilon=epsilon)
        assert top.evaluations <= 2**n
        assert top.stopped in ("exact", "confident")
        assert inclusion_exclusion_error(game.shapley_values(), top.players) <= epsilon + 1e-9


def test_a_tie_with_an_epsilon_of_zero_ends_in_enumeration():
    game = UnanimityGame([[0, 1], [2, 3], [4, 5]], [1.0, 1.0, 1.0], n_players=8)
    top = run(game, k=3, epsilon=0.0)
    assert (top.stopped, top.evaluations) == ("exact", 2**8)


def test_an_additive_game_does_not_take_all_coalitions():
    top = run(AdditiveGame(np.arange(14.0)), k=4, epsilon=0.1)
    assert top.stopped == "confident"
    assert top.evaluations < 1000
    assert set(top.players) == {10, 11, 12, 13}


def test_errors_on_near_ties_are_rare():
    """60 rough games with gaps of 0.02 at delta = 0.1: a rule with an error rate of delta fails 6 times on average.

    It fails more than 12 times with a probability of 0.5%; the rule is meant to be conservative.
    """
    wrong = 0
    for seed in range(60):
        game = rough_game(9, seed)
        top = run(game, k=3, epsilon=0.002, delta=0.1, seed=seed)
        wrong += inclusion_exclusion_error(game.shapley_values(), top.players) > 0.002
    assert wrong <= 12


def test_a_rarely_pivotal_player_is_not_missed():
    """Player 1 matters only together with six others, but its Shapley value is higher than that of player 0."""
    sets, worth = [[0], list(range(1, 8))], [0.02, 0.4]
    game = UnanimityGame(sets, worth, n_players=12)
    exact = game.shapley_values()
    for seed in range(10):
        top = run(game, k=1, epsilon=0.001, delta=0.05, seed=seed)
        assert inclusion_exclusion_error(exact, top.players) <= 0.001


def test_a_large_game_is_finished_without_enumerating_it():
    rng = np.random.default_rng(0)
    sets = [[i] for i in range(40)] + [rng.choice(40, 3, replace=False).tolist() for _ in range(60)]
    game = UnanimityGame(sets, np.concatenate([np.linspace(4.0, 0.0, 40), rng.random(60)]), n_players=40)
    top = run(game, k=5, epsilon=0.1)
    assert top.stopped == "confident"
    assert inclusion_exclusion_error(game.shapley_values(), top.players) <= 0.1


def test_a_budget_may_end_a_run_before_it_is_confident():
    game = rough_game(12, 0, gap=0.0001)
    top = run(game, k=2, epsilon=1e-6, budget=301)  # players 0, 3 and 4 are almost equal
    assert (top.stopped, top.evaluations) == ("budget", 301)
    assert np.isfinite(top.estimates).all()


def test_credible_takes_fewer_evaluations_than_asymptotic():
    game = VotingGame([5, 4, 4, 3, 2, 2, 1, 1, 1, 1], quota=13)
    spent = {
        guarantee: np.mean([run(game, k=3, epsilon=0.02, guarantee=guarantee, seed=s).evaluations for s in range(5)])
        for guarantee in ("asymptotic", "credible")
    }
    assert spent["credible"] < spent["asymptotic"]


def test_odd_gp_at_k_refuses_games_and_guarantees_that_it_does_not_support():
    with pytest.raises(ParameterError, match="more than 1000 players: this game has 1001"):
        run(AdditiveGame(np.arange(1001.0)))

    def noisy(coalitions):
        return coalitions @ np.arange(5.0)

    noisy.deterministic = False  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="not deterministic"):
        run(noisy, n_players=5)
    with pytest.raises(ParameterError, match="guarantee"):
        run(AdditiveGame(np.arange(5.0)), guarantee="exact", value_range=(0.0, 10.0))


@pytest.mark.parametrize("options", [{}, {"k": "clear"}, {"budget": 200, "epsilon": 0.0}, {"rank_by": "lowest"}])
def test_a_run_has_the_interactions_at_no_further_evaluation(options):
    sets = [[0, 1], [2, 3], [4, 5, 6], [7]]
    game = UnanimityGame(sets, [3.0, -2.0, 1.0, 4.0], n_players=12)
    exact = shapley_interactions(game, 12)
    calls = []

    def counted(coalitions):
        calls.append(len(coalitions))
        return game(coalitions)

    top = run(counted, n_players=12, **({"k": 2, "epsilon": 0.1} | options))
    assert top.stopped == ("budget" if "budget" in options else "confident")
    spent = sum(calls)
    pairs = top.interactions
    assert sum(calls) == spent
    assert pairs.evaluations == top.evaluations < 2**12
    assert set(pairs.ranking[:2]) == set(np.argsort(-np.abs(exact))[:2])
    assert pairs.estimates == pytest.approx(exact, abs=0.05)


def test_interactions_of_a_run_do_not_depend_on_later_evaluations():
    game = rough_game(10, seed=0)
    race = topshap.Race(10, 2, epsilon=0.0, algorithm=OddGPAtK(), random_state=0)
    while race.evaluations < 100:
        race.tell(game(race.ask()))
    early, again = race.result(), race.result()
    before = early.interactions.estimates
    race.tell(game(race.ask()))
    assert race.evaluations > early.evaluations
    assert again.interactions.estimates == pytest.approx(before, abs=0.0)
    assert race.result().interactions.estimates != pytest.approx(before, abs=0.0)
