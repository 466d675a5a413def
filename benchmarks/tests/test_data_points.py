"""topshap-bench data-points: tasks, valuations and the report."""

import numpy as np
import pytest
from typer.testing import CliRunner

from topshap.core.errors import ParameterError
from topshap_bench import cli
from topshap_bench.data_points import comparison, valuations
from topshap_bench.data_points.comparison import Setting, compare, measure
from topshap_bench.data_points.large import large_run
from topshap_bench.data_points.tasks import make_task


@pytest.fixture(scope="module")
def task():
    return make_task("digits", "bayes", 80, 0)


def test_perfect_values_find_all_wrong_labels(task):
    perfect = np.ones(80)
    perfect[task.wrong] = 0.0
    best, worst = measure(task, perfect), measure(task, -perfect)
    assert best.found == 1.0
    assert worst.found == 0.0
    assert best.area > 0.9
    assert worst.area < 0.1
    assert np.isnan(best.correlation)
    assert measure(task, perfect, truth=perfect).correlation == pytest.approx(1.0)


def test_wrong_labels_are_those_that_were_changed(task):
    other = make_task("digits", "bayes", 80, 0)
    np.testing.assert_array_equal(task.y, other.y)
    assert len(task.wrong) == len(set(task.wrong)) == 8


def test_banzhaf_values_are_those_of_pydvl(task):
    pytest.importorskip("pydvl", reason="pip install --no-deps pydvl, and topshap-bench[points]")
    found, expected = valuations.banzhaf(task, 20, 1), valuations.banzhaf_by_pydvl(task, 20, 1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_truncated_permutations_of_pydvl_spend_the_budget_and_no_more(task):
    pytest.importorskip("pydvl", reason="pip install --no-deps pydvl, and topshap-bench[points]")
    values = valuations.tmc(task, 30, 0)
    assert 0 < np.count_nonzero(values) <= 30


def test_the_report_has_a_line_for_every_valuation(monkeypatch):
    monkeypatch.setattr(comparison, "REFERENCE", 60)
    lines = list(compare([Setting("digits", "bayes", 60, 30)], runs=2, valuations=["topshap auto", "KNN-Shapley"]))
    rows = [line for line in lines if line.startswith("digits")]
    assert [row[40:60].strip() for row in rows] == ["long run", "topshap auto", "KNN-Shapley", "difference"]
    auto, knn, difference = (float(row[60:].split()[0]) for row in rows[1:])
    assert difference == pytest.approx(auto - knn, abs=0.11)


def test_the_cost_of_many_points_is_printed():
    assert large_run(2500, 40).startswith("2500 points, 40 retrainings by player-gp: ")


def test_a_setting_of_the_command_is_checked():
    with pytest.raises(ParameterError, match="A setting must be DATA:MODEL:POINTS:BUDGET"):
        CliRunner().invoke(cli.build(), ["data-points", "--setting", "iris:bayes:1:1"], catch_exceptions=False)
    with pytest.raises(ParameterError, match="digits has 1797 rows; 2000 points need 2790"):
        make_task("digits", "bayes", 2000, 0)


def test_without_all_other_classes_the_only_class_is_predicted(task):
    others = np.flatnonzero(task.y != 3)
    assert task.accuracy_without(others) == np.mean(task.y_out == 3)
