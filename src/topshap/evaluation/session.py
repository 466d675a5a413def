"""One run of evaluations: what the store knows is answered from it, the rest is evaluated and kept as it arrives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import EvaluationError, StoreError
from topshap.evaluation import executors as workers
from topshap.evaluation.batches import cut
from topshap.evaluation.call import Care, Fault, failure
from topshap.evaluation.pickling import Shipped
from topshap.evaluation.recovery import gather
from topshap.evaluation.store.identity import identity_of
from topshap.evaluation.store.lookup import Memory, nothing_known

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Game, Values
    from topshap.evaluation.call import Outcome
    from topshap.evaluation.oracle import Options
    from topshap.evaluation.store.lookup import Recollection


class Session:
    """What evaluates coalitions in one run.

    Attributes
    ----------
    evaluated, recalled : int
        How many values were evaluated and paid for in this run, and how many came from the store.
    on_arrival : function of an int and a bool, or None
        Called with the number of values whenever some have arrived, and whether they had to be evaluated.
    """

    def __init__(self, game: Game, options: Options, n_players: int) -> None:
        self.options = options
        self.care = Care(options.retries, options.timeout, options.backoff, options.player_names)
        self.evaluated = self.recalled = 0
        self.on_arrival: Callable[[int, bool], None] | None = None
        self._shipped = Shipped(game)
        self._memory = _memory(game, options, n_players)

    def __call__(self, coalitions: Coalitions) -> Values:
        """Return the values in the asked order; what has none is raised after everything else has been kept."""
        batch = self.begin(coalitions)
        try:
            batch.evaluate(self._shipped, self.options)
        finally:
            batch.keep_all()
        return batch.values_or_raise()

    def begin(self, coalitions: Coalitions) -> Asked:
        """Return the coalitions with what is known of them."""
        memory = self._memory
        known = nothing_known(len(coalitions)) if memory is None else memory.recall(coalitions)
        self.recalled += len(coalitions) - len(known.missing)
        return Asked(self, coalitions, known, memory)


class Asked:
    """Coalitions that were asked for together, and what has become of them."""

    def __init__(self, session: Session, coalitions: Coalitions, known: Recollection, memory: Memory | None) -> None:
        self.session = session
        self.coalitions = coalitions
        self.known = known
        self.faults: list[Fault] = []
        self._memory = memory
        self._kept = ~np.isnan(known.values)
        arrived = len(coalitions) - len(known.missing)
        if arrived:
            self._tell_of(arrived, fresh=False)

    @property
    def missing(self) -> Coalitions:
        """The coalitions to evaluate."""
        return self.coalitions[self.known.missing]

    def care(self) -> Care:
        """Return how to call the game: after something has failed for good, the rest has one attempt each."""
        return replace(self.session.care, retries=0) if self.faults else self.session.care

    def evaluate(self, shipped: Shipped, options: Options) -> None:
        """Evaluate what is missing in workers."""
        if len(self.known.missing) == 0:
            return
        where = workers.choose(options.n_jobs)
        if where.elsewhere:
            shipped.parcel()  # one that cannot be sent is refused before any worker is blamed
        coalitions = self.missing
        batches = cut(
            *coalitions.shape,
            workers=where.count,
            batch_size=options.batch_size,
            max_batch_bytes=options.max_batch_bytes,
        )
        for row, error in gather(where, workers.Work(shipped, coalitions, self.care), batches, self.take):
            name = names_of(coalitions[row], options.player_names)
            killed = EvaluationError(
                f"The coalition {name} could not be evaluated: its worker was lost every time ({error}).",
                coalitions[row],
            )
            killed.__cause__ = error
            self.faults.append(Fault(row, killed))

    def take(self, rows: NDArray[np.intp], outcome: Outcome) -> None:
        """Keep what has come back for some of the missing rows."""
        there = self.known.missing[rows]
        self.known.values[there] = outcome.values
        self.faults += [Fault(int(rows[row]), error) for row, error in outcome.faults]
        arrived = there[~np.isnan(outcome.values)]
        self._keep(arrived)
        self.session.evaluated += len(arrived)
        self._tell_of(len(arrived), fresh=True)

    def keep_all(self) -> None:
        """Keep whatever has arrived and was not kept yet, as when somebody interrupts just then."""
        self._keep(np.flatnonzero(~np.isnan(self.known.values) & ~self._kept))

    def values_or_raise(self) -> Values:
        """Return the values of all coalitions, or raise what went wrong with the first that has none."""
        if self.faults:
            row, error = min(self.faults, key=lambda fault: fault.row)
            raised = failure(self.missing[row], error, self.session.care)
            if raised is error:
                raise error
            raise raised from error
        values = self.known.values[self.known.same_as]
        if np.isnan(values).any():
            coalition = self.coalitions[int(np.flatnonzero(np.isnan(values))[0])]
            name = names_of(coalition, self.session.options.player_names)
            raise EvaluationError(f"No value of the coalition {name} has come back.", coalition)
        return values

    def _keep(self, rows: NDArray[np.intp]) -> None:
        if len(rows) and self._memory is not None:
            draws = [self.known.draws[row] for row in rows.tolist()]
            self._memory.keep(self.coalitions[rows], self.known.values[rows], draws)
        self._kept[rows] = True

    def _tell_of(self, arrived: int, *, fresh: bool) -> None:
        if self.session.on_arrival is not None:
            self.session.on_arrival(arrived, fresh)


def _memory(game: Game, options: Options, n_players: int) -> Memory | None:
    if options.store is None:
        return None
    identity = identity_of(
        game,
        n_players,
        name=options.store.game,
        player_names=options.player_names,
        deterministic=options.deterministic,
    )
    if identity is None:
        raise StoreError("A store needs a game with a fingerprint or a name.")
    return Memory(options.store, identity)
