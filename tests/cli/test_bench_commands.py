"""topshap bench: the commands find their games, write their files and say where they are."""

import pytest
from typer.testing import CliRunner

from topshap import cli
from topshap.algorithms import CMCS
from topshap.bench import external, guarantee, race, scale
from topshap.bench.hard import hard_game


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "games" / "global").mkdir(parents=True)
    hard_game("near-tie", 0).save(tmp_path / "games" / "global" / "wine.npz")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli.build(), ["bench", *map(str, arguments)], catch_exceptions=False)


def bench(command, folder, *more):
    out = folder / "out"
    result = run(command, "--quick", "--games", folder / "games", "--out", out, "--jobs", 1, "--runs", 1, *more)
    assert f"are in {out.resolve()}" in result.output
    return result, {path.name for path in out.iterdir()}


def test_race(folder, monkeypatch):
    monkeypatch.setattr(race, "rivals", lambda: ["cmcs", "shapiq:svarm"])
    result, files = bench("race", folder)
    assert result.exit_code == 0
    assert "shapiq:svarm" in result.output
    assert files == {"race.csv", "race.txt", "race.png"}


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 1)])
def test_guarantee(folder, monkeypatch, broken, code):
    monkeypatch.setattr(guarantee, "KINDS", {})
    monkeypatch.setitem(guarantee.guarantee.__kwdefaults__, "kinds", ())
    monkeypatch.setitem(guarantee.guarantee.__kwdefaults__, "rules", [("odd-gp@k", "asymptotic")])
    monkeypatch.setattr(guarantee, "failed", lambda row: broken)
    result, files = bench("guarantee", folder)
    assert result.exit_code == code
    assert files == {"guarantee.csv", "guarantee.txt", "guarantee.png"}


def test_only_rules_that_promise_something(folder, monkeypatch):
    monkeypatch.setitem(guarantee.guarantee.__kwdefaults__, "kinds", ())
    monkeypatch.setattr(guarantee, "PROMISED", (("odd-gp@k", "asymptotic"),))
    result, _ = bench("guarantee", folder, "--promised")
    assert result.exit_code == 0
    assert "odd-gp@k asymptotic" in result.output
    assert "credible" not in result.output


def test_paper(folder):
    result, files = bench("paper", folder)
    assert result.exit_code == 0
    assert {"paper.csv", "paper.txt", "paper-a.png", "paper-b.png", "paper-d.png", "paper-e-global.png"} == files
    assert "Table 1" in result.output


def test_scale(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "ALGORITHMS", {"cmcs": CMCS})
    monkeypatch.setattr(external, "available", list)
    result = run("scale", "--quick", "--runs", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"scale.csv", "scale.txt", "scale.png"}
    assert "claimed" in result.output
