"""What a run remembers through its store: which coalitions are paid for, and which evaluation of them comes next."""

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


class Recollection(NamedTuple):
    """What is known of some coalitions."""

    values: Values
    """One per coalition, nan where it is not known."""
    missing: NDArray[np.intp]
    """The rows to evaluate."""
    same_as: NDArray[np.intp]
    """For each row, the first one with the same value."""
    draws: list[int]
    """For each row, which evaluation of its coalition this is."""


class Memory:
    """A store as one run sees it.

    Of a game whose values vary, the first access to a coalition in a run is its first evaluation, the second access its
    second one and so on, whether it is in the store or new. So a run that is started again meets the same values.
    """

    def __init__(self, store: Store, identity: Identity) -> None:
        self.store = store
        self.identity = identity
        self._accesses: Counter[bytes] = Counter()
        store.open(identity)

    def recall(self, coalitions: Coalitions) -> Recollection:
        """Return what is known of these coalitions."""
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
        return Recollection(values, np.flatnonzero(~known & (same_as == rows)), same_as, draws)

    def keep(self, coalitions: Coalitions, values: Values, draws: Sequence[int]) -> None:
        """Write new values to the store."""
        self.store.add(coalitions, values, draws)


def nothing_known(rows: int) -> Recollection:
    """Return what a run without a store knows before it evaluates anything."""
    everything = np.arange(rows)
    return Recollection(np.full(rows, np.nan), everything, everything, [0] * rows)
