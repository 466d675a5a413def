"""StoredRace: a race in a loop of the user's own, with a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import front_door, refuse
from topshap.core.values import check_values, check_within, put_values
from topshap.evaluation.store.identity import Identity
from topshap.evaluation.store.lookup import RunStore, nothing_known

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.core.typing import Coalitions
    from topshap.evaluation.store.store import Store


@front_door
class StoredRace:
    """A race that asks only for values that are not in its store, and stores the values that it is told.

    A value from the store counts as an evaluation, as if it had been told.

    Parameters
    ----------
    race
        The race, to which nothing has been told yet.
    store
        A `topshap.Store` with a name for the game, since a race does not have one with a fingerprint.

    Attributes
    ----------
    race : Race
        The race, for example for its `standing`.

    Examples
    --------
    >>> import tempfile
    >>> import topshap
    >>> def evaluations_of_a_run(store):
    ...     race = topshap.StoredRace(topshap.Race(n_players=4, k=2, budget=12, random_state=0), store)
    ...     evaluations = 0
    ...     while not race.done:
    ...         coalitions = race.ask()
    ...         evaluations += len(coalitions)
    ...         race.tell(coalitions @ np.array([3.0, 1.0, 2.0, 0.0]))
    ...     return evaluations, race.result().players
    >>> with tempfile.TemporaryDirectory() as folder, topshap.Store(folder + "/run.db", game="my-game-v1") as store:
    ...     evaluations_of_a_run(store)
    ...     evaluations_of_a_run(store)
    (12, array([0, 2]))
    (0, array([0, 2]))
    """

    def __init__(self, race: Race, store: Store) -> None:
        name = getattr(store, "game", None)
        if not isinstance(name, str):
            refuse("store", store, must_be="a Store with a name for the game, Store(path, game='my-game-v1')")
        identity = Identity(name, race.n_players, race.deterministic, race.player_names, True, race.n_outputs)
        self.race = race
        self._store = RunStore(store, identity)
        self._batch: Coalitions = np.empty((0, race.n_players), dtype=np.bool_)
        self._known = nothing_known(0)
        self._answer_from_store()

    @property
    def done(self) -> bool:
        """Whether the race is over."""
        return self.race.done

    def ask(self) -> Coalitions:
        """Return the coalitions to evaluate next, a bool array of shape (m, n) with different rows."""
        return self.race.ask() if self.done else self._batch[self._known.missing]

    def tell(self, values: Any) -> None:
        """Take the values of the coalitions that `ask` returns, in the same order, and store them."""
        race = self.race
        if self.done:
            race.tell(values)  # says that the race is over
        asked, (known, missing, same_as, draws) = self.ask(), self._known
        checked = check_values(values, asked, race.player_names, race.n_outputs)
        if race.value_range is not None:
            check_within(checked, race.value_range, asked, race.player_names)
        known = put_values(known, missing, checked)
        self._store.check_outputs(checked)
        self._store.add(asked, checked, [draws[row] for row in missing.tolist()])
        race.tell(known[same_as])
        self._answer_from_store()

    @front_door
    def extend(self, budget: int) -> None:
        """Continue with a larger budget a race that has spent its own; see `Race.extend`."""
        self.race.extend(budget)
        self._answer_from_store()

    def result(self) -> TopK:
        """Return the current top k, or a `TopKs` for several outputs; see `Race.result`."""
        return self.race.result()

    def _answer_from_store(self) -> None:
        """Tell the race what the store knows until it is over or asks for an unknown value."""
        while not self.race.done:
            self._batch = self.race.ask()
            self._known = self._store.look_up(self._batch)
            if len(self._known.missing):
                self._store.check_writable(len(self._known.missing))
                return
            self.race.tell(self._known.values[self._known.same_as])
