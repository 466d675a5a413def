"""Pairs of players until confident: weights of contrasts, the corrected estimate, and races of odd-gp@k."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import topshap
from topshap.algorithms.odd_gp.bounds import BorderDifferences
from topshap.algorithms.odd_gp.designs import all_pairs
from topshap.algorithms.odd_gp.even.kernel import InteractionKernel
from topshap.algorithms.odd_gp.even.pair_contrasts import (
    mean_squares_by_size,
    overall_weights_of_pairs,
    totals_of_pairs,
    weights_by_count,
)
from topshap.algorithms.odd_gp.even.pair_model import PairAims, PairModel
from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
from topshap.algorithms.odd_gp.even.weights import interaction_weights
from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.algorithms.odd_gp.strata import PairStrata
from topshap.core import coalitions as co
from topshap.core.errors import ParameterError
from topshap.core.interactions import interactions_from_table
from topshap.games import TableGame, UnanimityGame
from topshap.reference.metrics import inclusion_exclusion_error
from topshap.statistics.contrasts import Contrasts, contrasts_to_show

N = 6
X = np.concatenate([np.ones((1, N)), 2.0 * all_pairs(N) - 1.0])
"""All complement pairs, that of the grand coalition first."""
PAIRS = PlayerPairs.of(N)
P = len(PAIRS.i)


def all_contrasts(sign):
    first, second = np.triu_indices(P, 1)
    return Contrasts(first, second, np.ones(len(first)), np.full(len(first), sign))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_weights_of_contrasts_are_sums_over_all_complement_pairs(sign):
    contrasts = all_contrasts(sign)
    weights = contrasts.of(interaction_weights(X, PAIRS))
    np.testing.assert_allclose(totals_of_pairs(contrasts, N), np.abs(weights).sum(axis=0))
    sizes = (X > 0).sum(axis=1)
    both = np.concatenate([sizes, N - sizes])
    squares = np.concatenate([weights, weights]) ** 2
    means = np.array([squares[both == s].mean(axis=0) for s in range(N + 1)]).T
    np.testing.assert_allclose(mean_squares_by_size(contrasts, N), means, atol=1e-14)


@pytest.mark.parametrize("centred", [False, True])
def test_overall_weights_are_norms_of_the_weights(centred):
    weights = interaction_weights(X, PAIRS)
    if centred:
        weights = weights - weights.mean(axis=1, keepdims=True)
    norms = overall_weights_of_pairs(N, centred=centred)[(X > 0).sum(axis=1)]
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), norms, atol=1e-7)
    inside = ((X[:, PAIRS.i] > 0).astype(int) + (X[:, PAIRS.j] > 0))[3]
    np.testing.assert_allclose(weights_by_count(N)[(X[3] > 0).sum(), inside], interaction_weights(X, PAIRS)[3])


@pytest.mark.parametrize("players", [np.arange(N), np.array([4, 1, 2, 0, 3])])
def test_the_next_block_is_weighted_by_the_squared_weights_in_the_contrasts(players):
    """Of contrasts among the players that the design is stratified by, the weights are exact."""
    strata = PairStrata(N, players)
    known = np.flatnonzero(np.isin(PAIRS.i, players) & np.isin(PAIRS.j, players))
    contrasts = Contrasts(known[:3], known[-3:], np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0, -1.0]))
    urgency = np.array([0.5, 0.3, 0.2])
    roots = PairAims(contrasts, urgency, PAIRS, N).roots(strata)
    squares = contrasts.of(interaction_weights(X[1:], PAIRS)) ** 2 @ urgency
    np.testing.assert_allclose(roots[strata.of(X[1:] > 0)], np.sqrt(squares), atol=1e-14)


def test_contrasts_of_other_players_are_weighted_by_size():
    strata = PairStrata(N, np.array([0]))
    contrasts = all_contrasts(1.0).part(slice(0, 2))
    aims = PairAims(contrasts, np.array([0.7, 0.3]), PAIRS, N)
    expected = np.sqrt(np.array([0.7, 0.3]) @ mean_squares_by_size(contrasts, N))[strata.sizes]
    np.testing.assert_allclose(aims.roots(strata), expected)
    assert aims.of_players.sum() == pytest.approx(4.0)


def even_game(seed, roughness=0.3):
    rng = np.random.default_rng(seed)
    rows = co.from_ids(np.arange(2**N), N)
    form = np.triu(rng.normal(size=(N, N)), 1)
    table = rows @ rng.normal(size=N) + ((rows @ form) * rows).sum(axis=1) + roughness * rng.standard_t(4, size=2**N)
    return table, interactions_from_table(table)


def draw_and_correct(table, chance, rng):
    """Draw complement pairs with these chances, and correct a process with fixed hyper-parameters."""
    drawn = np.flatnonzero(rng.random(len(X)) < chance)
    ids = co.to_ids(X[drawn] > 0)
    pairs = ComplementPairs(X[drawn], table[ids], table[2**N - 1 - ids])
    model = PairModel(SimpleNamespace(n=N, epsilon=0.0, rng=rng, rank_by="magnitude"))
    kernel = InteractionKernel(np.full(N, 0.2), smooth=0.5, constant=10.0, residual_level=0.1, quadratic=0.02)
    even = pairs.even - pairs.even[0]
    model._surrogate.posterior = EvenPosterior(kernel, X[drawn], even)
    return model.correct(pairs, chance[drawn])


def test_the_corrected_interactions_are_unbiased_and_their_variances_fit():
    """The mean over 1200 designs is exact within 4.5 standard errors; variances are 0.8 to 3 times the true ones."""
    table, exact = even_game(0)
    rng = np.random.default_rng(1)
    chance = np.concatenate([[1.0], rng.uniform(0.3, 0.9, len(X) - 1)])
    found = [draw_and_correct(table, chance, rng) for _ in range(1200)]
    estimates = np.array([each.estimates for each in found])
    error = estimates.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(estimates.mean(axis=0) - exact) < 4.5 * error).all()
    contrasts = contrasts_to_show(np.argsort(-np.abs(exact)), 3, exact, "magnitude")
    said = np.mean([each.drawn.moments(contrasts).variances for each in found[:200]], axis=0)
    ratio = said / contrasts.of(estimates).var(axis=0)
    assert ratio.min() > 0.8
    assert ratio.max() < 3.0
    covariance = np.mean([each.covariance() for each in found[:50]], axis=0)
    assert (np.diag(covariance) > 0.5 * estimates.var(axis=0)).all()


def test_interactions_are_exact_once_all_complement_pairs_are_drawn():
    table, exact = even_game(2)
    found = draw_and_correct(table, np.ones(len(X)), np.random.default_rng(0))
    assert found.estimates == pytest.approx(exact, abs=1e-9)
    border = found.border(all_contrasts(1.0))
    assert isinstance(border, BorderDifferences)
    np.testing.assert_allclose(border.deviations, 0.0, atol=1e-9)
    np.testing.assert_allclose(border.unseen, 0.0, atol=1e-9)


def rough_game(seed, n):
    rng = np.random.default_rng(seed)
    rows = co.from_ids(np.arange(2**n), n)
    form = np.triu(rng.normal(size=(n, n)), 1)
    return TableGame(rows @ rng.normal(size=n) + ((rows @ form) * rows).sum(axis=1) + 0.3 * rng.normal(size=2**n))


@pytest.mark.parametrize("rank_by", ["magnitude", "value", "lowest"])
@pytest.mark.parametrize("guarantee", ["asymptotic", "credible"])
def test_pairs_are_found_until_confident(rank_by, guarantee):
    game = rough_game(1, 9)
    exact = interactions_from_table(game.values)
    keys = {"magnitude": np.abs(exact), "value": exact, "lowest": -exact}[rank_by]
    options = {"k": 3, "order": 2, "epsilon": 0.05, "guarantee": guarantee, "random_state": 0}
    top: Any = topshap.identify(game, rank_by=rank_by, **options)
    assert top.stopped in ("confident", "exact")
    assert top.algorithm == "odd-gp@k"
    assert inclusion_exclusion_error(keys, top.players) <= 0.05
    assert top.pairs.shape == (3, 2)


def test_an_ordered_list_of_pairs_and_all_pairs_of_a_small_game():
    game = rough_game(3, 8)
    exact = np.abs(interactions_from_table(game.values))
    top = topshap.identify(game, k=3, order=2, epsilon=0.05, ordered=True, random_state=0)
    assert (np.diff(exact[top.players]) <= 0.05).all()
    for n in (2, 3, 4):
        small = rough_game(n, n)
        for k in range(1, n * (n - 1) // 2 + 1):
            top = topshap.identify(small, k=k, order=2, epsilon=0.1, algorithm="odd-gp@k", random_state=0)
            found = np.abs(interactions_from_table(small.values))
            assert inclusion_exclusion_error(found, top.players) <= 0.1


def test_errors_on_near_ties_of_pairs_are_rare():
    """40 rough games at delta = 0.1: a rule with an error rate of delta fails more than 9 times with 0.5% chance."""
    wrong = 0
    for seed in range(40):
        game = rough_game(seed, 8)
        exact = np.abs(interactions_from_table(game.values))
        top = topshap.identify(game, k=2, order=2, epsilon=0.002, delta=0.1, random_state=seed)
        wrong += inclusion_exclusion_error(exact, top.players) > 0.002
    assert wrong <= 9


def test_games_beyond_16_players_are_stratified_by_a_few_of_them():
    sets = [[0, 1], [2, 3], [4, 5], [6, 7, 8], [9], [10, 11]]
    game = UnanimityGame(sets, [4.0, -3.0, 2.0, 1.0, 5.0, 0.3], n_players=20)
    top: Any = topshap.identify(game, k=2, order=2, epsilon=0.3, random_state=0)
    assert top.stopped == "confident"
    assert top.pairs.tolist() == [[0, 1], [2, 3]]
    np.testing.assert_allclose(top.shapley_values, game.shapley_values(), atol=0.3)


def test_pairs_of_many_players_are_refused_by_name():
    game = UnanimityGame([[0, 1]], [1.0], n_players=36)
    with pytest.raises(ParameterError, match="pairs of more than 35 players: this game has 36"):
        topshap.identify(game, k=1, order=2, epsilon=0.1)
    with pytest.raises(ParameterError, match=r"one that ranks pairs \(order=2\)"):
        topshap.identify(game, k=1, order=2, epsilon=0.1, algorithm="swap@k")


@pytest.mark.filterwarnings("ignore::topshap.RareContributionsWarning")
@pytest.mark.parametrize("seed", [97, 208, 267, 283])
def test_a_race_goes_on_if_the_surrogate_explains_the_only_jumps(seed):
    """Without room for jumps as large as the observed ones, these races stop early with wrong pairs."""
    n, rng = 10, np.random.default_rng(seed)
    rows = co.from_ids(np.arange(2**n), n)
    table = rows @ np.linspace(0.1, 1.0, n)
    for height in (8.0, 4.0, 2.0):
        player, *others = rng.permutation(n)[:7]
        table += height * (rows[:, player] & (rows[:, others] == (rng.random(6) < 0.5)).all(axis=1))
    top = topshap.identify(TableGame(table), k=4, order=2, epsilon=0.005, delta=0.05, budget=200, random_state=seed)
    assert top.stopped == "budget"
