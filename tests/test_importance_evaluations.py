"""Explainer.importance: workers, the progress bar, and a store from which killed runs resume."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

import topshap
from topshap import Store

SCRIPT = """
import os, sys, time, numpy as np, topshap
path, log, by, n_jobs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
rng = np.random.default_rng(0)
X = rng.normal(size=(25, 5)) + 1.0
def predict(rows):
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, "".join(row.tobytes().hex() + "\\n" for row in np.asarray(rows)).encode())
    os.close(file)
    time.sleep(0.006 * len(rows))
    return 2.0 * rows[:, 0] + rows[:, 1] * rows[:, 2] - rows[:, 3]
explainer = topshap.Explainer(predict, np.zeros((1, 5)), imputer="baseline")
store = topshap.Store(path, game="slow-v1")
options = {"y": predict(X) + X[:, 4]} if by == "loss" else {}
print("start", flush=True)
top = explainer.importance(X, k=2, budget=400, random_state=0, store=store, n_jobs=n_jobs, **options)
print(top.estimates.tobytes().hex(), top.std_errors.tobytes().hex(), top.players.tolist(), top.evaluations)
"""
IN_FLIGHT = 100
"""The number of evaluations of a slow model that are stored together."""


def start(folder, by, n_jobs, store="run.db", log="log"):
    # Output goes to a file: workers outlive the killed process by minutes and would keep a pipe open.
    with (folder / "out").open("w") as out:
        command = [sys.executable, "-c", SCRIPT, folder / store, folder / log, by, str(n_jobs)]
        process = subprocess.Popen(command, stdout=out, start_new_session=True)
    while "start" not in (folder / "out").read_text():
        assert process.poll() is None
        time.sleep(0.005)
    return process


def finish(process, folder):
    """Wait for a run, and return what it has printed."""
    try:
        assert process.wait(timeout=120) == 0
    finally:
        clean_up(process)
    return (folder / "out").read_text()


def clean_up(process):
    """End a process and its workers."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def predicted(folder, log="log"):
    return Counter((folder / log).read_text().split())


@pytest.mark.parametrize(("by", "n_jobs"), [("mean_abs", 1), ("loss", 1), ("mean_abs", 2)])
def test_a_killed_run_resumes_and_repeats_only_what_was_in_flight(tmp_path, by, n_jobs):
    undisturbed = finish(start(tmp_path, by, n_jobs, "other.db", "other"), tmp_path)
    once = predicted(tmp_path, "other").total()

    killed = start(tmp_path, by, n_jobs)
    before = 0
    while before < 280:  # in the middle of the run
        assert killed.poll() is None
        time.sleep(0.01)
        with suppress(topshap.StoreError), Store(tmp_path / "run.db") as store:
            before = len(store) if (tmp_path / "run.db").exists() else 0
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    clean_up(killed)
    with Store(tmp_path / "run.db") as store:
        kept = len(store)
    assert 280 <= kept < len(Store(tmp_path / "other.db"))

    assert finish(start(tmp_path, by, n_jobs), tmp_path) == undisturbed
    # Each process predicts a few rows to learn about the model, and the target; the rest are evaluations.
    few = 40
    assert predicted(tmp_path).total() <= once + IN_FLIGHT + few
    assert len(Store(tmp_path / "run.db")) == len(Store(tmp_path / "other.db"))


class Counting:
    """A model that counts its predictions."""

    fingerprint = "counting-v1"

    def __init__(self):
        self.rows = 0

    def __call__(self, X):
        self.rows += len(X)
        return 2.0 * X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3]


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).normal(size=(70, 5)) + 1.0


def explained(model, **options):
    return topshap.Explainer(model, np.zeros((1, 5)), imputer="baseline", random_state=0, **options)


@pytest.mark.parametrize("by", ["mean_abs", "loss", "loss of all rows"])
def test_a_second_run_evaluates_nothing(table, tmp_path, by):
    model = Counting()
    asked = {} if by == "mean_abs" else {"y": table[:, 0]}
    asked |= {"k": 2, "budget": 70 * 20 if by == "loss of all rows" else 600}
    store = Store(tmp_path / "run.db", game="counting-v1")
    explainer = explained(model, store=store)
    first = explainer.importance(table, **asked)
    assert first.algorithm == ("odd-gp" if by == "loss of all rows" else "permutations")
    model.rows = 0
    second = explainer.importance(table, **asked)
    assert model.rows <= 2  # to learn about the model
    np.testing.assert_array_equal(second.estimates, first.estimates)
    np.testing.assert_array_equal(second.std_errors, first.std_errors)
    assert second.evaluations == first.evaluations


def test_a_path_needs_a_model_with_a_fingerprint(table, tmp_path):
    lock = threading.Lock()  # has no contents to identify the model by

    def model(X):
        with lock:
            return X[:, 0]

    with pytest.raises(topshap.ParameterError, match="'store' parameter"):
        explained(model).importance(table, store=tmp_path / "run.db")
    named = Store(tmp_path / "run.db", game="locked-v1")
    assert explained(model).importance(table, k=1, budget=200, store=named).names == ("0",)


@pytest.mark.parametrize("by", ["mean_abs", "loss"])
def test_results_are_the_same_for_any_number_of_workers(table, by):
    asked = {"k": 2, "budget": 600} | ({"y": table[:, 0]} if by == "loss" else {})
    explainer = explained(lambda X: 2.0 * X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3])
    one, two = explainer.importance(table, **asked), explainer.importance(table, n_jobs=2, **asked)
    np.testing.assert_array_equal(one.estimates, two.estimates)
    np.testing.assert_array_equal(one.std_errors, two.std_errors)


def test_workers_evaluate_the_rows(table, tmp_path):
    main = os.getpid()

    def where(X):
        (tmp_path / str(os.getpid())).touch()
        return X[:, 0]

    explained(where).importance(table, k=1, budget=600, n_jobs=2)
    assert {path.name for path in tmp_path.iterdir()} - {str(main)}


def test_an_evaluation_that_fails_names_the_features_and_the_row(table):
    def failing(X):
        if ((X[:, 0] == 0.0) & (X[:, 1] != 0.0)).any():
            raise TypeError("no size")
        return X[:, 0]

    with pytest.raises(topshap.EvaluationError, match=r"of the row.*no size"):
        explained(failing).importance(table, k=1, budget=600)


@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_a_progress_bar_is_full_at_the_end(table, capsys, epsilon):
    pytest.importorskip("tqdm")
    explainer = explained(Counting(), progress=True)
    top = explainer.importance(table, k=2, budget=6000, epsilon=epsilon)
    error = capsys.readouterr().err
    assert "100%" in error
    assert ("6.00k/6.00k" in error) == (epsilon is None)
    assert top.stopped == ("budget" if epsilon is None else "confident")
    explained(Counting()).importance(table, k=2, budget=600)
    assert capsys.readouterr().err == ""
    with pytest.raises(topshap.ParameterError, match="'progress' parameter of importance"):
        explainer.importance(table, progress="live")
