"""topshap importance."""

import json

import topshap
from topshap.interop.json import load


def test_columns_that_reduce_the_loss_are_found(folder, run):
    result = run("importance", "houses.csv", "--target", "price", "--drop", "dear", "--drop", "id", "-k", 2)
    assert result.exit_code == 0, result.exception
    assert "trained on 90 rows; importance is measured on the other 30." in result.output
    assert "Top 2 of 4 players by loss" in result.output
    assert "rooms" in result.output.split("\n  --")[0]


def test_mean_magnitudes_of_a_function_need_no_target(folder, run, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "my_rooms.py").write_text("def predict(frame):\n    return 2.0 * frame['noise']\n")
    result = run("importance", "houses.csv", "--predict", "my_rooms:predict", "-k", 1, "--budget", 400, "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    assert (found["format"], found["by"]) == ("topshap.TopImportance", "mean_abs")
    (folder / "top.json").write_text(result.stdout)
    assert isinstance(load(folder / "top.json"), topshap.TopImportance)
    assert load(folder / "top.json").names == ("noise",)


def test_classes_losses_and_reports(folder, run, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "my_loss.py").write_text("def wrong(y, chances):\n    return 1.0 - chances.max(axis=1)\n")
    common = ["importance", "houses.csv", "--target", "dear", "--drop", "price", "--drop", "id", "--model", "linear"]
    result = run(*common, "-k", 1, "--epsilon", 0.05, "--report", "out.html")
    assert result.exit_code == 0, result.exception
    assert "rooms" in result.output
    assert "reduction of the log-loss" in (folder / "out.html").read_text()
    assert run(*common, "-k", 1, "--loss", "my_loss:wrong", "--budget", 200).exit_code == 0


def test_a_model_or_a_target_is_needed(folder, run):
    result = run("importance", "houses.csv")
    assert "Name the column to predict with --target" in str(result.exception)


def test_evaluations_are_kept_in_a_store(folder, run, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    code = """
import pathlib
def predict(frame):
    with (pathlib.Path(__file__).parent / "predicted").open("a") as file:
        file.write(f"{len(frame)}\\n")
    return 2.0 * frame['noise']
"""
    (folder / "my_counting.py").write_text(code)

    def predictions():
        found = sum(map(int, (folder / "predicted").read_text().split()))
        (folder / "predicted").unlink()
        return found

    command = ["importance", "houses.csv", "--predict", "my_counting:predict", "-k", 1, "--budget", 400, "--json"]
    plain = run(*command)
    assert predictions() > 300
    first = run(*command, "--store", "run.db")
    assert first.exit_code == 0, first.exception
    assert predictions() > 300
    second = run(*command, "--store", "run.db", "--jobs", 1, "--progress")
    assert predictions() < 10
    assert plain.exit_code == first.exit_code == second.exit_code == 0
    assert plain.stdout == first.stdout == second.stdout
    assert "100%" in second.stderr
    assert "100%" not in first.stderr
    assert "does not exist" in str(run(*command, "--store", "nowhere/run.db").exception)
