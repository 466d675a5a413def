"""Leases: processes that share a store never evaluate the same coalition at the same time."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import topshap
from topshap.evaluation.store import leases
from topshap.evaluation.store.leases import MOST, Leases

A, B, C = (b"a", 0), (b"b", 0), (b"c", 0)

HOLDER = """
import sys
from pathlib import Path
from topshap.evaluation.store.leases import Leases
leases = Leases(Path(sys.argv[1]))
print(leases.lease_all() if sys.argv[2] == "all" else leases.lease([(b"a", 0)]), flush=True)
sys.stdin.readline()
leases.release_all()
print("released", flush=True)
sys.stdin.readline()
"""


@contextmanager
def another_process(path, what="one"):
    """A process that has leased A or everything; a line of input makes it release its leases, and another one end."""
    command = [sys.executable, "-c", HOLDER, path, what]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert "True" in process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def test_a_coalition_is_leased_by_one_process_at_a_time(path):
    mine = Leases(path)
    with another_process(path) as process:
        assert mine.lease([A, B]) == [False, True]
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        assert mine.lease([A, B, C]) == [True, True, True]
    mine.close()


def test_the_leases_of_a_killed_process_are_free(path):
    mine = Leases(path)
    with another_process(path) as process:
        assert mine.lease([A]) == [False]
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert mine.lease([A]) == [True]
    mine.close()


def test_a_process_that_is_alone_leases_everything(path):
    mine = Leases(path)
    with another_process(path, "all") as process:
        assert mine.lease([A, B]) == [False, False]
        assert not mine.lease_all()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert mine.lease_all()
    mine.close()


def test_nothing_is_leased_as_a_whole_while_another_process_is_present(path):
    mine = Leases(path)
    with another_process(path) as process:
        assert not mine.lease_all()
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        assert not mine.lease_all()
    assert mine.lease_all()
    mine.close()


def test_the_last_process_removes_the_file(path):
    mine = Leases(path)
    with another_process(path):
        mine.lease([B])
        mine.close()
        assert [file.name for file in path.parent.iterdir()] == ["run.db-leases"]
    mine.lease([B])
    mine.close()
    assert list(path.parent.iterdir()) == []


def test_a_file_that_was_removed_meanwhile_is_opened_again(path):
    first, second = Leases(path), Leases(path)
    assert first.lease([A]) == [True]
    (path.parent / "run.db-leases").unlink()
    with another_process(path):
        first.close()
        assert second.lease([B]) == [True]
        assert second.lease([A]) == [False]
    second.close()


def test_runs_in_two_threads_have_their_own_leases(path):
    mine = Leases(path)
    assert mine.lease([A]) == [True]
    found = []

    def other():
        others = Leases(path)
        found.extend(others.lease([A, B]))
        others.close()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [False, True]
    within = Leases(path)
    assert within.lease([A]) == [True]  # a run within another one must not wait for it
    within.close()
    mine.close()


def test_a_large_batch_is_leased_in_parts(path):
    mine = Leases(path)
    keys = [(i.to_bytes(4, "big"), 0) for i in range(MOST + 5)]
    assert mine.lease(keys) == [True] * MOST + [False] * 5
    mine.release(keys[:10])
    mine.release_all()
    with another_process(path):
        pass
    mine.close()


def test_draws_of_a_coalition_have_their_own_leases(path):
    mine = Leases(path)
    with another_process(path):
        assert mine.lease([(b"a", 0), (b"a", 1)]) == [False, True]
    mine.close()


@pytest.mark.parametrize("present", [False, True])
def test_a_vectorised_game_gets_whole_batches_unless_another_process_is_present(path, present):
    sizes = []

    def game(rows):
        sizes.append(len(rows))
        return rows @ np.arange(13.0)

    def run():
        store = topshap.Store(path, game="sum-v1")
        return topshap.identify(game, 13, k=3, budget=2**13, algorithm="cmcs", random_state=0, store=store)

    if present:
        with another_process(path):
            top = run()
    else:
        top = run()
    assert top.evaluations == sum(sizes) == 2**13
    assert (max(sizes) > MOST) != present
    assert list(path.parent.iterdir()) == [path] or present


@pytest.mark.parametrize("why", ["no fcntl", "no locks", "no file"])
def test_without_locks_every_coalition_may_be_evaluated(path, monkeypatch, why):
    def no_locks(*_):
        raise OSError(37, "No locks available")

    if why == "no fcntl":
        monkeypatch.setattr(leases, "fcntl", None)
    elif why == "no locks":
        monkeypatch.setattr("fcntl.lockf", no_locks)
    else:
        path = path.parent / "missing" / "run.db"
    mine = Leases(path)
    assert mine.lease([A, B]) == [True, True]
    assert mine.lease_all()
    mine.release([A])
    mine.close()


# Runs in several processes.


SHARER = """
import asyncio, os, sys, time, numpy as np, topshap
path, log, kind = sys.argv[1:]
weights = np.arange(14.0)

