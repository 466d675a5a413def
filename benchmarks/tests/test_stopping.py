"""topshap-bench stopping: the rule of lightshap next to those of topshap."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import topshap_bench as bench
from topshap_bench import cli, stopping
from topshap_bench.stopping import Setting, Stop, Terms


@pytest.fixture
def games(tmp_path, random_game):
    (tmp_path / "games" / "global").mkdir(parents=True)
    for number in range(2):
        random_game(9, number).save(tmp_path / "games" / "global" / f"{number}.npz")
    return tmp_path / "games"


def test_the_matched_epsilon_grows_with_the_tolerance_and_the_number_of_comparisons():
    terms = Terms(k=1, tolerance=0.01, delta=0.05)
    assert terms.matched_epsilon(2) == pytest.approx(1.645 * np.sqrt(2.0) * 0.01, rel=1e-3)
    assert terms._replace(tolerance=0.02).matched_epsilon(2) == pytest.approx(2.0 * terms.matched_epsilon(2))
    assert terms._replace(k=5).matched_epsilon(14) > terms.matched_epsilon(14)


def test_a_report_counts_wrong_sets_by_the_matched_epsilon():
    runs = [Stop(100, 150, True, 0.05, 0.04), Stop(200, 250, False, 0.03, 0.04), Stop(300, 300, True, 0.0, 0.04)]
    results = {Setting(bench.Source("global", "wine"), Terms()): {"rule": runs}}
    (line,) = stopping.report(results).splitlines()[1:]
    assert " ".join(line.split()) == "global rule 200 233 0.67 26.67 1 of 3 [0.0084, 0.9057] 2 of 3"


def test_lightshap_stops_by_its_own_rule_and_is_counted(games):
    pytest.importorskip("lightshap")
    opened = bench.from_folder(games)[0].open()
    loose, strict = (stopping.lightshap_run(opened, Terms(tolerance=tol), "kernel", 0) for tol in (0.5, 1e-9))
    assert loose.stopped
    assert not strict.stopped
    assert loose.evaluations < strict.evaluations < strict.calls


def test_every_rule_runs_on_every_game(games):
    pytest.importorskip("lightshap")
    arguments = ["stopping", "--games", str(games), "--runs", "2", "--k", "3", "--jobs", "1"]
    result = CliRunner().invoke(cli.build(), arguments)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.output.splitlines() if line.startswith("global")]
    assert len(lines) == 2 + 1 + len(stopping.RULES)
    assert all(" of 4 [" in line for line in lines)
    assert lines[0].split()[2] == lines[2].split()[5]  # odd-gp with as many evaluations


def test_without_lightshap_the_command_says_what_to_install(games, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightshap", None)
    with pytest.raises(ImportError, match="lightshap"):
        stopping.stopping(games)
