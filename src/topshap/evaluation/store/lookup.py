"""Looking up coalitions in the store of one run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.evaluation.store.store import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.store.identity import Identity
    from topshap.evaluation.store.store import Store


class Lookup(NamedTuple):
    """The known values of a batch of coalitions."""

    values: Values
    """One value per coalition, nan where it is not known."""
    missing: NDArray[np.intp]
    """The rows to evaluate."""
    same_as: NDArray[np.intp]
    """For each row, the first row with the same value."""
    draws: list[int]
    """For each row, the number of its evaluation among those of the same coalition, starting at 0."""


class RunStore:
    """A store as one run uses it.

    If the values of a game vary, the first access to a coalition in a run is its first evaluation, the second access
    its second evaluation and so on, whether they are in the store or new. A run that is started again therefore gets
    the same values.
    """

    def __init__(self, store: Store, identity: Identity) -> None:
        self.store = store
        self.identity = identity
        self._accesses: Counter[bytes] = Counter()
        store.open(identity)

    def look_up(self, coalitions: Coalitions) -> Lookup:
        """Return the known values of these coalitions, and count the accesses to them."""
        rows = np.arange(len(coalitions))
        draws = [0] * len(coalitions)
        same_as = rows
        if self.identity.deterministic:
            first: dict[bytes, int] = {}
            same_as = np.array([first.setdefault(key, row) for row, key in enumerate(pack(coalitions))], dtype=np.intp)
        else:
            for row, key in enumerate(pack(coalitions)):
                draws[row] = self._accesses[key]
                self._accesses[key] += 1
        values, known = self.store.look_up(coalitions, draws)
        return Lookup(values, np.flatnonzero(~known & (same_as == rows)), same_as, draws)

    def add(self, coalitions: Coalitions, values: Values, draws: Sequence[int]) -> None:
        """Write new values to the store."""
        self.store.add(coalitions, values, draws)


def nothing_known(rows: int) -> Lookup:
    """Return the lookup of a run without a store."""
    everything = np.arange(rows)
    return Lookup(np.full(rows, np.nan), everything, everything, [0] * rows)