def note(rows):
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, "".join(row.tobytes().hex() + "\\n" for row in rows).encode())
    os.close(file)

def worth(row):
    note([row])
    time.sleep(0.01)
    return float(weights @ row + row[0] * row[13])

async def async_worth(row):
    note([row])
    await asyncio.sleep(0.02)
    return float(weights @ row + row[0] * row[13])

def vectorised(rows):
    note(rows)
    time.sleep(0.005 * len(rows))
    return rows @ weights + rows[:, 0] * rows[:, 13]

per_coalition = topshap.games.per_coalition
options = {"k": 3, "budget": 250, "random_state": 0, "algorithm": "cmcs", "store": topshap.Store(path, game="slow-v1")}
if kind == "one by one":
    top = topshap.identify(per_coalition(worth, n_players=14), **options)
elif kind == "vectorised":
    top = topshap.identify(vectorised, 14, **options)
elif kind == "workers":
    top = topshap.identify(per_coalition(worth, n_players=14), n_jobs=2, **options)
else:
    top = asyncio.run(topshap.aidentify(per_coalition(async_worth, n_players=14), **options))
print(top.evaluations, top.estimates.tobytes().hex())
"""


def four_processes(folder, kind, *, kill):
    """Return the coalitions that four processes with the same seed have paid for, and what the surviving ones print."""
    log = folder / "log"
    outputs = [folder / f"output-{i}" for i in range(4)]
    processes = []
    for output in outputs:  # into files: the workers of a killed process would keep a pipe open
        command = [sys.executable, "-c", SHARER, folder / "run.db", log, kind]
        with output.open("w") as file:
            processes.append(subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True))
    try:
        if kill:
            while not log.exists() or len(log.read_text().split()) < 60:
                time.sleep(0.005)
            processes[0].kill()
        for i, process in enumerate(processes):
            assert process.wait(timeout=120) == (-signal.SIGKILL if kill and i == 0 else 0), outputs[i].read_text()
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return log.read_text().split(), {output.read_text() for output in outputs[kill:]}


def test_a_run_removes_the_file_of_leases_even_if_it_was_left_behind(tmp_path):
    left = tmp_path / "run.db-leases"
    left.touch()
    store = topshap.Store(tmp_path / "run.db", game="sum-v1")
    topshap.identify(lambda rows: rows.sum(axis=1), 8, k=2, budget=20, random_state=0, store=store)
    assert not left.exists()
    store.close()


@pytest.mark.parametrize("kill", [False, True])
@pytest.mark.parametrize(
    "kind", ["one by one", "vectorised", "async", pytest.param("workers", marks=pytest.mark.cluster)]
)
def test_four_processes_with_the_same_seed_pay_for_every_coalition_once(tmp_path, kind, kill):
    paid, printed = four_processes(tmp_path, kind, kill=kill)
    in_flight = {"one by one": 1, "vectorised": 250, "async": 8, "workers": 2}[kind] if kill else 0
    print(f"{kind}, kill={kill}: {len(paid)} evaluations of {len(set(paid))} coalitions")
    assert len(set(paid)) == 250
    assert len(paid) <= 250 + in_flight

    def game(rows):
        return rows @ np.arange(14.0) + rows[:, 0] * rows[:, 13]

    alone = topshap.identify(game, 14, k=3, budget=250, random_state=0, algorithm="cmcs")
    (line,) = printed
    evaluations, estimates = line.split()
    assert int(evaluations) == 250
    np.testing.assert_allclose(np.frombuffer(bytes.fromhex(estimates)), alone.estimates)
