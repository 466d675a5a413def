import numpy as np
import pytest

from topshap.algorithms.odd_gp.designs import all_pairs, first_design
from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
from topshap.algorithms.odd_gp.shared.process import SharedProcess
from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.core.coalitions import with_complements


def observed(game, count=40, seed=0, design=None):
    if design is None:
        design = first_design(game.n, count, np.random.default_rng(seed), singles_first=False)
    pairs = SharedPairs(game.n, game.table[[0, -1]])
    pairs.add(design, game(with_complements(design)))
    return pairs


def learned(pairs, **options):
    process = SharedProcess(np.random.default_rng(0), **options)
    process.learn(pairs, iterations=25)
    return process


@pytest.mark.parametrize("model", ["polynomial", "forest"])
def test_one_output_has_the_values_of_a_single_game(table_of_rows, models, model):
    game = table_of_rows(models[model], rows=1)
    pairs = observed(game)
    process = SharedProcess(np.random.default_rng(0))
    process.learn(pairs, iterations=0)  # both with the hyper-parameters that are most probable before any fit
    single = OddSurrogate(np.random.default_rng(0))
    single.learn(pairs.x, pairs.odd[:, 0], pairs.even[:, 0], iterations=0)
    assert process.estimate().values[0] == pytest.approx(single.shapley_values()[0], abs=1e-9)


def test_values_add_up_to_the_gain(table_of_rows, models):
    game = table_of_rows(models["forest"])
    values = learned(observed(game)).estimate().values
    assert values.sum(axis=1) == pytest.approx(game.table[-1] - game.table[0], abs=1e-12)


def test_values_are_exact_once_all_pairs_are_known(table_of_rows, models):
    game = table_of_rows(models["polynomial"], n=6)
    estimate = learned(observed(game, design=all_pairs(6))).estimate()
    assert estimate.values == pytest.approx(game.shapley_values, abs=1e-12)
    assert not estimate.std_errors.any()


def test_scales_of_outputs_do_not_matter(table_of_rows, models):
    game = table_of_rows(models["forest"])
    plain = learned(observed(game)).estimate()
    scales = 10.0 ** np.linspace(-9, 9, game.outputs)
    game.table = game.table * scales
    scaled = learned(observed(game)).estimate()
    # rounding errors of the scaled values change the path of the fit slightly
    assert scaled.values / scales[:, None] == pytest.approx(plain.values, rel=1e-3, abs=1e-5)
    assert scaled.std_errors / scales[:, None] == pytest.approx(plain.std_errors, rel=1e-3)


def test_constant_outputs_are_known_and_change_nothing(table_of_rows, models):
    game = table_of_rows(models["forest"])
    plain = learned(observed(game)).estimate()
    constant = np.full((256, 2), 7.0)
    constant[:, 1] += np.random.default_rng(0).integers(-2, 3, 256) * np.spacing(7.0)
    game.table = np.concatenate([constant, game.table], axis=1)
    estimate = learned(observed(game)).estimate()
    assert estimate.values[:2] == pytest.approx(0.0, abs=1e-14)
    assert not estimate.std_errors[:2].any()
    assert estimate.values[2:] == pytest.approx(plain.values, abs=1e-9)


def test_a_game_without_any_contribution_has_values_of_zero(table_of_rows, models):
    game = table_of_rows(models["forest"])
    game.table[:] = 3.0
    estimate = learned(observed(game)).estimate()
    assert not estimate.values.any()
    assert not estimate.std_errors.any()


def test_a_perfect_fit_is_not_certainty(table_of_rows, models):
    game = table_of_rows(lambda z, rng: z @ rng.normal(size=z.shape[-1]))
    estimate = learned(observed(game)).estimate()
    assert estimate.values == pytest.approx(game.shapley_values, abs=1e-6)
    assert (estimate.std_errors > 1e-3 * np.ptp(estimate.values, axis=1)[:, None]).all()


def test_an_output_with_larger_errors_has_larger_standard_errors(table_of_rows, models):
    game = table_of_rows(models["polynomial"])
    game.table[:, 0] += 3.0 * np.random.default_rng(5).normal(size=256)
    estimate = learned(observed(game)).estimate()
    assert estimate.factors[0] > 3.0 * np.median(estimate.factors)


def test_a_rare_jump_widens_the_intervals_of_its_output_only(table_of_rows, models):
    game = table_of_rows(models["polynomial"])
    plain = learned(observed(game, count=60)).estimate()
    jump = np.random.default_rng(3).random(256) < 0.04
    game.table[:, 0] += np.where(jump, 20.0 * game.table[:, 0].std(), 0.0)
    estimate = learned(observed(game, count=60)).estimate()
    assert estimate.factors[0] > 30.0 * plain.factors[0]
    assert np.median(estimate.factors / plain.factors) < 3.0


def test_pairs_beyond_the_limit_correct_the_estimate(table_of_rows, models):
    game = table_of_rows(models["polynomial"], n=9)
    pairs = observed(game, count=200)
    exact = game.shapley_values
    corrected = learned(pairs, max_pairs=40).estimate()
    few = learned(observed(game, design=(pairs.x > 0)[1:40])).estimate()
    assert corrected.values.sum(axis=1) == pytest.approx(exact.sum(axis=1), abs=1e-9)
    assert np.mean((corrected.values - exact) ** 2) < 0.8 * np.mean((few.values - exact) ** 2)
    inside = np.abs(corrected.values - exact) <= 1.96 * corrected.std_errors
    assert inside.mean() > 0.9


def test_predictions_are_on_the_scale_of_the_outputs(table_of_rows, models):
    game = table_of_rows(models["polynomial"], n=6)
    game.table *= 100.0
    process = learned(observed(game, count=28))
    rest = all_pairs(6)
    values = game(with_complements(rest))
    odd = (values[0::2] - values[1::2]) / 2.0
    errors = odd - process.predict(np.where(rest, 1.0, -1.0), np.arange(game.outputs))
    assert np.mean(errors**2) < 0.1 * np.mean(odd**2)
