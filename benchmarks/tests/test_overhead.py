"""The overhead per access, compared with shap's KernelExplainer and with another version."""

from math import nan
from pathlib import Path

import pytest

import topshap
from topshap_bench.overhead import (
    KERNEL_EXPLAINER,
    Overhead,
    RunTime,
    overhead,
    report,
    report_of_run_times,
    run_times,
)

SOURCE = Path(topshap.__file__).parents[1]


def test_an_algorithm_is_compared_with_the_kernel_explainer_and_another_version():
    measured = {found.algorithm: found for found in overhead(old=SOURCE, runs=2, algorithms=["cmcs"])}
    assert set(measured) == {KERNEL_EXPLAINER, "cmcs"}
    assert measured[KERNEL_EXPLAINER].to_kernel_explainer == 1.0
    cmcs = measured["cmcs"]
    assert cmcs.new > 0.0
    assert cmcs.old > 0.0
    assert cmcs.to_kernel_explainer == cmcs.new / measured[KERNEL_EXPLAINER].new


def test_the_report_has_the_measured_ratios():
    alone, beside = Overhead("cmcs", 2.0, nan, 10.0), Overhead("cmcs", 2.0, 4.0, 10.0)
    assert report([alone], runs=1).splitlines()[-1].split() == ["cmcs", "2.00", "0.200"]
    assert report([beside], runs=1).splitlines()[-1].split() == ["cmcs", "2.00", "0.200", "4.00", "0.500"]


def test_whole_runs_are_measured_for_every_number_of_players_and_budget():
    measured = run_times(old=SOURCE, runs=1, players=[6, 8], budgets=[20, 30])
    assert [found[:3] for found in measured] == [("odd-gp", n, budget) for n in (6, 8) for budget in (20, 30)]
    assert all(found.new > 0.0 and found.old > 0.0 for found in measured)


def test_the_report_of_whole_runs_ends_with_the_mean_ratio():
    measured = [RunTime("odd-gp", 14, 100, 10.0, 40.0), RunTime("odd-gp", 14, 1000, 100.0, 100.0)]
    lines = report_of_run_times(measured, runs=1).splitlines()
    assert lines[-4].split() == ["odd-gp", "14", "100", "10.0", "40.0", "0.250"]
    assert lines[-1] == "geometric mean of new / old: 0.500"
    alone = report_of_run_times([RunTime("odd-gp", 14, 100, 10.0, nan)], runs=1).splitlines()
    assert alone[-1].split() == ["odd-gp", "14", "100", "10.0"]


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not contain the package topshap"):
        overhead(old=tmp_path, runs=1)
