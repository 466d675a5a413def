"""Cells, their table, and runs in parallel: a result depends on its cell and the seed, and on nothing else."""

import joblib
import numpy as np
import pytest

from topshap import bench
from topshap.bench import experiment
from topshap.errors import ParameterError

ALGORITHMS = ["odd-gp", "cmcs", "shap:kernel", "shapiq:svarm"]


def cells(**changed):
    settings = {"algorithms": ALGORITHMS, "ks": [3], "budgets": [40, 60], "runs": 2} | changed
    return bench.cells_of([bench.Source("tie", "0"), bench.Source("voting", "1")], **settings)


def without_seconds(rows):
    return [row._replace(seconds=0.0) for row in rows]


@pytest.fixture(scope="module")
def all_rows():
    return without_seconds(bench.run(cells()))


def test_every_measure_and_cost_is_in_the_table(all_rows):
    assert [row.cell for row in all_rows] == [cell for _, cell in cells()]
    for row in all_rows:
        assert 2 <= row.evaluations <= row.budget
        assert row.calls >= row.evaluations
        assert row.binary_precision == (row.ratio_precision == 1.0) == (row.inclusion_exclusion_error == 0.0)
        assert row.mean_squared_error >= 0.0


def test_a_result_does_not_depend_on_what_else_is_run(all_rows):
    order = np.random.default_rng(0).permutation(len(all_rows))[:20]
    some = without_seconds(bench.run([cells()[i] for i in order]))
    assert some == [all_rows[i] for i in order]


def test_two_workers_give_the_same_rows_as_one(all_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "CHUNK", 3)  # so that both have something to do
    own = ["odd-gp", "cmcs"]
    expected = [row for row in all_rows if row.algorithm in own]
    assert without_seconds(bench.run(cells(algorithms=own), tmp_path / "two.csv", n_jobs=2)) == expected
    assert without_seconds(bench.read_table(tmp_path / "two.csv")) == expected


def test_repetitions_differ_and_so_do_seeds():
    pairs = bench.cells_of([bench.Source("near-tie", "0")], ["cmcs"], ks=[3], budgets=[60], runs=5)
    first, second = (bench.run(pairs, seed=seed) for seed in (0, 1))
    errors = [row.mean_squared_error for row in first + second]
    assert len(set(errors)) == len(errors)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_cell_in_the_table_is_not_run_again(name, tmp_path, monkeypatch):
    path = tmp_path / name
    some = cells(runs=1)
    before = bench.run(some[:10], path)
    ran = []
    run_cell = experiment.run_cell
    monkeypatch.setattr(experiment, "run_cell", lambda *of: ran.append(of[1]) or run_cell(*of))
    after = bench.run(some, path)
    assert after[:10] == before  # to the last bit, the seconds too
    assert ran == [cell for _, cell in some[10:]]
    assert bench.run(some, path) == after == bench.read_table(path)
    assert len(ran) == len(some) - 10
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_torn_last_line_is_run_again(tmp_path):
    path = tmp_path / "table.csv"
    rows = bench.run(cells(runs=1), path)
    path.write_bytes(path.read_bytes()[:-30])
    assert without_seconds(bench.run(cells(runs=1), path)) == without_seconds(rows)
    assert len(bench.read_table(path)) == len(rows)


def test_an_interrupted_experiment_keeps_what_it_has(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    monkeypatch.setattr(experiment, "CHUNK", 4)
    run_cell, left = experiment.run_cell, iter(range(10))

    def stop_after_ten(*of):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return run_cell(*of)

    monkeypatch.setattr(experiment, "run_cell", stop_after_ten)
    with pytest.raises(KeyboardInterrupt):
        bench.run(cells(), path)
    assert [row.cell for row in bench.read_table(path)] == [cell for _, cell in cells()[:8]]


def test_another_game_of_the_same_name_is_another_cell(tmp_path, random_game):
    folder = tmp_path / "games" / "family"
    folder.mkdir(parents=True)
    found = []
    for seed in (0, 1):
        random_game(6, seed).save(folder / "game.npz")
        experiment_cells = bench.cells_of(bench.from_folder(tmp_path / "games"), ["cmcs"], ks=[2], budgets=[20], runs=1)
        found += bench.run(experiment_cells, tmp_path / "table.csv")
        bench.sources._opened.cache_clear()  # as in a new process
    assert found[0].fingerprint != found[1].fingerprint
    assert found[0].mean_squared_error != found[1].mean_squared_error


def test_a_file_that_is_no_table_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="a table of an experiment"):
        bench.run(cells(), tmp_path / "other.csv")


def test_an_algorithm_that_cannot_run_with_the_budget_says_so():
    (row,) = bench.run(bench.cells_of([bench.Source("tie", "0")], ["shap:permutation"], ks=[3], budgets=[20], runs=1))
    assert row.stopped == "refused"
    assert np.isnan(row.inclusion_exclusion_error)
    assert row.evaluations == 0


@pytest.mark.cluster
def test_a_dask_cluster_gives_the_same_table(all_rows, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        rows = bench.run(cells(), tmp_path / "dask.csv")
    assert without_seconds(rows) == all_rows
    assert without_seconds(bench.read_table(tmp_path / "dask.csv")) == all_rows
