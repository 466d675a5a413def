"""Workers, stores and memory of the evaluation; ``topshap-bench engine`` prints the figures."""

import re
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest

import topshap

BENCHMARK = [sys.executable, "-m", "topshap_bench", "engine"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_as_many_calls_are_in_flight_as_there_are_workers(n_jobs):
    in_flight, most, lock = [], [], threading.Lock()
    together = threading.Barrier(n_jobs, timeout=60.0)

    def worth(row):
        with lock:
            in_flight.append(1)
            most.append(len(in_flight))
        together.wait()  # waits for as many calls as there are workers
        with lock:
            in_flight.pop()
        return float(row.sum())

    game = topshap.games.per_coalition(worth, n_players=14)
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        topshap.identify(game, k=3, budget=100, algorithm="cmcs", random_state=0)
    assert max(most) == n_jobs
    assert len(most) == 100


def test_values_of_known_coalitions_are_read_without_calling_the_game(counted):
    game = counted(topshap.games.AdditiveGame(np.arange(6.0)))
    options = {"k": 2, "algorithm": "cmcs", "counting": "calls", "random_state": 0}
    top = topshap.identify(game, budget=5000, **options)
    assert top.calls == 5000
    assert len(game.asked) == len(set(game.asked)) == top.evaluations <= 2**6


@pytest.mark.cluster
def test_two_thousand_players_and_forty_thousand_coalitions_fit_into_memory():
    command = [*BENCHMARK, "large", "--algorithm", "cmcs"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(printed)
    assert float(re.search(r"peak memory ([\d.]+) GB", printed)[1]) < 1.5


@pytest.mark.cluster
def test_the_benchmark_of_workers_prints_the_speed_up():
    printed = subprocess.run([*BENCHMARK, "workers"], check=True, capture_output=True, text=True).stdout
    print(printed)
    assert re.search(r"speed-up with two workers: [\d.]+", printed)
