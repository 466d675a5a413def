"""Settings, their results file, and parallel runs: a result depends on its setting and the seed only."""

import joblib
import numpy as np
import pytest

import topshap
import topshap_bench as bench
from topshap.algorithms import ALGORITHMS as OWN
from topshap.core.errors import ParameterError
from topshap.reference.metrics import mean_squared_error
from topshap_bench import experiment, paper, runs, sources

COUNTINGS = ("calls", "distinct")
TOGETHER = [name for name, kind in OWN.items() if kind.extendable]
ALGORITHMS = ["odd-gp", "cmcs", "shap:kernel", "shapiq:svarm"]


def settings(**changed):
    chosen = {"algorithms": ALGORITHMS, "ks": [3], "budgets": [40, 60], "runs": 2} | changed
    return bench.fixed_budget_settings([bench.Source("tie", "0"), bench.Source("voting", "1")], **chosen)


def without_seconds(rows):
    return [row._replace(seconds=0.0) for row in rows]


def by_setting(rows):
    """Return the rows sorted by setting; in a table, the budgets of a race are adjacent."""
    return sorted(without_seconds(rows), key=lambda row: row.setting.key)


@pytest.fixture(scope="module")
def all_rows():
    return without_seconds(bench.run(settings()))


def test_every_measure_and_cost_is_in_the_table(all_rows):
    assert [row.setting for row in all_rows] == [cell for _, cell in settings()]
    for row in all_rows:
        assert 2 <= row.evaluations <= row.budget
        assert row.calls >= row.evaluations
        assert row.binary_precision == (row.ratio_precision == 1.0) == (row.inclusion_exclusion_error == 0.0)
        assert row.mean_squared_error >= 0.0


def test_a_result_does_not_depend_on_the_other_settings(all_rows):
    order = np.random.default_rng(0).permutation(len(all_rows))[:20]
    some = without_seconds(bench.run([settings()[i] for i in order]))
    assert some == [all_rows[i] for i in order]


def test_two_workers_give_the_same_rows_as_one(all_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "CHUNK", 3)  # so that both workers have work
    own = ["odd-gp", "cmcs"]
    expected = [row for row in all_rows if row.algorithm in own]
    assert without_seconds(bench.run(settings(algorithms=own), tmp_path / "two.csv", n_jobs=2)) == expected
    assert by_setting(bench.read_results(tmp_path / "two.csv")) == by_setting(expected)


def test_repetitions_differ_and_so_do_seeds():
    pairs = bench.fixed_budget_settings([bench.Source("near-tie", "0")], ["cmcs"], ks=[3], budgets=[60], runs=5)
    first, second = (bench.run(pairs, seed=seed) for seed in (0, 1))
    errors = [row.mean_squared_error for row in first + second]
    assert len(set(errors)) == len(errors)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_cell_in_the_table_is_not_run_again(name, tmp_path, monkeypatch):
    path = tmp_path / name
    some = settings(runs=1)
    before = bench.run(some[:10], path)
    ran = []
    run_race = runs.run_race
    monkeypatch.setattr(runs, "run_race", lambda *of: ran.extend(of[1]) or run_race(*of))
    after = bench.run(some, path)
    assert after[:10] == before  # bit-identical, including the seconds
    assert set(ran) == {cell for _, cell in some[10:]}
    assert bench.run(some, path) == after == bench.read_results(path)
    assert len(ran) == len(some) - 10
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_setting_with_a_truncated_line_is_run_again(tmp_path):
    path = tmp_path / "table.csv"
    rows = bench.run(settings(runs=1), path)
    path.write_bytes(path.read_bytes()[:-30])
    assert without_seconds(bench.run(settings(runs=1), path)) == without_seconds(rows)
    assert len(bench.read_results(path)) == len(rows)


def test_an_interrupted_experiment_keeps_its_results(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    monkeypatch.setattr(experiment, "CHUNK", 4)
    run_race, left = runs.run_race, iter(range(10))

    def stop_after_ten(*of):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return run_race(*of)

    monkeypatch.setattr(runs, "run_race", stop_after_ten)
    with pytest.raises(KeyboardInterrupt):
        bench.run(settings(), path)
    kept = [cell for _, group in runs.shared_races(settings())[:8] for cell in group]
    assert [row.setting for row in bench.read_results(path)] == kept


def test_another_game_of_the_same_name_is_run_again(tmp_path, random_game):
    folder = tmp_path / "games" / "family"
    folder.mkdir(parents=True)
    found = []
    for seed in (0, 1):
        random_game(6, seed).save(folder / "game.npz")
        wanted = bench.fixed_budget_settings(
            bench.from_folder(tmp_path / "games"), ["cmcs"], ks=[2], budgets=[20], runs=1
        )
        found += bench.run(wanted, tmp_path / "table.csv")
        sources.forget_opened_games()  # as in a new process
    assert found[0].fingerprint != found[1].fingerprint
    assert found[0].mean_squared_error != found[1].mean_squared_error


def test_an_older_file_without_the_last_columns_is_resumed(tmp_path):
    path = tmp_path / "table.csv"
    defaults = tuple(bench.Row._field_defaults.values())
    added = len(defaults)
    some = settings(runs=1, algorithms=["cmcs"])
    before = bench.run(some[:2], path)
    path.write_text("".join(",".join(line.split(",")[:-added]) + "\n" for line in path.read_text().splitlines()))
    after = bench.run(some, path)
    assert [row[:-added] for row in after[:2]] == [row[:-added] for row in before]
    assert {row[-added:] for row in after[:2]} == {defaults}
    assert None not in after[-1][-added:]
    assert bench.read_results(path) == after


def test_a_file_that_is_not_a_table_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="a results file with the columns"):
        bench.run(settings(), tmp_path / "other.csv")


