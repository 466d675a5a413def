"""topshap explain."""

import json
import math
import pickle

import pytest
from sklearn.linear_model import LinearRegression

import topshap

PREDICT = "def predict(frame):\n    return 2.0 * frame['rooms'].fillna(0.0) + (frame['city'] == 'Wien')\n"


def test_a_numeric_prediction_is_explained(folder, run):
    result = run("explain", "houses.csv", "--target", "price", "--drop", "dear", "--row", 17, "-k", 2)
    assert result.exit_code == 0, result.exception
    assert "was trained on the other 119 rows" in result.output
    assert "Explained: predict." in result.output
    assert "Top 2 of 5 players" in result.output


def test_the_predicted_class_is_explained_unless_another_is_named(folder, run):
    arguments = ["explain", "houses.csv", "--target", "dear", "--drop", "price", "--row", 17, "-k", 2, "--json"]
    said, found = {}, {}
    for output in ("yes", "no", None):
        result = run(*arguments, *(["--output", output] if output else []))
        assert result.exit_code == 0, result.exception
        said[output], found[output] = result.stderr, json.loads(result.stdout)
    predicted = said[None].partition("Predicted: ")[2].partition(".")[0]
    assert found[None] == found[predicted]
    assert found["yes"]["estimates"] == pytest.approx([-each for each in found["no"]["estimates"]], abs=1e-9)
    assert "predict_proba of class 'no'" in said["no"]


def test_log_odds_are_explained_with_a_link(folder, run, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "my_odds.py").write_text(
        "def predict(frame):\n    return 1 / (1 + 2.718281828459045 ** -frame['noise'])\n"
    )
    arguments = ["explain", "houses.csv", "--row", 1, "-k", 1, "--predict", "my_odds:predict", "--json"]
    found = [json.loads(run(*arguments, *given).stdout)["grand"] for given in ([], ["--link", "logit"])]
    assert found[1] == pytest.approx(math.log(found[0] / (1 - found[0])))


def test_absent_columns_are_replaced_as_in_explainer(folder, run, houses, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "my_noise.py").write_text("def predict(frame):\n    return frame['noise'] ** 2\n")
    arguments = ["explain", "houses.csv", "--row", 1, "-k", 1, "--predict", "my_noise:predict", "--json"]
    options: dict[str, list[str]] = {
        "default": [],
        "all": ["--max-background", "1000"],
        "means": ["--imputer", "mean-mode"],
    }
    bases = {}
    for name, given in options.items():
        result = run(*arguments, *given)
        assert result.exit_code == 0, result.exception
        found = json.loads(result.stdout)
        bases[name] = found["empty"]
        assert found["output_name"] == "predict"
        assert found["player_values"][found["player_names"].index("noise")] == pytest.approx(houses["noise"][1])
    assert bases["all"] == pytest.approx((houses["noise"] ** 2).mean())
    assert bases["means"] == pytest.approx(houses["noise"].mean() ** 2)
    assert bases["default"] != bases["all"]


def test_absent_columns_are_drawn_or_missing(folder, run, houses, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "my_squares.py").write_text("def predict(frame):\n    return frame['noise'].fillna(7.0) ** 2\n")
    drop = [part for name in ("id", "rooms", "city", "dear") for part in ("--drop", name)]
    arguments = ["explain", "houses.csv", "--row", 1, "-k", 1, "--predict", "my_squares:predict", "--json"]
    result = run(*arguments, *drop, "--imputer", "gaussian", "--max-background", "30")
    expected = houses["noise"].mean() ** 2 + houses["noise"].var()
    assert json.loads(result.stdout)["empty"] == pytest.approx(expected, rel=1e-6)
    result = run(*arguments, "--imputer", "missing")
    assert json.loads(result.stdout)["empty"] == pytest.approx(49.0)
    result = run(*arguments, "--imputer", "gaussian-copula")
    assert result.exit_code != 0
    assert "other values in columns 'id', 'city'" in str(result.exception)


def test_a_function_from_a_module_is_explained(folder, run, monkeypatch):
    (folder / "my_prices.py").write_text(PREDICT)
    monkeypatch.syspath_prepend(folder)
    arguments = ["--row", 1, "-k", 1, "--predict", "my_prices:predict", "--report", "row.html"]
    result = run("explain", "houses.csv", *arguments)
    assert result.exit_code == 0, result.exception
    assert "The model is my_prices:predict." in result.output
    assert "1  rooms" in result.output
    assert "row 1 of houses.csv" in (folder / "row.html").read_text(encoding="utf-8")


def test_a_pickle_is_loaded_only_with_trust_pickle(folder, run, houses):
    model = LinearRegression().fit(houses[["noise", "price"]], houses["price"])
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    houses[["noise", "price"]].to_csv("numbers.csv", index=False)
    arguments = ["explain", "numbers.csv", "--row", 0, "-k", 1]
    refused = run(*arguments, "--predict", "model.pkl")
    assert "Use --trust-pickle to load a pickle" in str(refused.exception)
    result = run(*arguments, "--trust-pickle", "model.pkl")
    assert result.exit_code == 0, result.exception
    assert "1  price" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "120", "--target", "price"], "are 0 to 119. Got --row 120"),
        (["--row", "0"], "--target, or a function with --predict"),
        (["--row", "0", "--target", "dear", "--output", "perhaps"], "one of the classes, no, yes. Got 'perhaps'"),
        (["--row", "0", "--target", "price", "--output", "perhaps"], "--output must be a position"),
        (["--row", "0", "--trust-pickle", "none.pkl"], "The file 'none.pkl' does not exist"),
        (["--row", "0", "--trust-pickle", "houses.csv"], "Cannot load 'houses.csv'"),
        (["--row", "0", "--trust-pickle", "none.pkl", "--predict", "a:b"], "Use one of them"),
    ],
)
def test_errors_say_what_is_wrong(folder, run, arguments, message):
    result = run("explain", "houses.csv", *arguments)
    assert isinstance(result.exception, topshap.ParameterError)
    with pytest.raises(topshap.ParameterError, match=message):
        raise result.exception
