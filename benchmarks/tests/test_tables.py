"""Whole tables: set-ups, and the comparison at equal accuracy."""

import numpy as np
import pytest

from topshap_bench.tables import comparison
from topshap_bench.tables.cells import About, Cell, keep_cells, kept_cells
from topshap_bench.tables.comparison import Speed, compare, report, speeds
from topshap_bench.tables.explainers import measure, topshap_with
from topshap_bench.tables.large import large_table, peak_memory
from topshap_bench.tables.setups import make


@pytest.fixture(scope="module")
def setup():
    return make("diabetes-rf", rows=20)


def test_the_truth_adds_up_to_the_predictions(setup):
    truth = setup.truth(2)
    assert truth.shape == (2, 10)
    np.testing.assert_allclose(
        truth.sum(axis=1), setup.predict(setup.X[:2]) - setup.predict(setup.background).mean(), atol=1e-9
    )


def test_trees_and_enumeration_agree():
    setup = make("wine-rf", rows=4)
    assert setup.trees is not None
    by_trees, setup_alone = setup.truth(1), make("wine-rf", rows=4)
    object.__setattr__(setup_alone, "trees", None)
    np.testing.assert_allclose(by_trees, setup_alone.truth(1), atol=0.002)


def test_predictions_and_time_of_the_model_are_counted(setup):
    found = measure(topshap_with(50), setup, 10)
    assert found.values.shape == (10, 10)
    assert 0 < found.predictions <= 52 * 10 * len(setup.background)
    assert 0.0 < found.model_cpu <= found.cpu


ABOUT = About("diabetes-rf", 10, tuned=True, single=False)


def cell(setup, explainer, rows, error, cpu, budget=None):  # noqa: PLR0917 - a line of a table
    return Cell(setup, rows, explainer, budget, error, np.full(4, error), cpu, cpu, cpu, 1.0)


def test_the_smallest_sufficient_budget_counts():
    setup = ABOUT
    cells = [
        cell(setup, "Permutation", 4, 0.01, 30.0),
        cell(setup, "topshap", 200, 0.02, 1.0, 50),
        cell(setup, "topshap", 200, 0.01, 3.0, 100),
        cell(setup, "topshap", 200, 0.001, 10.0, 250),
        cell(setup, "topshap", 1, 0.02, 5.0, 100),
    ]
    assert speeds(cells)[0] == Speed(setup, 200, "Permutation", 10.0)
    assert np.isnan(speeds(cells)[1].ratio)
    text = report(cells)
    assert "10.00 (1 of 1)" in text
    assert "not reached" in text


def test_sharing_is_compared_at_equal_budgets():
    setup = ABOUT
    cells = [
        cell(setup, "topshap", 1, 0.01, 30.0, 100),
        cell(setup, "topshap", 200, 0.011, 3.0, 100),
        cell(setup, "topshap, refined", 200, 0.012, 3.0, 100),
    ]
    line = next(line for line in report(cells).splitlines() if line.startswith("diabetes-rf") and "[" in line)
    assert line.split()[1:3] == ["100", "1.10"]
    assert "+1.00 [1.00, 1.00]" in line
    assert "+2.00 [2.00, 2.00]" in line
    assert line.split()[-1] == "10.0"


def test_budgets_beyond_the_accuracy_of_every_rival_are_not_measured():
    cells = compare(setups=["diabetes-rf"], rows=[8], budgets=[50, 100, 150, 250], judged=2, rivals=["Permutation"])
    ours = [each for each in cells if each.explainer == comparison.OURS]
    (rival,) = (each for each in cells if each.explainer == "Permutation")
    assert [each.error <= rival.error for each in ours[:-1]] == [False] * (len(ours) - 1)
    assert ours[-1].error <= rival.error


def test_longer_tables_are_measured_with_budgets_that_reached_the_rival_before():
    options = {"rivals": ["Permutation"], "judged": 2, "equal_budgets": []}
    cells = compare(setups=["diabetes-rf"], rows=[200, 221], budgets=[50, 70, 100], **options)
    ours = [each for each in cells if each.explainer == comparison.OURS]
    (rival,) = (each for each in cells if each.explainer == "Permutation")
    first = [each.budget for each in ours if each.rows == comparison.MANY]
    longer = [each for each in ours if each.rows == 221]
    assert longer[0].budget == first[-1]
    assert [each.error <= rival.error for each in longer] == [False] * (len(longer) - 1) + [True]


def test_tables_longer_than_the_data_are_not_measured():
    cells = compare(setups=["diabetes-rf"], rows=[2, 2000], budgets=[50], judged=2, rivals=[], equal_budgets=[])
    assert {each.rows for each in cells} == {2}


def test_kept_cells_are_not_measured_again(tmp_path):
    keep_cells(tmp_path / "cells", [cell(ABOUT, "topshap", 200, 0.01, 3.0, 100)])
    (found,) = compare(setups=["diabetes-rf"], keep=tmp_path / "cells")
    assert (found.setup, found.budget, found.border_errors.tolist()) == (ABOUT, 100, [0.01] * 4)
    assert kept_cells(tmp_path / "nothing") == []


def test_a_long_table_prints_its_own_time_and_memory():
    line = large_table(rows=60, features=5, budget=30, background=10, model="rf").splitlines()[-1]
    assert line.startswith("60 rows x 5 features, 10 background rows, 30 evaluations per row: own CPU ")
    assert 0.0 < peak_memory() < 100.0
