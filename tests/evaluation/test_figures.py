"""What the engine brings and costs, loosely: benchmarks/engine.py prints the figures."""

import re
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

import topshap
from topshap.core.ledger import Ledger

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "engine.py"


def test_two_workers_are_faster_than_one():
    def worth(row):
        time.sleep(0.02)
        return float(row.sum())

    game = topshap.games.per_coalition(worth, n_players=14)
    seconds = {}
    for n_jobs in (1, 2):
        start = time.monotonic()
        with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
            topshap.identify(game, k=3, budget=100, algorithm="cmcs", random_state=0)
        seconds[n_jobs] = time.monotonic() - start
    assert seconds[1] > 1.3 * seconds[2]


def test_known_coalitions_are_answered_at_once():
    rows = np.random.default_rng(0).random((1000, 14)) < 0.5
    ledger = Ledger(14)
    bill = ledger.price(rows)
    ledger.enter(bill, np.zeros(len(bill.unpaid)))
    start = time.perf_counter()
    for _ in range(10):
        ledger.enter(ledger.price(rows), np.empty(0))
    assert (time.perf_counter() - start) / 10 < 0.02


@pytest.mark.cluster
def test_two_thousand_players_and_forty_thousand_coalitions_fit_into_memory():
    command = [sys.executable, BENCHMARK, "large", "--algorithm", "cmcs"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(printed)
    assert float(re.search(r"peak memory ([\d.]+) GB", printed)[1]) < 1.5


@pytest.mark.cluster
def test_two_processes_bring_a_speed_up():
    printed = subprocess.run([sys.executable, BENCHMARK, "workers"], check=True, capture_output=True, text=True).stdout
    print(printed)
    assert float(re.search(r"speed-up with two workers: ([\d.]+)", printed)[1]) > 1.3
