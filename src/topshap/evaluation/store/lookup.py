"""The store as one run uses it: known values are looked up, and new ones leased, evaluated and added."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.values import is_missing
from topshap.evaluation.store.leases import Leases
from topshap.evaluation.store.store import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.store.identity import Identity
    from topshap.evaluation.store.leases import Key
    from topshap.evaluation.store.store import Store


class Lookup(NamedTuple):
    """The known values of a batch of coalitions."""

    values: Values
    """One value per coalition, nan where it is not known; a row per coalition in a game with several outputs."""
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
        self._leases = Leases(store.path)
        self._writable = self._outputs_checked = False
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
        if known.any() and self.identity.n_outputs is not None:
            self.check_outputs(values)
        return Lookup(values, np.flatnonzero(~known & (same_as == rows)), same_as, draws)

    def version(self) -> int:
        """Return a number that changes when another process has written to the store."""
        return self.store.version()

    def check_outputs(self, values: Values) -> None:
        """Refuse values with another number of outputs than those of the store; it is checked once."""
        n_outputs = None if values.ndim == 1 else values.shape[1]
        declared = self.identity.n_outputs
        if self._outputs_checked or is_missing(values).all():
            return
        self.store.check_outputs(n_outputs if declared is None else declared)
        self._outputs_checked = True

    def check_writable(self, needed: int) -> None:
        """Raise an error if the store is read-only but this many coalitions have to be evaluated."""
        if not self._writable:
            self.store.check_writable(needed)
            self._writable = True

    def look_again(self, coalitions: Coalitions, draws: Sequence[int]) -> Values:
        """Return the values of coalitions that were looked up before, nan where unknown."""
        return self.store.look_up(coalitions, draws)[0]

    def add(self, coalitions: Coalitions, values: Values, draws: Sequence[int]) -> None:
        """Write new values to the store."""
        self.store.add(coalitions, values, draws)

    def lease_all(self) -> bool:
        """Keep other runs from evaluating anything until `release_all`; return False if there are other processes."""
        return self._leases.lease_all()

    def lease(self, keys: Sequence[Key]) -> NDArray[np.bool_]:
        """Return which of these coalitions may be evaluated now: those that no other run is evaluating."""
        return np.array(self._leases.lease(keys), dtype=np.bool_)

    def release(self, keys: Sequence[Key]) -> None:
        """Let other runs evaluate these coalitions, or find their values."""
        self._leases.release(keys)

    def release_all(self) -> None:
        """Let other runs evaluate all coalitions."""
        self._leases.release_all()

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        self._leases.close()
        self.store.close()


def nothing_known(rows: int) -> Lookup:
    """Return the lookup of a run without a store."""
    everything = np.arange(rows)
    return Lookup(np.full(rows, np.nan), everything, everything, [0] * rows)
