"""topshap-bench: the commands read games, write their files and print the folder."""

import pytest
from typer.testing import CliRunner

import topshap_bench as bench_package
from topshap_bench import cli, guarantee, race
from topshap_bench.adversarial import adversarial_game


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "games" / "global").mkdir(parents=True)
    adversarial_game("near-tie", 0).save(tmp_path / "games" / "global" / "wine.npz")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli.build(), list(map(str, arguments)), catch_exceptions=False)


def bench(command, folder, *more):
    out = folder / "out"
    result = run(command, "--quick", "--games", folder / "games", "--out", out, "--jobs", 1, "--runs", 1, *more)
    assert f"are in {out.resolve()}" in result.output
    return result, {path.name for path in out.iterdir()}


def test_the_race_command_writes_its_report(folder, monkeypatch):
    monkeypatch.setattr(race, "rivals", lambda: ["cmcs", "shapiq:svarm"])
    result, files = bench("race", folder)
    assert result.exit_code == 0
    assert "shapiq:svarm" in result.output
    assert files == {"race.csv", "race.txt", "race.png"}


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 1)])
def test_the_exit_code_of_guarantee_says_whether_a_guarantee_failed(folder, monkeypatch, broken, code):
    monkeypatch.setattr(guarantee, "failed", lambda row: broken)
    result, files = bench("guarantee", folder, "--kind", "voting", "--rule", "odd-gp@k:asymptotic")
    assert result.exit_code == code
    assert files == {"guarantee.csv", "guarantee.txt", "guarantee.png"}


def test_promised_runs_only_rules_with_a_guarantee(folder, monkeypatch):
    monkeypatch.setattr(guarantee, "PROMISED", (("odd-gp@k", "asymptotic"),))
    result, _ = bench("guarantee", folder, "--kind", "voting", "--promised")
    assert result.exit_code == 0
    assert "odd-gp@k asymptotic" in result.output
    assert "credible" not in result.output


def test_the_games_runs_deltas_and_budgets_of_guarantee_can_be_chosen(tmp_path):
    chosen = ["--games-per-kind", 2, "--runs", 3, "--delta", 0.2, "--delta", 0.3, "--budget", 50, "--budget", 60]
    kinds = ["--kind", "voting", "--kind", "step", "--rule", "odd-gp@k:asymptotic"]
    result = run("guarantee", *kinds, *chosen, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0
    rows = bench_package.read_results(tmp_path / "guarantee.csv")
    assert {row.family for row in rows} == {"voting", "step"}  # and no real games
    assert {row.delta for row in rows} == {0.2, 0.3, None}
    assert {row.budget for row in rows} == {50, 60, None}
    assert len(rows) == 2 * 2 * 3 * (2 + 2 * 2)


def test_the_paper_command_writes_its_report(folder):
    result, files = bench("paper", folder)
    assert result.exit_code == 0
    assert {"paper.csv", "paper.txt", "paper-a.png", "paper-b.png", "paper-d.png", "paper-e-global.png"} == files
    assert "Table 1" in result.output


def test_the_scale_command_writes_its_report(tmp_path):
    result = run("scale", "--quick", "--runs", 1, "--algorithm", "cmcs", "--out", tmp_path)
    assert result.exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"scale.csv", "scale.txt", "scale.png"}
    assert "claimed" in result.output
