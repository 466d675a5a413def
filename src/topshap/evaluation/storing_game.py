"""A game whose values are stored by the worker that computes them.

A worker that has written a value to the store before it takes the next coalition loses nothing if the main process is
killed. The main process writes the values that it gets as well, and a value that is already stored stays.
"""

from __future__ import annotations

import logging
import sqlite3
from typing import TYPE_CHECKING, Any

from topshap.core.errors import StoreError
from topshap.core.values import is_missing
from topshap.evaluation.results import split_valid
from topshap.evaluation.store.store import append

if TYPE_CHECKING:
    from pathlib import Path

    from topshap.core.typing import Coalitions, Game
    from topshap.evaluation.executors import Executor

logger = logging.getLogger("topshap")

_LOCAL_BACKENDS = {"LokyBackend", "ThreadingBackend"}
"""The backends of joblib whose workers have the file and may open it: SQLite does not allow it in forked processes."""


class StoringGame:
    """A deterministic game that writes its values to the file of a store."""

    def __init__(self, game: Game, path: Path, n_outputs: int | None = None) -> None:
        self.game = game
        self.path = path
        self.n_outputs = n_outputs

    def __call__(self, coalitions: Coalitions) -> Any:
        """Return the answer of the game, after its valid values are in the store."""
        rows = coalitions.copy()
        answer = self.game(coalitions)
        values = split_valid(answer, rows, None, self.n_outputs).values
        valid = ~is_missing(values)
        if valid.any():
            try:
                append(self.path, rows[valid], values[valid])
            except (sqlite3.Error, OSError, StoreError) as error:  # the main process writes them too, and reports it
                logger.info("a worker could not write to the store %s: %s", self.path, error)
        return answer


def stores_values(executor: Executor) -> bool:
    """Return whether the workers of an executor can write to the file of a store."""
    return type(getattr(executor, "backend", None)).__name__ in _LOCAL_BACKENDS
