"""topshap store info, topshap store check and topshap store export."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import topshap
from topshap import cli

TOPSHAP = Path(sys.executable).with_name("topshap")


@pytest.fixture
def store(tmp_path):
    game = topshap.games.per_coalition(lambda row: row[0] + 0.1 * row[1], player_names=["age", "value", "bmi"])
    store = topshap.Store(tmp_path / "run.db", game="my-game-v1")
    topshap.identify(game, k=1, store=store)
    return store.path


def run(*arguments):
    return CliRunner().invoke(cli.build(), [str(argument) for argument in arguments], catch_exceptions=True)


def test_info_prints_the_game_and_the_number_of_values(store):
    result = run("store", "info", store)
    assert result.exit_code == 0
    for line in ("game        my-game-v1", "players     3", "names       age, value, bmi", "evaluations 8"):
        assert line in result.output


def test_check_counts_the_values_and_fails_if_some_are_damaged(store):
    result = run("store", "check", store)
    assert result.exit_code == 0
    assert result.output == f"8 values of {store} are intact.\n"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE evaluations SET value = value + 1 WHERE id = 3")
    result = run("store", "check", store)
    assert result.exit_code == 1
    for line in ("7 values", "1 values have a wrong checksum.", f"run: topshap store check --repair {store}"):
        assert line in result.output
    result = run("store", "check", "--repair", store)
    assert result.exit_code == 0
    assert f"The damaged file was renamed to {store}.damaged-1." in result.output
    assert run("store", "check", store).output == f"7 values of {store} are intact.\n"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_an_export_holds_every_value(store, tmp_path, name):
    out = tmp_path / name
    result = run("store", "export", store, out)
    assert result.exit_code == 0
    assert "8 values" in result.output
    frame = pd.read_csv(out) if name.endswith("csv") else pd.read_parquet(out)
    assert list(frame) == ["in_age", "in_value", "in_bmi", "draw", "value"]
    assert len(frame) == 8
    np.testing.assert_array_equal(frame["value"], frame["in_age"] + 0.1 * frame["in_value"])
    assert set(frame["draw"]) == {0}
    assert not list(tmp_path.glob("*.part"))


def test_an_existing_file_is_replaced_only_with_force(store, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("mine")
    assert "already exists" in str(run("store", "export", store, out).exception)
    assert out.read_text() == "mine"
    assert run("store", "export", store, out, "--force").exit_code == 0
    assert out.read_text().startswith("in_age")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["store", "info", "missing.db"], "There is no store at 'missing.db'"),
        (["store", "check", "missing.db"], "There is no store at 'missing.db'"),
        (["store", "export", "{store}", "out.xlsx"], "must be a path that ends in .csv or .parquet"),
    ],
)
def test_errors_are_one_line(store, tmp_path, arguments, message):
    command = [TOPSHAP, *(argument.format(store=store) for argument in arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_error_about_missing_typer_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit):
        cli.main()
    assert "topshap[cli]" in capsys.readouterr().err


def test_the_error_about_missing_pyarrow_names_the_extra(monkeypatch, store, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"topshap\[parquet\]"):
        topshap.evaluation.store.export.export(topshap.Store(store), tmp_path / "out.parquet")  # type: ignore[attr-defined]


def test_without_arguments_the_help_is_printed():
    assert "store" in run().output