def test_an_algorithm_that_cannot_run_with_the_budget_is_marked_as_refused():
    (row,) = bench.run(
        bench.fixed_budget_settings([bench.Source("tie", "0")], ["shap:permutation"], ks=[3], budgets=[20], runs=1)
    )
    assert row.stopped == "refused"
    assert np.isnan(row.inclusion_exclusion_error)
    assert row.evaluations == 0


@pytest.mark.parametrize("counting", COUNTINGS)
def test_the_intermediate_result_of_a_race_equals_that_of_a_race_with_the_smaller_budget(counting):
    source = bench.Source("near-tie", "0")  # 2**10 coalitions
    settings = {"ks": [3], "budgets": [400, 21, 100, 57], "runs": 2, "counting": counting}
    pairs = bench.fixed_budget_settings([source], TOGETHER, **settings)
    assert len(runs.shared_races(pairs)) == len(pairs) / 4
    together = without_seconds(bench.run(pairs))
    for pair, row in zip(pairs, together, strict=True):
        assert without_seconds(bench.run([pair])) == [row]
        own = topshap.identify(
            source.open().game,
            k=3,
            budget=row.budget,
            algorithm=row.algorithm,
            counting=counting,
            random_state=np.random.default_rng(row.setting.seeds(0)),
        )
        found = (row.evaluations, row.calls, row.stopped, row.mean_squared_error)
        assert found == (
            own.evaluations,
            own.calls,
            own.stopped,
            mean_squared_error(source.open().exact, own.estimates),
        )


def test_the_time_of_an_intermediate_result_ends_there():
    rows = bench.run(
        bench.fixed_budget_settings([bench.Source("tie", "0")], ["bus"], ks=[3], budgets=[50, 100, 400], runs=1)
    )
    assert rows[0].seconds <= rows[1].seconds <= rows[2].seconds


def test_an_external_algorithm_runs_once_for_all_k():
    source = bench.Source("voting", "1")
    pairs = bench.fixed_budget_settings([source], ["shapiq:svarm"], ks=[2, 4], budgets=[40, 60], runs=2)
    assert [[setting.k for setting in race] for _, race in runs.shared_races(pairs)] == [[2, 4]] * 4
    together = bench.run(pairs)
    assert by_setting(together) == by_setting([row for pair in pairs for row in bench.run([pair])])
    by_k = [[row for row in together if row.k == k] for k in (2, 4)]
    assert [row.mean_squared_error for row in by_k[0]] == [row.mean_squared_error for row in by_k[1]]
    assert [row.seconds for row in by_k[0]] == [row.seconds for row in by_k[1]]


def test_algorithms_that_plan_by_the_budget_and_complete_enumerations_have_one_race_per_budget():
    source = bench.Source("tie", "0")
    everything = 2 ** source.open().game.n_players
    budgets = [50, 100, everything, everything + 1]
    of_all = [*OWN, "shapiq:svarm"]
    for counting, with_all in (("distinct", 3), ("calls", 1)):
        pairs = bench.fixed_budget_settings([source], of_all, ks=[3], budgets=budgets, runs=1, counting=counting)
        for name in of_all:
            groups = [group for _, group in runs.shared_races(pairs) if group[0].algorithm == name]
            assert len(groups) == (with_all if name in TOGETHER else 4)
    (row,) = bench.run(bench.fixed_budget_settings([source], ["cmcs"], ks=[3], budgets=[everything], runs=1))
    assert row.stopped == "exact"


@pytest.fixture
def dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


@pytest.mark.cluster
@pytest.mark.parametrize("algorithms", [ALGORITHMS, paper.MAIN], ids=["external", "paper"])
def test_a_dask_cluster_gives_the_same_table(algorithms, dask, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "CHUNK", 3)
    everything = [settings(algorithms=algorithms, budgets=[40, 60, 300], counting=counting) for counting in COUNTINGS]
    with joblib.parallel_config(backend="sequential"):
        alone = [without_seconds(bench.run(wanted)) for wanted in everything]
    monkeypatch.setattr(experiment, "in_order", lambda *_: pytest.fail("it was not run on the cluster"))
    for counting, wanted, expected in zip(COUNTINGS, everything, alone, strict=True):
        path = tmp_path / f"{counting}.csv"
        assert without_seconds(bench.run(wanted, path)) == expected
        assert by_setting(bench.read_results(path)) == by_setting(expected)
