"""The overhead per access, compared with the KernelExplainer of shap and with another version."""

from math import nan
from pathlib import Path

import pytest

import topshap
from topshap_bench.overhead import KERNEL_EXPLAINER, Overhead, overhead, report

SOURCE = Path(topshap.__file__).parents[1]


def test_an_algorithm_is_measured_next_to_the_kernel_explainer_and_to_another_version():
    measured = {found.algorithm: found for found in overhead(old=SOURCE, runs=2, algorithms=["cmcs"])}
    assert set(measured) == {KERNEL_EXPLAINER, "cmcs"}
    assert measured[KERNEL_EXPLAINER].to_kernel_explainer == 1.0
    cmcs = measured["cmcs"]
    assert cmcs.new > 0.0
    assert cmcs.old > 0.0
    assert cmcs.to_kernel_explainer == cmcs.new / measured[KERNEL_EXPLAINER].new


def test_the_report_has_the_ratios_that_were_measured():
    alone, beside = Overhead("cmcs", 2.0, nan, 10.0), Overhead("cmcs", 2.0, 4.0, 10.0)
    assert report([alone], runs=1).splitlines()[-1].split() == ["cmcs", "2.00", "0.200"]
    assert report([beside], runs=1).splitlines()[-1].split() == ["cmcs", "2.00", "0.200", "4.00", "0.500"]


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not contain the package topshap"):
        overhead(old=tmp_path, runs=1)
