import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from topshap.algorithms.odd_gp.logit_warp import CLOSE, USUAL_BOUNDS, candidate_warps
from topshap.algorithms.odd_gp.shared.logits import LogitStack, usual_warps
from topshap.algorithms.odd_gp.shared.process import SharedProcess


def probability(z, rng):
    return expit(2.0 * z @ rng.normal(size=z.shape[-1]))


@given(st.integers(0, 2**32 - 1))
def test_the_rule_is_that_of_single_games(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.choice([-1.5, -1.0, -0.99, -0.5, 0.0, 0.01, 0.3, 0.7, 0.99, 1.0, 2.0], (2, 8)), axis=0)
    values = low + (high - low) * np.concatenate([np.zeros((1, 8)), rng.random((5, 8)), np.ones((1, 8))])
    found = usual_warps(values)
    for output in range(8):
        column = values[:, output]
        expected = candidate_warps(column)[0] if np.ptp(column) > 0.0 else None
        usual = expected is not None and (expected.below < CLOSE and len(candidate_warps(column)) == len(USUAL_BOUNDS))
        assert (output in found.outputs) == usual
        if usual:
            one = found.part(np.flatnonzero(found.outputs == output))
            assert [float(np.ravel(field)[0]) for field in one] == pytest.approx(list(expected))


def stacked(game, budget):
    run = game.run(budget)
    process = SharedProcess(np.random.default_rng(0))
    process.learn(run.pairs, iterations=25)
    plain = process.estimate()
    stack = LogitStack(process, run.pairs, np.random.default_rng(0)).fit()
    return process, plain, stack, stack.estimate(plain)


@pytest.mark.parametrize("n", [9, 15])
def test_logits_make_saturated_probabilities_more_accurate(table_of_rows, n):
    game = table_of_rows(probability, n=n, rows=12, background=1)
    _, plain, _, better = stacked(game, 8 * n)
    exact = game.shapley_values
    assert np.mean((better.values - exact) ** 2) < 0.7 * np.mean((plain.values - exact) ** 2)
    assert better.values.sum(axis=1) == pytest.approx(exact.sum(axis=1), abs=1e-9)
    assert (better.factors <= plain.factors).all()
    assert (np.abs(better.values - exact) <= 1.96 * better.std_errors).mean() > 0.9


def test_residuals_shrink_and_predictions_improve(table_of_rows):
    game = table_of_rows(probability, n=9, rows=12, background=1)
    process, _, stack, _ = stacked(game, 70)
    assert (np.sum(stack.left_out() ** 2, axis=0) <= np.sum(process.left_out() ** 2, axis=0) + 1e-12).all()
    coalitions = np.random.default_rng(5).random((100, 9)) < 0.5
    odd = (game(coalitions) - game(~coalitions)) / 2.0
    outputs, x = np.arange(12), np.where(coalitions, 1.0, -1.0)
    assert np.mean((stack.predict(x, outputs) - odd) ** 2) < np.mean((process.predict(x, outputs) - odd) ** 2)


def test_other_outputs_stay_as_they_are(table_of_rows, models):
    game = table_of_rows(models["polynomial"], rows=6)
    mixed = table_of_rows(probability, rows=6, background=1)
    game = type(game)(np.concatenate([game.table, mixed.table], axis=1))
    _, plain, _, better = stacked(game, 60)
    assert np.array_equal(better.values[:6], plain.values[:6])
    assert not np.allclose(better.values[6:], plain.values[6:])
