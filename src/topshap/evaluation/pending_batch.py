"""Coalitions that a run has asked for together: known from the store, evaluated, or failed."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import AnswerShapeError, EvaluationError
from topshap.core.values import is_missing, put_values
from topshap.evaluation.batches import split_batch
from topshap.evaluation.call import error_for
from topshap.evaluation.executors import Job, choose_executor
from topshap.evaluation.recovery import gather
from topshap.evaluation.results import Failure
from topshap.evaluation.store.lookup import nothing_known
from topshap.evaluation.store.store import pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.call import CallPolicy
    from topshap.evaluation.results import BatchResult
    from topshap.evaluation.session import Session
    from topshap.evaluation.store.leases import Key

FEW = 4
"""Up to this many coalitions are leased one by one, so that other processes can evaluate the others."""


class PendingBatch:
    """A batch of a session, looked up in its store when it is created.

    Attributes
    ----------
    coalitions : ndarray of bool, shape (m, n)
        All coalitions of the batch.
    missing : ndarray of bool, shape (l, n)
        The coalitions to evaluate.
    failures : list of Failure
        The coalitions of `missing` that have failed.
    """

    def __init__(self, session: Session, coalitions: Coalitions) -> None:
        self.coalitions = coalitions
        self.failures: list[Failure] = []
        self._session = session
        self._store = session.store
        self._version = None if self._store is None else self._store.version()
        self._known = nothing_known(len(coalitions)) if self._store is None else self._store.look_up(coalitions)
        self._stored = ~is_missing(self._known.values)
        self._returned = 0
        self._deferred: list[NDArray[np.intp]] = []
        self._one_call = self._leased_all = False
        self.missing: Coalitions = coalitions[self._known.missing]
        if len(self.missing) < len(coalitions):
            self._report(len(coalitions) - len(self.missing), fresh=False)
        if len(self.missing) and self._store is not None:
            self._store.check_writable(len(self.missing))

    def policy(self) -> CallPolicy:
        """Return how to call the game: once a coalition has failed, the others get one attempt each."""
        policy = self._session.policy
        return replace(policy, retries=0) if self.failures else policy

    def evaluate(self) -> None:
        """Evaluate the missing coalitions in this process or in the workers of joblib's context."""
        rows = np.arange(len(self.missing))
        while len(rows):
            self._evaluate(rows)
            rows = self.deferred()
            for seconds in waits():
                if len(rows) == 0 or self.is_one_free(rows):
                    break
                time.sleep(seconds)
                rows = self.unknown(rows)
                self.look()

    def _evaluate(self, rows: NDArray[np.intp]) -> None:
        """Evaluate rows of `missing`, except for those that other processes are evaluating."""
        options = self._session.options
        executor = choose_executor(options.n_jobs)
        self._one_call = executor.n_workers == 1
        game = self._session.game_for(executor)
        if executor.separate_processes:
            game.payload()  # raises an error if it cannot be pickled, before any worker is blamed
        batches = split_batch(
            len(rows),
            self.missing.shape[1],
            workers=executor.n_workers,
            batch_size=options.batch_size,
            max_batch_bytes=options.max_batch_bytes,
        )
        job = Job(game, self.missing, self.policy, self.claim, ahead=self._store is None)
        for row, error in gather(executor, job, [rows[batch] for batch in batches], self.take):
            name = names_of(self.missing[row], options.player_names)
            killed = EvaluationError(
                f"The coalition {name} could not be evaluated: its worker was lost every time ({error}).",
                self.missing[row].copy(),
            )
            killed.__cause__ = error
            self.failures.append(Failure(row, killed))

    def claim(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of `missing` to evaluate now: those without a value that no other run is evaluating.

        Rows that another run is evaluating are deferred.
        """
        if self._store is None:
            return rows
        rows = rows[is_missing(self._known.values[self._known.missing[rows]])]
        if len(rows) == 0:
            return rows
        if self._one_call and len(rows) > FEW and self._store.lease_all():
            self._leased_all = True
        else:
            leased = self._store.lease(self._keys_of(rows))
            if not leased.all():
                self._deferred.append(rows[~leased])
            rows = rows[leased]
        rows = self.unknown(rows)
        if self._leased_all and len(rows) == 0:
            self._release(rows)
        return rows

    def deferred(self) -> NDArray[np.intp]:
        """Return the rows that were deferred since the last call and are still unknown."""
        rows, self._deferred = self._deferred, []
        return self.unknown(np.unique(np.concatenate(rows))) if rows else np.empty(0, dtype=np.intp)

    def is_one_free(self, rows: NDArray[np.intp]) -> bool:
        """Lease the first of these rows that no other run is evaluating; return False if there is none."""
        return self._store is None or any(
            self._store.lease(self._keys_of(rows[i : i + 1]))[0] for i in range(len(rows))
        )

    def unknown(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Look rows up again if other processes have written to the store; return those that are still unknown."""
        if self._store is None or self._store.version() == self._version or len(rows) == 0:
            return rows
        values = self._store.look_again(self.missing[rows], self._draws(rows))
        known = ~is_missing(values)
        if known.any():
            places = self._known.missing[rows[known]]
            self._put(places, values[known])
            self._stored[places] = True
            if not self._leased_all:
                self._release(rows[known])
            self._report(len(places), fresh=False)
        return rows[~known]

    def take(self, rows: NDArray[np.intp], result: BatchResult) -> None:
        """Take the result of some of the missing rows, and store its values.

        An answer of the wrong shape is an error at once, since that of any other coalition would have it too.
        """
        places = self._known.missing[rows]
        if self._store is not None:
            self._store.check_outputs(result.values)
        self._put(places, result.values)
        self.failures += [Failure(int(rows[row]), error) for row, error in result.failures]
        arrived = places[~is_missing(result.values)]
        self._add_to_store(arrived)
        self._release(rows)
        self._report(len(arrived), fresh=True)
        for _, error in result.failures:
            if isinstance(error, AnswerShapeError):
                raise error
        self.look()

    def close(self) -> None:
        """Store the values that have arrived but are not stored yet, as after an interruption within `take`.

        Other runs may evaluate the coalitions that have no value.
        """
        try:
            self._add_to_store(self._unstored())
        finally:
            self._leased_all = False
            if self._store is not None:
                self._store.release_all()

    def take_arrived(self, *, whole: bool) -> Values:
        """Return the values of the first coalitions, up to one without a value, that were not returned before.

        The last value of the batch is left for `values_or_raise`, unless the `whole` batch may be returned.
        """
        values = self._known.values[self._known.same_as]
        unknown = np.flatnonzero(is_missing(values))
        end = int(unknown[0]) if len(unknown) else len(values) - (not whole)
        start, self._returned = self._returned, max(end, self._returned)
        return values[start:end]

    def values_or_raise(self) -> Values:
        """Return the values that were not returned before, or raise the error of the first coalition without one."""
        if self.failures:
            row, error = min(self.failures, key=lambda failure: failure.row)
            raised = error_for(self.missing[row], error, self._session.policy)
            if raised is error:
                raise error
            raise raised from error
        values = self._known.values[self._known.same_as]
        if is_missing(values).any():
            coalition = self.coalitions[int(np.flatnonzero(is_missing(values))[0])]
            name = names_of(coalition, self._session.options.player_names)
            raise EvaluationError(f"No value of the coalition {name} has come back.", coalition.copy())
        return values[self._returned :]

    @property
    def unstored(self) -> int:
        """The number of values that have arrived but are not in the store."""
        return len(self._unstored())

    def look(self) -> None:
        """Let the run look at its limits, which may end it."""
        if self._session.on_result is not None and self._session.batch is self:
            self._session.on_result()

    def _put(self, places: NDArray[np.intp], values: Values) -> None:
        """Enter the values of some coalitions; nan stands for one that is missing."""
        self._known = self._known._replace(values=put_values(self._known.values, places, values))

    def _add_to_store(self, rows: NDArray[np.intp]) -> None:
        if len(rows) and self._store is not None:
            draws = [self._known.draws[row] for row in rows.tolist()]
            self._store.add(self.coalitions[rows], self._known.values[rows], draws)
        self._stored[rows] = True

    def _release(self, rows: NDArray[np.intp]) -> None:
        """Let other runs evaluate rows of `missing`, or find their values."""
        if self._store is not None and self._leased_all:
            self._leased_all = False
            self._store.release_all()
        elif self._store is not None:
            self._store.release(self._keys_of(rows))

    @cached_property
    def _keys(self) -> list[Key]:
        """The packed coalitions of `missing`, with the numbers of their evaluations."""
        return list(zip(pack(self.missing), self._draws(np.arange(len(self.missing))), strict=True))

    def _keys_of(self, rows: NDArray[np.intp]) -> list[Key]:
        return [self._keys[row] for row in rows.tolist()]

    def _unstored(self) -> NDArray[np.intp]:
        return np.flatnonzero(~is_missing(self._known.values) & ~self._stored)

    def _draws(self, rows: NDArray[np.intp]) -> list[int]:
        """Return the numbers of the evaluations of rows of `missing`."""
        return [self._known.draws[place] for place in self._known.missing[rows].tolist()]

    def _report(self, arrived: int, *, fresh: bool) -> None:
        if self._session.on_arrival is not None:
            self._session.on_arrival(arrived, fresh)


def waits() -> Iterator[float]:
    """Yield the seconds between two looks at coalitions that other processes are evaluating.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(waits(), 7))
    [0.002, 0.004, 0.008, 0.016, 0.032, 0.05, 0.05]
    """
    seconds = 0.002
    while True:
        yield min(seconds, 0.05)
        seconds *= 2
