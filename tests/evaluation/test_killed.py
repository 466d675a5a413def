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
import sys, time, numpy as np, topshap
path, log, n_jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
def worth(row):
    time.sleep(0.01)
    with open(log, "a") as file:
        file.write(row.tobytes().hex() + "\\n")
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


def killed_and_resumed(folder, moment, n_jobs=1):
    """Return the number of evaluations of a run that was killed at this moment and then resumed."""
    process = start(folder, n_jobs)
    time.sleep(moment)
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


@pytest.mark.cluster
@pytest.mark.parametrize(("n_jobs", "kills"), [(1, 20), (2, 5)])
def test_runs_killed_at_random_moments_repeat_few_evaluations(tmp_path, n_jobs, kills):
    repeated = []
    for i, moment in enumerate(np.random.default_rng(0).uniform(0.0, 2.0, size=kills)):
        folder = tmp_path / str(i)
        folder.mkdir()
        repeated.append(killed_and_resumed(folder, moment, n_jobs) - 150)
    print(f"n_jobs={n_jobs}: evaluations repeated after {kills} kills: {repeated}")
    # Workers outlive the killed process for a moment and finish the batches already sent to them.
    assert max(repeated) <= (1 if n_jobs == 1 else 6)
