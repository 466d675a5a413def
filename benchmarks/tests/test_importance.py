"""Global importance: the truth, the comparison at equal predictions, and its report."""

import numpy as np
import pytest

from topshap_bench.importance import comparison, methods
from topshap_bench.importance.comparison import Cell, compare, ratios, report
from topshap_bench.importance.methods import Found, topshap_importance
from topshap_bench.importance.problems import problem


@pytest.fixture(scope="module")
def asked():
    return problem("diabetes-mlp", "loss", None, 30)


def test_the_truth_of_the_loss_adds_up(asked):
    setup = asked.setup
    nothing, everything = setup.predict(setup.background).mean(), setup.predict(setup.X)
    reduction = np.mean((setup.y - nothing) ** 2) - np.mean((setup.y - everything) ** 2)
    assert asked.truth.sum() == pytest.approx(reduction)
    assert asked.error_of_truth == 0.0


def test_predictions_are_counted(asked):
    start = asked.predictions
    found = topshap_importance(asked, 200, 0)
    assert 0 < asked.predictions - start <= 210 * len(asked.setup.background)
    assert found.values.shape == found.std_errors.shape == (10,)


def test_all_methods_are_measured_and_reported(monkeypatch):
    monkeypatch.setattr(comparison, "installed", lambda by: by == "mean_abs")
    monkeypatch.setitem(methods.RIVALS, "mean_abs", {"rival": lambda asked, *_: Found(2.0 * asked.truth)})
    found = compare(setups=["diabetes-mlp"], shares=[0.5], runs=1, rows=25)
    cells, stopped, _ = found
    found_by = [(cell.by, cell.method) for cell in cells]
    assert found_by == [("loss", "topshap"), ("mean_abs", "topshap"), ("mean_abs", "rival")]
    assert {each.by for each in stopped} == {"loss", "mean_abs"}
    text = report(*found)
    assert "judged: diabetes-mlp" in text
    assert "runs with epsilon = 0.05 of the range" in text


def test_the_best_other_method_counts():
    cells = [Cell("a", "loss", 1.0, name, 10.0, error, 0.95) for name, error in (("topshap", 1), ("x", 4), ("y", 2))]
    assert ratios(cells, ["a"]) == {("loss", 1.0): [0.5]}
    assert ratios(cells, ["b"]) == {}
