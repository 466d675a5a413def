"""A game on its way to workers: packed once, unpacked once in each of them."""

from __future__ import annotations

import pickle
import traceback
from collections import OrderedDict
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra
from topshap.evaluation.call import Fault, Outcome, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Game
    from topshap.evaluation.call import Care

_GAMES_AT_HAND = 4
"""How many games a worker keeps."""
_unpacked: OrderedDict[str, Shipped] = OrderedDict()


class Shipped:
    """A game that can be sent to workers again and again.

    In the same process it is the game itself. In another it is unpacked when it first arrives and kept there, with
    whatever it has loaded by then.
    """

    def __init__(self, game: Game, token: str | None = None, packed: NDArray[np.uint8] | None = None) -> None:
        self.game = game
        self._token = token or uuid4().hex
        self._packed = packed

    def parcel(self) -> tuple[str, NDArray[np.uint8]]:
        """Return the game as what `unpack` takes; one that cannot be sent is refused."""
        cloudpickle = import_extra("cloudpickle", extra="workers", needed_by="n_jobs")
        if self._packed is None:
            try:
                # An array, since joblib lets processes share large ones instead of sending them with every batch.
                self._packed = np.frombuffer(cloudpickle.dumps(self.game), dtype=np.uint8)
            except Exception as error:
                raise ParameterError(
                    "The 'game' parameter of Oracle must be one that can be pickled, to be sent to other processes; "
                    "with joblib.parallel_config(backend='threading') it need not be. "
                    f"Got {self.game!r} instead."
                ) from error
        return self._token, self._packed

    def __reduce__(self) -> tuple[object, tuple[str, NDArray[np.uint8]]]:
        return unpack, self.parcel()


def unpack(token: str, packed: NDArray[np.uint8]) -> Shipped:
    """Return the game that was sent under this token, unpacked unless that was done before."""
    if token not in _unpacked:
        _unpacked[token] = Shipped(pickle.loads(packed.data), token, packed)  # noqa: S301 - from our own process, not a file
        while len(_unpacked) > _GAMES_AT_HAND:
            _unpacked.popitem(last=False)
    return _unpacked[token]


def evaluate_there(shipped: Shipped, coalitions: Coalitions, care: Care) -> Outcome:
    """Evaluate in a worker: what comes back can always be sent."""
    values, faults = evaluate(shipped.game, coalitions, care)
    return Outcome(values, [Fault(row, sendable(error)) for row, error in faults])


def sendable(error: Exception) -> Exception:
    """Return an exception that can be pickled, with the worker's traceback as a note."""
    where = "".join(traceback.format_exception(error))
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just pickled
        if type(again) is type(error) and str(again) == str(error):
            error.add_note(f"In the worker:\n{where}")
            return error
    except Exception:  # noqa: BLE001, S110 - anything may go wrong in somebody's exception; it is described below
        pass
    described = RuntimeError(f"{type(error).__name__}: {error}")
    described.add_note(f"In the worker:\n{where}")
    return described
