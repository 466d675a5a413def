"""Clusters: dask.distributed and ray, when they are joblib's active backend.

Their own futures are used and not joblib's: joblib's backend for dask waits for ever for a task that kills its workers,
and that for ray gives nothing back when one of its actors dies. A future says which batch was lost.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from topshap.evaluation.pickling import evaluate_there, unpack
from topshap.evaluation.recovery import NoWorkersLeftError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from topshap.evaluation.call import Outcome
    from topshap.evaluation.executors import Work

WITHOUT_WORKERS = 30.0
"""A cluster that has had no workers for so many seconds is given up."""
_LOOK = 1.0
"""How often to look after the cluster while nothing comes back, in seconds."""


@dataclass
class Dask:
    """A dask.distributed cluster, through the client of joblib's backend."""

    backend: Any
    count: int
    lives: int = field(default=1, init=False)  # dask itself has tried several workers by then
    elsewhere: bool = field(default=True, init=False)

    def run(self, work: Work, batches: Sequence[NDArray[np.intp]]) -> Iterator[tuple[NDArray[np.intp], Outcome | None]]:
        """Yield batches with what came of them, as they come back."""
        client = self.backend.client
        # A task and not scattered data, which would be gone with the worker that holds it.
        game = client.submit(unpack, *work.shipped.parcel(), key=f"topshap-game-{uuid4().hex}")
        waiting = deque(batches)
        flying: dict[Any, Any] = {}
        landed: SimpleQueue[Any] = SimpleQueue()
        heard = seen = time.monotonic()
        patience = work.patience(batches)
        try:
            while waiting or flying:
                while waiting and len(flying) < self.count:
                    batch = waiting.popleft()
                    future = client.submit(
                        evaluate_there,
                        game,
                        work.coalitions[batch],
                        work.care(),
                        key=f"topshap-batch-{uuid4().hex}",
                        **self.backend.submit_kwargs,
                    )
                    flying[future.key] = batch, future
                    future.add_done_callback(landed.put)
                try:
                    future = landed.get(timeout=_LOOK)
                except Empty:
                    now = time.monotonic()
                    seen = now if client.ncores() else seen
                    if now - seen > WITHOUT_WORKERS:
                        raise NoWorkersLeftError(
                            f"the dask cluster has had no workers for {WITHOUT_WORKERS:g} s"
                        ) from None
                    if patience is not None and now - heard > patience:
                        raise TimeoutError(f"nothing came back within {patience:g} s") from None
                    continue
                heard = seen = time.monotonic()
                batch, _ = flying.pop(future.key)
                yield batch, _result(future)
        finally:
            with suppress(Exception):  # the cluster may be gone
                client.cancel([future for _, future in flying.values()])


def _result(future: Any) -> Outcome | None:
    """Return what a task returned; None if it was lost with its worker, be it after it was done."""
    if future.status != "finished":
        return None
    try:
        outcome: Outcome = future.result(timeout=WITHOUT_WORKERS)
    except Exception:  # noqa: BLE001 - faults of the game are outcomes, so this is one of the cluster
        return None
    return outcome


@dataclass
class Ray:
    """A ray cluster, through tasks with the options of joblib's backend."""

    backend: Any
    count: int
    lives: int = field(default=2, init=False)
    elsewhere: bool = field(default=True, init=False)

    def run(self, work: Work, batches: Sequence[NDArray[np.intp]]) -> Iterator[tuple[NDArray[np.intp], Outcome | None]]:
        """Yield batches with what came of them, as they come back."""
        import ray  # noqa: PLC0415 - the backend has imported it already

        options = {"max_retries": 0, **(self.backend.ray_remote_args or {})}
        task = ray.remote(evaluate_there).options(**options)
        game = ray.put(work.shipped)
        waiting = deque(batches)
        flying: dict[Any, Any] = {}
        heard = time.monotonic()
        patience = work.patience(batches)
        try:
            while waiting or flying:
                while waiting and len(flying) < self.count:
                    batch = waiting.popleft()
                    flying[task.remote(game, work.coalitions[batch], work.care())] = batch
                landed, _ = ray.wait(list(flying), num_returns=1, timeout=_LOOK)
                if not landed:
                    if patience is not None and time.monotonic() - heard > patience:
                        raise TimeoutError(f"nothing came back within {patience:g} s")
                    continue
                heard = time.monotonic()
                batch = flying.pop(landed[0])
                try:
                    outcome = ray.get(landed[0])
                except ray.exceptions.RayError:
                    outcome = None
                yield batch, outcome
        finally:
            for reference in flying:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)
