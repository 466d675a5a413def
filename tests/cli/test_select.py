"""topshap select."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import KFold

import topshap
from topshap.cli.models import Model, make_model
from topshap.cli.tables import Task, as_features


@pytest.mark.parametrize(("model", "target"), [("forest", "price"), ("linear", "dear"), ("boosting", "dear")])
def test_the_columns_that_predict_the_target_are_found(folder, run, model, target):
    other = {"price": "dear", "dear": "price"}[target]
    arguments = ["--target", target, "--drop", other, "-k", 2, "--model", model, "--budget", 16]
    result = run("select", "houses.csv", *arguments)
    assert result.exit_code == 0, result.exception
    kind = "regression" if target == "price" else "classification"
    assert f": {kind}. Use --task to change this." in result.output
    assert f"A {model} model is scored by {'R^2' if target == 'price' else 'accuracy'}" in result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert {line[1] for line in lines if line[:1] in (["1"], ["2"])} == {"rooms", "city"}


def test_select_writes_a_report_a_store_and_json(folder, run, houses):
    houses.to_parquet("houses.parquet")
    arguments = ["select", "houses.parquet", "--target", "price", "--drop", "dear", "-k", 2, "--model", "linear"]
    arguments += ["--store", "run.db", "--budget", 16]
    first = run(*arguments, "--report", "houses.html", "--json")
    assert first.exit_code == 0, first.exception
    assert "regression" in first.stderr
    assert "Which columns of houses.parquet predict price?" in (folder / "houses.html").read_text(encoding="utf-8")
    (folder / "result.json").write_text(first.stdout)
    top = topshap.load("result.json")
    assert set(top.names) == {"rooms", "city"}
    with topshap.Store(folder / "run.db") as store:
        assert store.info().evaluations == 16
    again = run(*arguments, "--json", "--jobs", 2)
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert run("show", "result.json").output == f"{top}\n"


def test_select_with_epsilon_stops_by_itself(folder, run):
    arguments = [
        "--target",
        "price",
        "--drop",
        "dear",
        "--drop",
        "id",
        "-k",
        2,
        "--model",
        "linear",
        "--epsilon",
        0.2,
        "--delta",
        0.1,
    ]
    result = run("select", "houses.csv", *arguments, "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    assert found["stopped"] in ("confident", "exact")
    assert (found["epsilon"], found["delta"], found["budget"]) == (0.2, 0.1, None)


def test_select_equals_a_selector_with_its_defaults(folder, run, houses):
    arguments = ["select", "houses.csv", "--target", "price", "--drop", "dear", "--drop", "id", "--model", "linear"]
    result = run(*arguments, "-k", 2, "--json")
    assert "in 5 folds, on subsets of the 4 columns" in result.stderr
    found = json.loads(result.stdout)
    X = as_features(houses[["rooms", "city", "noise", "old"]])
    selector = topshap.TopKSelector(
        make_model(Model.linear, Task.regression, 0), k=2, cv=KFold(5, shuffle=True, random_state=0)
    )
    np.testing.assert_allclose(found["estimates"], selector.fit(X, houses["price"]).result_.estimates)
    assert (found["budget"], found["random_state"]) == (selector.result_.budget, 0)
    fewer = json.loads(run(*arguments, "-k", 2, "--json", "--folds", 2).stdout)
    assert fewer["estimates"] != found["estimates"]


def test_options_of_a_race_are_passed_on(folder, run):
    arguments = ["--target", "price", "--drop", "dear", "-k", 2, "--model", "linear", "--budget", 12, "--folds", 2]
    options = ["--algorithm", "cmcs", "--rank-by", "magnitude", "--seed", 3, "--json"]
    found = json.loads(run("select", "houses.csv", *arguments, *options).stdout)
    assert [found[name] for name in ("algorithm", "rank_by", "random_state")] == ["cmcs", "magnitude", 3]


def test_damaged_metadata_of_a_parquet_file_are_an_error_of_one_line(folder, run, houses):
    houses.to_parquet("houses.parquet")
    table = pq.read_table("houses.parquet")
    damaged = table.schema.metadata[b"pandas"].replace(b'"kind"', b'"mind"')
    pq.write_table(table.replace_schema_metadata({b"pandas": damaged}), "houses.parquet")
    refused = run("select", "houses.parquet", "--target", "price", "-k", 2)
    assert isinstance(refused.exception, topshap.ParameterError)
    assert str(refused.exception) == "Cannot read 'houses.parquet' as Parquet: KeyError: 'kind'"


def test_the_error_of_a_failing_model_is_one_line(folder, run, monkeypatch):
    def fit(*_):
        raise ValueError("Input X contains NaN.\nUse another model.")

    monkeypatch.setattr("topshap.selector.TopKSelector.fit", fit)
    refused = run("select", "houses.csv", "--target", "price", "-k", 2)
    assert isinstance(refused.exception, topshap.EvaluationError)
    assert str(refused.exception) == "A model failed: ValueError: Input X contains NaN. Use another model."


def test_the_store_of_another_game_is_refused(folder, run):
    arguments = ["select", "houses.csv", "--target", "price", "-k", 2, "--model", "linear", "--budget", 40]
    assert run(*arguments, "--store", "run.db").exit_code == 0
    refused = run(*arguments, "--store", "run.db", "--drop", "noise")
    assert isinstance(refused.exception, topshap.StoreError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["houses.csv", "--target", "prise"], "There is no column 'prise'.*Did you mean 'price'"),
        (["houses.csv", "--target", "price", "--drop", "rom"], "There is no column 'rom'.*Did you mean 'rooms'"),
        (["house.csv", "--target", "price"], "The file 'house.csv' does not exist"),
        (["houses.csv", "--target", "price", "-k", "9"], r"'k' parameter of TopKSelector must be an int in \[1, 6\]"),
        (["houses.csv", "--target", "dear", "--task", "regression"], "must be numeric"),
        (
            ["houses.csv", "--target", "price", "--report", "no/such/folder.html"],
            "Cannot write 'no/such/folder.html': the directory 'no/such' does not exist.",
        ),
        (["houses.csv", "--target", "price", "--store", "."], "Cannot write '.': it is a directory."),
    ],
)
def test_errors_say_what_is_wrong(folder, run, arguments, message):
    result = run("select", *arguments)
    assert isinstance(result.exception, topshap.ParameterError)
    with pytest.raises(topshap.ParameterError, match=message):
        raise result.exception


def test_models_take_missing_values_and_new_categories(folder, run):
    frame = pd.DataFrame({"a": [None, 1.0, None, None] * 6, "b": [f"c{i}" for i in range(24)], "y": [0.5, 1, 2, 3] * 6})
    frame.to_csv("gaps.csv", index=False)
    for model in ("forest", "linear", "boosting"):
        assert run("select", "gaps.csv", "--target", "y", "-k", 1, "--model", model).exit_code == 0
