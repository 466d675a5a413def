"""Games in other processes: pickled once, unpickled once in each worker."""

from __future__ import annotations

import pickle
import traceback
from collections import OrderedDict
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from topshap.core.errors import ParameterError, describe
from topshap.core.extras import import_extra
from topshap.evaluation.bisection import evaluate
from topshap.evaluation.results import BatchResult, Failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Game
    from topshap.evaluation.call import CallPolicy

_CACHED_GAMES = 4
"""The number of games that a worker keeps."""
_unpickled: OrderedDict[str, PickledGame] = OrderedDict()


class PickledGame:
    """A game that is sent to workers, pickled at most once.

    In the same process it is the game itself. A worker unpickles it when it first arrives and keeps it, with everything
    that the game has loaded since.
    """

    def __init__(self, game: Game, token: str | None = None, pickled: NDArray[np.uint8] | None = None) -> None:
        self.game = game
        self._token = token or uuid4().hex
        self._pickled = pickled

    def payload(self) -> tuple[str, NDArray[np.uint8]]:
        """Return the arguments of `unpickle`; a game that cannot be pickled is refused."""
        cloudpickle = import_extra("cloudpickle", extra="workers", needed_by="n_jobs")
        if self._pickled is None:
            try:
                # As an array: joblib lets processes share large arrays instead of sending them with every batch.
                self._pickled = np.frombuffer(cloudpickle.dumps(self.game), dtype=np.uint8)
            except Exception as error:
                raise ParameterError(
                    "The 'game' parameter of Oracle must be one that can be pickled, to be sent to other processes; "
                    "with joblib.parallel_config(backend='threading') it need not be. "
                    f"Got {self.game!r} instead."
                ) from error
        return self._token, self._pickled

    def __reduce__(self) -> tuple[object, tuple[str, NDArray[np.uint8]]]:
        return unpickle, self.payload()


def unpickle(token: str, pickled: NDArray[np.uint8]) -> PickledGame:
    """Return the game with this token, unpickled unless this process has it already."""
    if token not in _unpickled:
        _unpickled[token] = PickledGame(pickle.loads(pickled.data), token, pickled)  # noqa: S301 - from our own process, not a file
        while len(_unpickled) > _CACHED_GAMES:
            _unpickled.popitem(last=False)
    return _unpickled[token]


def evaluate_in_worker(game: PickledGame, coalitions: Coalitions, policy: CallPolicy) -> BatchResult:
    """Evaluate a batch in a worker and return a result that can be pickled."""
    values, failures = evaluate(game.game, coalitions, policy)
    return BatchResult(values, [Failure(row, picklable_error(error)) for row, error in failures])


def picklable_error(error: Exception) -> Exception:
    """Return an exception that can be pickled, with the worker's traceback as a note."""
    where = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled in the same line
        if type(copy) is type(error) and str(copy) == str(error):
            error.add_note(f"In the worker:\n{where}")
            return error
    except Exception:  # noqa: BLE001, S110 - a user's exception may do anything; it is described below
        pass
    described = RuntimeError(describe(error))
    described.add_note(f"In the worker:\n{where}")
    return described
