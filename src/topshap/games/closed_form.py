"""The base class of games whose Shapley values have a closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import check_vector

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Coalitions, Values

_Number = TypeVar("_Number", np.float64, np.int64)

_BLOCK_CELLS = 2**21
"""The largest number of elements of a temporary array: 16 megabytes of float64."""


@dataclass(frozen=True, eq=False, init=False)
class ClosedFormGame(ABC):
    """A game with one formula for the values of coalitions and one for its Shapley values."""

    n_players: int = field(repr=False)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        values = np.empty(len(rows))
        step = max(1, _BLOCK_CELLS // self._cells_per_row())
        for start in range(0, len(rows), step):
            values[start : start + step] = self._values(rows[start : start + step])
        return values

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, computed from its class and parameters."""
        return fingerprint_of(type(self).__name__, **vars(self))

    def _cells_per_row(self) -> int:
        return self.n_players

    @abstractmethod
    def _values(self, coalitions: Coalitions) -> NDArray[Any]:
        """Return the values of a block of coalitions."""

    @abstractmethod
    def shapley_values(self) -> Values:
        """Return the exact Shapley values."""


def sum_inside(coalitions: Coalitions, amounts: NDArray[_Number]) -> NDArray[_Number]:
    """Sum the amounts of the members of each row, without BLAS, whose rounding depends on the number of rows."""
    sums: NDArray[_Number] = np.where(coalitions, amounts, amounts.dtype.type(0)).sum(axis=1)
    return sums


def numbers(name: str, values: ArrayLike) -> Values:
    """Return a parameter as a read-only array of finite numbers."""
    return read_only(check_vector(name, values).copy())


def read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array
