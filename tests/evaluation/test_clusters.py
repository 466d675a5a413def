"""dask and ray: clusters of real processes give the same result, survive lost workers, and name deadly coalitions."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest

import topshap
from topshap import Oracle, Store
from topshap.core.errors import EvaluationError
from topshap.games import per_coalition

OPTIONS = {"k": 3, "budget": 120, "algorithm": "cmcs", "random_state": 0}


def slow_game():
    def worth(row):
        time.sleep(0.01)
        return float(np.where(row, np.arange(10.0), 0.0).sum() + row[0] * row[9])

    return per_coalition(worth, n_players=10)


def vectorised_game():
    def game(rows):
        return np.where(rows, np.arange(10.0), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 9]

    return game


def deadly_game(flag, *, once):
    """A game that kills its worker: once, at the first coalition of five players, or at {0, 1} every time."""

    def worth(row):
        if not once and row.tolist() == [True] * 2 + [False] * 8:
            os.kill(os.getpid(), signal.SIGKILL)
        if once and row.sum() == 5 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(np.where(row, np.arange(10.0), 0.0).sum() + row[0] * row[9])

    return per_coalition(worth, n_players=10)


def reference():
    return topshap.identify(vectorised_game(), 10, n_jobs=1, **OPTIONS).estimates.tobytes()


@pytest.fixture
def dask():
    """A context in which joblib's backend is a local cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


@pytest.fixture(scope="module")
def ray_cluster():
    """A local ray with two processors."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install ray")
    from ray.util.joblib import register_ray

    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # the skip reports it
        pytest.skip(f"ray does not start here: {error!r}")
    register_ray()
    yield ray
    ray.shutdown()


@pytest.fixture
def ray(ray_cluster):
    """A context in which joblib's backend is ray."""
    with joblib.parallel_config(backend="ray", n_jobs=2):
        yield


def survives_a_killed_worker(tmp_path):
    flag = tmp_path / "killed"
    top = topshap.identify(deadly_game(flag, once=True), **OPTIONS)
    assert flag.exists()
    assert top.estimates.tobytes() == reference()


def names_the_poison(tmp_path, batch_size):
    store = Store(tmp_path / "run.db", game="poison-v1")
    oracle = Oracle(deadly_game(None, once=False), store=store, batch_size=batch_size)
    rows = np.concatenate([np.tri(10, dtype=bool), ~np.eye(10, dtype=bool)[:9]])
    with pytest.raises(EvaluationError, match=r"\{0, 1\} could not be evaluated: its worker was lost every time"):
        oracle(rows)
    assert store.info().evaluations == len(rows) - 1
    store.close()


# dask. Two of these tests are part of every run, since they take a few seconds only.


def test_dask_gives_the_same_result_and_survives_a_killed_worker(dask, tmp_path):
    assert topshap.identify(slow_game(), **OPTIONS).estimates.tobytes() == reference()
    survives_a_killed_worker(tmp_path)


@pytest.mark.cluster
@pytest.mark.parametrize("batch_size", [1, 10])
def test_dask_names_the_coalition_that_kills_its_workers(dask, tmp_path, batch_size):
    names_the_poison(tmp_path, batch_size)


@pytest.mark.cluster
def test_dask_runs_a_vectorised_game_and_returns_its_errors(dask, tmp_path):
    assert topshap.identify(vectorised_game(), 10, **OPTIONS).estimates.tobytes() == reference()

    def fails(row):
        raise ConnectionError("no answer")

    with pytest.raises(EvaluationError, match="ConnectionError: no answer") as raised:
        topshap.identify(Oracle(per_coalition(fails, n_players=4), retries=1, backoff=0.0), k=2)
    assert "In the worker" in raised.value.__cause__.__notes__[0]


@pytest.fixture
def impatient_dask():
    """A local cluster that gives up a task with its first worker: a cluster may not survive many lost workers."""
    distributed = pytest.importorskip("distributed")
    from dask import config

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with (
        config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


def poisonous_game(poison):
    """A game whose evaluation of some coalitions ends the process."""

    def worth(row):
        if tuple(np.flatnonzero(row).tolist()) in poison:
            os._exit(3)
        time.sleep(0.01)
        return float(row.sum())

    return per_coalition(worth, n_players=10)


@pytest.mark.cluster
@pytest.mark.parametrize("batch_size", [1, 10])
def test_dask_names_only_coalitions_that_kill_their_worker_alone(impatient_dask, batch_size):
    poison = {(0, 1), (0, 1, 2, 3), (2, 3, 4, 5, 6, 7, 8, 9)}
    rows = np.concatenate([np.tri(10, dtype=bool), ~np.tri(10, k=-1, dtype=bool), ~np.eye(10, dtype=bool)])
    with pytest.raises(EvaluationError, match="its worker was lost every time") as raised:
        Oracle(poisonous_game(poison), batch_size=batch_size)(rows)
    assert tuple(np.flatnonzero(raised.value.coalition).tolist()) in poison


@pytest.fixture
def small_dask():
    """A cluster of one process and its client, in the context of joblib's backend."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with cluster, distributed.Client(cluster) as client, joblib.parallel_config(backend="dask"):
        yield cluster, client


@pytest.mark.cluster
def test_dask_without_workers_is_given_up_and_no_coalition_is_blamed(small_dask, monkeypatch):
    monkeypatch.setattr("topshap.evaluation.clusters.NO_WORKERS_SECONDS", 5.0)
    cluster, _ = small_dask
    oracle = Oracle(slow_game())
    assert oracle(np.eye(10, dtype=bool)).shape == (10,)
    timer = threading.Timer(2.0, cluster.scale, (0,))
    timer.start()
    with pytest.raises(EvaluationError, match=r"^The (dask )?cluster has (had )?no workers") as raised:
        topshap.identify(slow_game(), k=3, budget=1000, algorithm="cmcs")
    timer.join()
    assert raised.value.coalition is None


@pytest.mark.cluster
@pytest.mark.parametrize("seconds", [0.0, 2.0])
@pytest.mark.parametrize("closed", ["cluster", "client"])
def test_a_closed_dask_scheduler_is_reported_and_no_coalition_is_blamed(small_dask, closed, seconds):
    cluster, client = small_dask
    timer = threading.Timer(seconds, cluster.close if closed == "cluster" else client.close)
    timer.start()
    if not seconds:
        timer.join()
    with pytest.raises(EvaluationError, match=r"^The dask scheduler is closed") as raised:
        topshap.identify(slow_game(), k=3, budget=1000, algorithm="cmcs")
    timer.join()
    assert raised.value.coalition is None


# ray.


@pytest.mark.cluster
def test_ray_gives_the_same_result(ray):
    assert topshap.identify(slow_game(), **OPTIONS).estimates.tobytes() == reference()
    assert topshap.identify(vectorised_game(), 10, **OPTIONS).estimates.tobytes() == reference()


@pytest.mark.cluster
def test_ray_survives_a_killed_worker(ray, tmp_path):
    survives_a_killed_worker(tmp_path)


@pytest.mark.cluster
@pytest.mark.parametrize("batch_size", [1, 10])
def test_ray_names_the_coalition_that_kills_its_workers(ray, tmp_path, batch_size):
    names_the_poison(tmp_path, batch_size)


# loky.


@pytest.mark.cluster
@pytest.mark.parametrize("batch_size", [1, 10])
def test_loky_names_the_coalition_that_kills_its_workers(tmp_path, batch_size):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        names_the_poison(tmp_path, batch_size)


@pytest.mark.cluster
def test_loky_survives_a_killed_worker(tmp_path):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        survives_a_killed_worker(tmp_path)
