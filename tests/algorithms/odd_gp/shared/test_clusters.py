import numpy as np

from topshap.algorithms.odd_gp.designs import first_design
from topshap.algorithms.odd_gp.shared.clusters import KernelClusters
from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
from topshap.algorithms.odd_gp.shared.process import SharedProcess
from topshap.core.coalitions import from_ids, with_complements


def two_kinds(rows=30, n=9, seed=0):
    """Outputs whose players 0 to 2, or 6 to 8, interact; the last output is constant."""
    rng = np.random.default_rng(seed)
    x = np.where(from_ids(np.arange(2**n), n), 1.0, -1.0)
    table = x @ rng.normal(size=(n, rows))
    first = np.arange(rows) < rows // 2
    for players in ((0, 1, 2), (6, 7, 8)):
        product = np.prod(x[:, players], axis=1)[:, None] + np.prod(x[:, players[:2]], axis=1)[:, None]
        table += 2.0 * product * rng.normal(size=rows) * (first if players[0] == 0 else ~first)
    table[:, -1] = 1.0
    return table


def learned(game):
    pairs = SharedPairs(game.n, game.table[[0, -1]])
    design = first_design(game.n, 45, np.random.default_rng(0), singles_first=False)
    pairs.add(design, game(with_complements(design)))
    process = SharedProcess(np.random.default_rng(0))
    process.learn(pairs, iterations=25)
    return process


def test_clusters_make_outputs_of_different_kinds_more_accurate(table_of_rows, models):
    game = type(table_of_rows(models["forest"]))(two_kinds())
    process, exact = learned(game), game.shapley_values
    shared = process.estimate()
    clusters = KernelClusters(process, 3, np.random.default_rng(0))
    estimate = clusters.estimate(shared)
    assert np.mean((estimate.values - exact) ** 2) < 0.8 * np.mean((shared.values - exact) ** 2)
    assert np.allclose(estimate.values.sum(axis=1), exact.sum(axis=1))
    inside = np.abs(estimate.values - exact)[:-1] <= 1.96 * estimate.std_errors[:-1]
    assert inside.mean() > 0.9
    assert not estimate.std_errors[-1].any()
    assert not estimate.values[-1].any()


def test_residuals_and_predictions_are_those_of_the_clusters(table_of_rows, models):
    game = type(table_of_rows(models["forest"]))(two_kinds())
    process = learned(game)
    clusters = KernelClusters(process, 3, np.random.default_rng(0))
    assert np.mean(clusters.left_out() ** 2) < np.mean(process.left_out() ** 2)
    coalitions = np.random.default_rng(5).random((100, 9)) < 0.5
    odd = (game(coalitions) - game(~coalitions)) / 2.0
    x, some = np.where(coalitions, 1.0, -1.0), np.arange(2, 28, 3)
    errors = clusters.predict(x, some) - odd[:, some]
    assert np.mean(errors**2) < np.mean((process.predict(x, some) - odd[:, some]) ** 2)


def test_one_cluster_has_the_values_of_a_refitted_process(table_of_rows, models):
    process = learned(table_of_rows(models["forest"], n=8))
    shared = process.estimate()
    estimate = KernelClusters(process, 1, np.random.default_rng(0)).estimate(shared)
    assert np.mean((estimate.values - shared.values) ** 2) < 0.01 * np.mean(shared.values**2)
