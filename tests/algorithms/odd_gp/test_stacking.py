"""Surrogates on logit values, stacked by leave-one-out errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

import topshap
from topshap.algorithms.odd_gp import logit_warp, stacking
from topshap.algorithms.odd_gp.designs import drop_used, pair_keys
from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.algorithms.odd_gp.regime import STACKED_PAIRS
from topshap.algorithms.odd_gp.sigmoid_game import sigmoid_shapley_values
from topshap.algorithms.odd_gp.stacking import (
    MAX_PLAYERS,
    Prediction,
    logit_predictions,
    stack,
    stacked_estimate,
)
from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.algorithms.odd_gp.unanimity_surrogate import UnanimitySurrogate
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table

N = 10


def saturating(seed, n=N):
    """Return the table of a sigmoid of weights, almost a step where they are large."""
    rng = np.random.default_rng(seed)
    x = from_ids(np.arange(2**n), n)
    return expit(x @ rng.normal(0.0, 2.5, n) - 1.0)


def some_pairs(table, m, rng):
    """Return complement pairs, the first that of the grand coalition."""
    n = len(table).bit_length() - 1
    ids = np.concatenate([[2**n - 1], 2 ** (n - 1) + rng.choice(2 ** (n - 1) - 1, m - 1, replace=False)])
    return ComplementPairs(2.0 * from_ids(ids, n) - 1.0, table[ids], table[2**n - 1 - ids])


def surrogate_of(pairs):
    """Return a surrogate of the odd part of some pairs."""
    surrogate = OddSurrogate(np.random.default_rng(0))
    surrogate.learn(pairs.x, pairs.odd, pairs.even)
    return surrogate


def predictions_of(pairs, seed=1):
    return logit_predictions(surrogate_of(pairs), pairs, np.random.default_rng(seed))


def test_predictions_are_exact_with_all_pairs():
    table = saturating(0, n=6) + 100.0
    predictions = predictions_of(some_pairs(table, 2**5, np.random.default_rng(0)))
    assert len(predictions) == 3
    for prediction in predictions:
        assert prediction.shapley_values == pytest.approx(shapley_from_table(table), abs=1e-9)


def test_there_are_no_predictions_if_there_is_too_little_or_too_much_to_fit():
    rng = np.random.default_rng(0)
    pairs = some_pairs(saturating(0), 40, rng)
    x, values, opposites = pairs.x, pairs.values, pairs.complement_values
    constant = np.full(40, 3.0)
    assert predictions_of(ComplementPairs(x, constant, constant)) == []
    assert predictions_of(ComplementPairs(x[:1], values[:1], opposites[:1])) == []
    wide = np.where(rng.random((40, MAX_PLAYERS + 1)) < 0.5, -1.0, 1.0)
    assert predictions_of(ComplementPairs(wide, values, opposites)) == []
    m = STACKED_PAIRS + 1
    many = ComplementPairs(np.resize(x, (m, N)), np.resize(values, m), np.resize(opposites, m))
    assert predictions_of(many) == []


def some_probabilities(n, m, seed):
    """Return pairs of a sigmoid of weights, of which ten are not 0, and the exact Shapley values."""
    rng = np.random.default_rng(seed)
    rows = drop_used(rng.random((3 * m, n)) < rng.random((3 * m, 1)), set(pair_keys(np.ones((1, n), dtype=bool))))
    x = np.where(np.concatenate([np.ones((1, n), dtype=bool), rows[: m - 1]]), 1.0, -1.0)
    weights = rng.normal(0.0, 1.5, 10)
    values, opposites = (expit((sign * x[:, :10] > 0) @ weights - 1.0) for sign in (1.0, -1.0))
    exact = np.zeros(n)
    exact[:10] = shapley_from_table(expit(from_ids(np.arange(2**10), 10) @ weights - 1.0) - expit(-1.0))
    return ComplementPairs(x, values, opposites), exact


class SigmoidOfSum:
    """The sigmoid of an additive game whose values range from expit(-steepness) to expit(steepness) and beyond."""

    def __init__(self, n, steepness):
        self.n_players = n
        effects = np.random.default_rng(0).normal(1.0, 2.0, n)
        self.effects = steepness * effects / effects.sum()

    def __call__(self, coalitions):
        return expit(np.where(coalitions, 1.0, -1.0) @ self.effects)


def test_in_larger_games_only_values_like_probabilities_are_predicted():
    pairs, _ = some_probabilities(20, 60, 0)
    assert len(predictions_of(pairs)) == 2  # between usual and between tight bounds
    inside = ComplementPairs(pairs.x, 0.02 + 0.9 * pairs.values, 0.02 + 0.9 * pairs.complement_values)
    assert len(predictions_of(inside)) == 1
    assert predictions_of(ComplementPairs(pairs.x, 7.0 * pairs.values, 7.0 * pairs.complement_values)) == []


def test_sampled_pairs_give_the_shapley_values_of_all_coalitions(monkeypatch):
    """The same prediction in both ways: within 5 standard errors, which are below a tenth of the largest value."""
    pairs = some_pairs(saturating(3, n=12), 100, np.random.default_rng(0))
    enumerated = predictions_of(pairs)[0]
    monkeypatch.setattr(stacking, "ENUMERATED_PLAYERS", 11)
    sampled = predictions_of(pairs)[0]
    assert sampled.residuals == pytest.approx(enumerated.residuals, rel=1e-9)
    errors = np.sqrt(np.diag(sampled.sampling))
    assert np.all(errors < 0.1 * np.abs(enumerated.shapley_values).max())
    # Residuals of observed pairs are part of one prediction of the game and hardly of the other.
    assert np.all(np.abs(sampled.shapley_values - enumerated.shapley_values) < 5.0 * errors + 1e-3)
    assert sampled.shapley_values.sum() == pytest.approx(enumerated.shapley_values.sum(), abs=1e-9)


def test_logits_reduce_errors_beyond_16_players():
    """The geometric mean of the ratios over 10 games is below 0.8; it was 0.4 to 0.7 in larger experiments."""
    ratios = []
    for seed in range(10):
        pairs, exact = some_probabilities(24, 120, seed)
        surrogate = surrogate_of(pairs)
        alone = surrogate.shapley_values()[0]
        stacked, covariance, _ = stacked_estimate(
            surrogate, UnanimitySurrogate(np.random.default_rng(seed)), pairs, np.random.default_rng(seed)
        )
        assert stacked.sum() == pytest.approx(exact.sum(), abs=1e-9)
        assert np.all(np.diag(covariance) > 0.0)
        ratios.append(np.linalg.norm(stacked - exact) / np.linalg.norm(alone - exact))
    assert np.exp(np.mean(np.log(ratios))) < 0.8


def test_tight_bounds_make_sigmoids_with_extreme_values_almost_exact():
    game = SigmoidOfSum(60, 10.0)
    top = topshap.identify(game, k=3, budget=400, algorithm="odd-gp", random_state=0)
    exact = sigmoid_shapley_values(0.0, game.effects)
    assert min(game(np.zeros((1, 60), dtype=bool))[0], 1.0 - game(np.ones((1, 60), dtype=bool))[0]) < 1e-4
    assert np.abs(top.estimates - exact).max() < 1e-4 * np.ptp(exact)


def test_with_many_pairs_surrogates_without_a_share_are_left_out():
    """In an additive game, logits predict worse than the process on the values."""
    rng = np.random.default_rng(0)
    table = from_ids(np.arange(2**N), N) @ rng.normal(size=N) + 0.01 * rng.normal(size=2**N)
    few, many = (some_pairs(table, m, rng) for m in (150, 300))
    assert len(predictions_of(few)) == 3
    assert len(predictions_of(many)) < 3


numbers = arrays(np.float64, 12, elements=st.floats(-10.0, 10.0))


@given(numbers, numbers)
def test_stacking_is_a_convex_combination(first, second):
    alone, other = Prediction(np.array([0.0, 1.0]), first), Prediction(np.array([1.0, 0.0]), second)
    share, rest = stack(alone, other).shapley_values
    assert share + rest == pytest.approx(1.0)
    assert 0.0 <= share <= 1.0
    assert np.sum((first + share * (second - first)) ** 2) <= np.sum(first**2)


@given(numbers, numbers)
def test_no_convex_combination_has_smaller_residuals(first, second):
    found = stack(Prediction(np.zeros(1), first), Prediction(np.ones(1), second)).residuals
    for share in np.linspace(0.0, 1.0, 11):
        assert np.sum(found**2) <= np.sum((first + share * (second - first)) ** 2) + 1e-9


def test_the_better_prediction_gets_more_weight():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 50))
    rough, fine = Prediction(np.array([0.0]), noise[0]), Prediction(np.array([1.0]), 0.1 * noise[1])
    assert stack(rough, fine).shapley_values[0] > 0.9
    assert stack(fine, rough).shapley_values[0] == pytest.approx(1.0, abs=0.1)


def root_mean_square_error(table, seed):
    game = topshap.games.TableGame(table)
    top = topshap.identify(game, k=3, budget=100, algorithm="odd-gp", random_state=seed)
    assert top.estimates.sum() == pytest.approx(table[-1] - table[0], rel=1e-9)
    return np.sqrt(np.mean((top.estimates - game.shapley_values()) ** 2))


def growing(seed, n=N):
    """Return the table of a product of factors: it saturates at one end only."""
    return np.exp(from_ids(np.arange(2**n), n) @ np.random.default_rng(seed).normal(0.0, 0.8, n))


def test_stacking_reduces_errors_in_saturating_games_and_hardly_changes_them_in_noise(monkeypatch):
    """Ratios of the errors with stacking to those without, as geometric means over 20 games each.

    They are below 0.4 if values saturate at both ends, below 0.8 if they do at one end, and below 1.1 for noise.
    """
    rng = np.random.default_rng(0)
    kinds = [
        [saturating(seed) for seed in range(20)],
        [growing(seed) for seed in range(20)],
        [-growing(seed) for seed in range(20)],
        [rng.normal(size=2**N) for _ in range(20)],
    ]
    stacked = [[root_mean_square_error(table, seed) for seed, table in enumerate(kind)] for kind in kinds]
    monkeypatch.setattr(stacking, "logit_predictions", lambda *_: [])
    without = [[root_mean_square_error(table, seed) for seed, table in enumerate(kind)] for kind in kinds]
    both_ends, lower_end, upper_end, noise = np.exp(np.mean(np.log(np.array(stacked) / np.array(without)), axis=1))
    assert both_ends < 0.4
    assert lower_end < 0.8
    assert upper_end < 0.8
    assert noise < 1.1


def test_the_usual_bounds_reduce_errors_for_probabilities(monkeypatch):
    """The ratio of the errors with the bounds to those without is below 0.4, as a geometric mean over 20 games each.

    The games have small or large probabilities; over 200 games each, the ratios were 0.15 and 0.13.
    """
    rng = np.random.default_rng(0)
    coalitions = from_ids(np.arange(2**N), N)
    small = [expit(coalitions @ rng.normal(0.0, 2.0, N) - 8.0) for _ in range(20)]
    tables = [*small, *(1.0 - table for table in small)]
    with_them = [root_mean_square_error(table, seed) for seed, table in enumerate(tables)]
    monkeypatch.setattr(logit_warp, "USUAL_BOUNDS", ())
    without = [root_mean_square_error(table, seed) for seed, table in enumerate(tables)]
    logs = np.log(np.array(with_them) / np.array(without)).reshape(2, 20)
    assert (np.exp(logs.mean(axis=1)) < 0.4).all()
