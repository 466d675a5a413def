"""A store behind a race that is driven from outside: what is known is not asked for, what is told is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.evaluation.store.identity import Identity
from topshap.evaluation.store.lookup import Memory, Recollection, nothing_known
from topshap.evaluation.store.store import Store

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.core.typing import Coalitions, Values


class ToldMemory:
    """What a store knows of the coalitions that a race wants next."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.wanted: Coalitions = np.empty((0, 1), dtype=np.bool_)
        self._known: Recollection = nothing_known(0)

    def unknown(self, coalitions: Coalitions) -> Coalitions:
        """Return those of the coalitions wanted next that are not in the store."""
        self.wanted = coalitions
        self._known = self._memory.recall(coalitions) if len(coalitions) else nothing_known(0)
        return coalitions[self._known.missing]

    def complete(self, told: Values) -> Values:
        """Keep the values of those that were not in the store, and return the values of all."""
        known = self._known
        if len(told):
            told = told + 0.0  # files do not keep the sign of a zero
            rows = known.missing
            self._memory.keep(self.wanted[rows], told, [known.draws[row] for row in rows.tolist()])
            known.values[rows] = told
        return known.values[known.same_as]


def memory_of_race(store: Any, race: Race) -> ToldMemory:
    """Return the memory of a race; since a race has no game, the store has to have its name."""
    if not isinstance(store, Store) or store.game is None:
        refuse("store", store, must_be="a Store with a name for the game, Store(path, game='my-game-v1')")
    identity = Identity(store.game, race.n_players, race.deterministic, race.player_names, named=True)
    return ToldMemory(Memory(store, identity))
