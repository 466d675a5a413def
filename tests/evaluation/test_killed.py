"""kill -9 at any moment: the resumed run repeats only evaluations in flight, and its result is bit-identical."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest

import topshap
from topshap import Store

SCRIPT = """
import os, sys, time, numpy as np, topshap
path, log, n_jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
def worth(row):
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, (row.tobytes().hex() + "\\n").encode())
    os.close(file)
    time.sleep(0.01)
    return float(np.where(row, np.arange(14.0), 0.0).sum() + row[0] * row[13])
game = topshap.games.per_coalition(worth, n_players=14)
store = topshap.Store(path, game="slow-v1")
print("start", flush=True)
top = topshap.identify(game, k=3, budget=150, algorithm="greedy-cmcs", random_state=0, store=store, n_jobs=n_jobs)
print(top.estimates.tobytes().hex(), top.std_errors.tobytes().hex(), top.players.tolist(), top.evaluations)
"""


def start(folder, n_jobs):
    # Output goes to a file: workers outlive the killed process by minutes and would keep a pipe open.
    with (folder / "out").open("w") as out:
        command = [sys.executable, "-c", SCRIPT, folder / "run.db", folder / "log", str(n_jobs)]
        process = subprocess.Popen(command, stdout=out, start_new_session=True)
    while "start" not in (folder / "out").read_text():
        assert process.poll() is None
        time.sleep(0.005)
    return process


def clean_up(process):
    """End the workers of a killed process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def uninterrupted():
    def game(rows):
        return np.where(rows, np.arange(14.0), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 13]

    top = topshap.identify(game, 14, k=3, budget=150, algorithm="greedy-cmcs", random_state=0)
    return (
        f"{top.estimates.tobytes().hex()} {top.std_errors.tobytes().hex()} {top.players.tolist()} {top.evaluations}\n"
    )


def killed_and_resumed(folder, moment, n_jobs=1, *, workers_too=False):
    """Return the number of evaluations of a run that was killed at this moment and then resumed."""
    process = start(folder, n_jobs)
    while n_jobs > 1 and not (folder / "log").exists():  # workers take a while to start
        time.sleep(0.005)
    time.sleep(moment)
    if workers_too:
        clean_up(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    resumed = start(folder, n_jobs)
    try:
        assert resumed.wait(timeout=120) == 0
    finally:
        clean_up(process)
        clean_up(resumed)
    assert (folder / "out").read_text() == "start\n" + uninterrupted()
    with Store(folder / "run.db") as store:
        assert len(store) == 150
    return len((folder / "log").read_text().split())


@pytest.mark.parametrize("moment", [0.0, 0.5, 1.1])
def test_a_killed_run_repeats_only_the_evaluation_in_flight(tmp_path, moment):
    assert killed_and_resumed(tmp_path, moment) <= 150 + 1


@pytest.mark.parametrize("workers_too", [False, True])
def test_a_killed_run_with_workers_repeats_only_what_was_in_flight(tmp_path, workers_too):
    assert killed_and_resumed(tmp_path, 0.4, n_jobs=2, workers_too=workers_too) <= 150 + 2


@pytest.mark.cluster
@pytest.mark.parametrize(("n_jobs", "workers_too", "kills"), [(1, False, 20), (2, False, 12), (2, True, 12)])
def test_runs_killed_at_random_moments_repeat_few_evaluations(tmp_path, n_jobs, workers_too, kills):
    repeated = []
    for i, moment in enumerate(np.random.default_rng(0).uniform(0.0, 1.5, size=kills)):
        folder = tmp_path / str(i)
        folder.mkdir()
        repeated.append(killed_and_resumed(folder, moment, n_jobs, workers_too=workers_too) - 150)
    print(f"n_jobs={n_jobs}, workers_too={workers_too}: evaluations repeated after {kills} kills: {repeated}")
    assert max(repeated) <= n_jobs
