"""The guard against regressions: it passes the same version, and finds a slower or a worse copy of it."""

import shutil
from math import nan
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import topshap
from topshap.core.interactions import interactions_from_table
from topshap.games import TableGame
from topshap_bench import cli, guard, guard_probe

SOURCE = Path(topshap.__file__).parents[1]
FEW = {"overhead": [("cmcs",)], "overhead_runs": 2, "quality": ["odd-gp/error"], "quality_runs": 10}
SLOWER = """
_identify = identify

def identify(*arguments, **options):
    for _ in range(3):
        _identify(*arguments, **options)
    return _identify(*arguments, **options)
"""
WORSE = """
_identify = identify

def identify(*arguments, budget, **options):
    return _identify(*arguments, budget=budget // 2, **options)
"""


@pytest.fixture
def copy(tmp_path):
    """Return a function that copies the package and adds code at the end of its first module."""

    def with_code(code):
        shutil.copytree(SOURCE / "topshap", tmp_path / "topshap", ignore=shutil.ignore_patterns("__pycache__"))
        with (tmp_path / "topshap" / "__init__.py").open("a") as file:
            file.write(code)
        return tmp_path

    return with_code


def test_a_version_is_not_worse_than_itself():
    cells = guard.guard(SOURCE, **(FEW | {"overhead": [], "quality": None, "quality_runs": 2}))
    assert [cell.name.replace(", ", "/") for cell in cells] == list(guard_probe.CELLS)
    assert all(cell.ratio == 1.0 and not cell.worse for cell in cells)


def test_a_slower_copy_is_found(copy):
    overhead, quality = guard.guard(SOURCE, new=copy(SLOWER), **FEW)
    assert overhead.worse
    assert overhead.ratio > guard.SLOWER
    assert not quality.worse  # it makes the same choices
    assert quality.ratio == 1.0


def test_a_worse_copy_is_found(copy):
    (quality,) = guard.guard(SOURCE, new=copy(WORSE), **(FEW | {"overhead": []}))
    assert quality.worse
    assert quality.ratio > guard.WORSE
    assert "1 of 1 cells are worse" in guard.report([quality])


def test_a_version_that_fails_is_worse_and_a_cell_that_is_new_is_not(copy, capfd):
    broken = copy("\ndef identify(*arguments, **options):\n    raise RuntimeError('broken')\n")
    (failed,) = guard.guard(SOURCE, new=broken, **(FEW | {"overhead": []}))
    assert failed.worse
    assert "RuntimeError: broken" in capfd.readouterr().err
    (added,) = guard.guard(broken, **(FEW | {"overhead": []}))
    assert not added.worse


@pytest.mark.parametrize(
    ("cell", "worse"),
    [
        (guard.Cell("a", 1.2, 1.0, 1.25), False),
        (guard.Cell("a", 1.3, 1.0, 1.25), True),
        (guard.Cell("a", 1.3, 1.0, 1.25, significant=False), False),
        (guard.Cell("a", nan, 1.0, 1.25), True),
        (guard.Cell("a", 1.0, nan, 1.25), False),
    ],
)
def test_a_cell_is_worse_above_its_limit_or_if_it_failed(cell, worse):
    assert cell.worse == worse
    assert ("WORSE" in guard.report([cell])) == worse


@pytest.mark.parametrize(("new", "code"), [(1.0, 0), (2.0, 1)])
def test_the_exit_code_says_whether_a_cell_is_worse(monkeypatch, tmp_path, new, code):
    monkeypatch.setattr(guard, "guard", lambda *_args, **_options: [guard.Cell("a", new, 1.0, 1.1)])
    command = ["guard", "--old", str(SOURCE), "--out", str(tmp_path / "guard.txt")]
    result = CliRunner().invoke(cli.build(), command)
    assert result.exit_code == code
    assert (tmp_path / "guard.txt").read_text() in result.output


def test_two_versions_to_compare_with_are_refused():
    result = CliRunner().invoke(cli.build(), ["guard", "--old", str(SOURCE), "--revision", "HEAD"])
    assert isinstance(result.exception, topshap.ParameterError)


def test_an_unknown_revision_is_refused():
    with pytest.raises(topshap.ParameterError, match="git archive"), guard.sources_of("no-such-revision"):
        pass


def test_the_exact_values_of_the_probe_are_those_of_the_reference():
    values = guard_probe.model_of(0, 6)(guard_probe.all_coalitions(6))
    np.testing.assert_allclose(guard_probe.shapley(values), TableGame(values).shapley_values(), atol=1e-12)
    np.testing.assert_allclose(guard_probe.interactions(values), interactions_from_table(values), atol=1e-12)
