"""Clusters: dask.distributed and ray, if one of them is joblib's active backend.

Batches are submitted through their own futures, not through joblib: joblib's dask backend waits forever for a task that
kills its workers, and its ray backend returns nothing if one of its actors dies. A future tells which batch was lost.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from topshap.evaluation.pickling import evaluate_in_worker, unpickle
from topshap.evaluation.recovery import NoWorkersLeftError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from topshap.evaluation.executors import Job
    from topshap.evaluation.results import BatchResult

NO_WORKERS_SECONDS = 30.0
"""A cluster without workers for this many seconds is given up."""
_POLL_SECONDS = 1.0
"""The time between two checks of the cluster while no result arrives."""


class _Stall:
    """Raises an error if no result arrives for longer than the limit."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self.result_arrived()

    def result_arrived(self) -> None:
        self._last = time.monotonic()

    def check(self) -> None:
        if self._limit is not None and time.monotonic() - self._last > self._limit:
            raise TimeoutError(f"nothing came back within {self._limit:g} s")


@dataclass
class Dask:
    """A dask.distributed cluster, used through the client of joblib's backend."""

    backend: Any
    n_workers: int
    attempts_alone: int = field(default=1, init=False)  # dask itself has tried several workers by then
    separate_processes: bool = field(default=True, init=False)

    def run(
        self, job: Job, batches: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], BatchResult | None]]:
        """Yield each batch with its result as soon as it arrives."""
        client = self.backend.client
        # A task and not scattered data, which would be lost together with the worker that holds it.
        game = client.submit(unpickle, *job.game.payload(), key=f"topshap-game-{uuid4().hex}")
        waiting = job.claimed(batches)
        running: dict[Any, Any] = {}
        finished: SimpleQueue[Any] = SimpleQueue()
        stall = _Stall(job.stall_limit(batches))
        had_workers = time.monotonic()
        try:
            while True:
                for batch in islice(waiting, self.n_workers - len(running)):
                    future = client.submit(
                        evaluate_in_worker,
                        game,
                        job.coalitions[batch],
                        job.policy(),
                        key=f"topshap-batch-{uuid4().hex}",
                        **self.backend.submit_kwargs,
                    )
                    running[future.key] = batch, future
                    future.add_done_callback(finished.put)
                if not running:
                    return
                future = _next_finished(finished)
                if future is None:
                    had_workers = self._check_workers(had_workers)
                    stall.check()
                    continue
                had_workers = time.monotonic()
                stall.result_arrived()
                batch, _ = running.pop(future.key)
                yield batch, _dask_result(future)
        finally:
            with suppress(Exception):  # the cluster may be gone
                client.cancel([future for _, future in running.values()])

    def _check_workers(self, had_workers: float) -> float:
        """Return when the cluster last had workers, or raise an error if that is too long ago."""
        now = time.monotonic()
        if self.backend.client.ncores():
            return now
        if now - had_workers > NO_WORKERS_SECONDS:
            raise NoWorkersLeftError(f"the dask cluster has had no workers for {NO_WORKERS_SECONDS:g} s")
        return had_workers


def _next_finished(finished: SimpleQueue[Any]) -> Any:
    """Return the next finished future, None if there is none for a while."""
    try:
        return finished.get(timeout=_POLL_SECONDS)
    except Empty:
        return None


def _dask_result(future: Any) -> BatchResult | None:
    """Return the result of a task, None if it was lost with its worker, even after it had finished."""
    if future.status != "finished":
        return None
    try:
        result: BatchResult = future.result(timeout=NO_WORKERS_SECONDS)
    except Exception:  # noqa: BLE001 - errors of the game are part of a result, so the cluster raised this one
        return None
    return result


@dataclass
class Ray:
    """A ray cluster, used through tasks with the options of joblib's backend."""

    backend: Any
    n_workers: int
    attempts_alone: int = field(default=2, init=False)
    separate_processes: bool = field(default=True, init=False)

    def run(
        self, job: Job, batches: Sequence[NDArray[np.intp]]
    ) -> Iterator[tuple[NDArray[np.intp], BatchResult | None]]:
        """Yield each batch with its result as soon as it arrives."""
        import ray  # noqa: PLC0415 - the backend has imported it already

        options = {"max_retries": 0, **(self.backend.ray_remote_args or {})}
        task = ray.remote(evaluate_in_worker).options(**options)
        game = ray.put(job.game)
        waiting = job.claimed(batches)
        running: dict[Any, Any] = {}
        stall = _Stall(job.stall_limit(batches))
        try:
            while True:
                for batch in islice(waiting, self.n_workers - len(running)):
                    running[task.remote(game, job.coalitions[batch], job.policy())] = batch
                if not running:
                    return
                finished, _ = ray.wait(list(running), num_returns=1, timeout=_POLL_SECONDS)
                if not finished:
                    stall.check()
                    continue
                stall.result_arrived()
                batch = running.pop(finished[0])
                try:
                    result = ray.get(finished[0])
                except ray.exceptions.RayError:
                    result = None
                yield batch, result
        finally:
            for reference in running:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)
