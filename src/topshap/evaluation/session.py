"""One run of evaluations: the shortest way to the game where possible, the careful way where needed."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import StoreError
from topshap.evaluation.batches import max_rows
from topshap.evaluation.bisection import evaluate
from topshap.evaluation.executors import InProcess, choose_executor
from topshap.evaluation.pace import FIRST_ROWS, next_rows
from topshap.evaluation.pending_batch import PendingBatch
from topshap.evaluation.pickling import PickledGame
from topshap.evaluation.repeats import rows_to_repeat, warn_if_different
from topshap.evaluation.results import split_valid
from topshap.evaluation.store.identity import identity_of
from topshap.evaluation.store.lookup import RunStore
from topshap.evaluation.storing_game import StoringGame, stores_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalitions, Game, Values
    from topshap.evaluation.executors import Executor
    from topshap.evaluation.oracle import Options
    from topshap.evaluation.results import BatchResult

ROWS_PER_WORKER = 4
"""Every worker gets at least this many coalitions before the run looks at its limits."""


class Session:
    """Evaluates the coalitions of one run.

    Attributes
    ----------
    options : Options
        How the game is evaluated.
    policy : CallPolicy
        How the game is called.
    store : RunStore or None
        The store of this run.
    on_arrival : function of an int and a bool, or None
        Called with the number of values that have arrived, and whether they had to be evaluated.
    on_result : function or None
        Called after every result while `evaluate` waits for others. `take_arrived` then returns the values so far. It
        may raise an exception, which ends the evaluation.
    admit : function of an int, or None
        Called before every call of an async game with the number of calls in flight. It returns None, or the exception
        that ends the evaluation once the calls in flight have finished.
    repeats : bool
        Whether it is still to be checked, with `check_repeats`, that the game is deterministic.
    batch : PendingBatch or None
        The batch that is being evaluated, or was when the evaluation was interrupted.
    """

    def __init__(self, game: Game, options: Options, n_players: int) -> None:
        self.options = options
        self.policy = options.call_policy
        self.store = _run_store(game, options, n_players)
        self.on_arrival: Callable[[int, bool], None] | None = None
        self.repeats = options.check_deterministic and options.deterministic
        self.on_result: Callable[[], None] | None = None
        self.admit: Callable[[int], Exception | None] | None = None
        self.batch: PendingBatch | None = None
        self._game = game
        self._pickled = PickledGame(game)
        self._n_players = n_players

    def __call__(self, coalitions: Coalitions) -> Any:
        """Return the game's answer, an array of numbers that `Race.tell` validates.

        The game is called directly if there is no store, no time limit, one process, and no need to split the batch.
        """
        if len(coalitions) > self._max_direct_rows:
            return self.evaluate(coalitions)
        try:
            answer = self._game(coalitions.copy())  # it may keep or change its argument
        except Exception as error:  # noqa: BLE001 - this was the first attempt
            failed = error
        else:
            if type(answer) is not np.ndarray or answer.dtype.kind not in "biuf":
                # In a list one entry may be wrong, and the error names its coalition.
                return self._finish(
                    coalitions, split_valid(answer, coalitions, self.policy.player_names, self.policy.n_outputs)
                )
            if self.on_arrival is not None:
                self.on_arrival(len(coalitions), True)
            return answer
        return self._finish(coalitions, evaluate(self._game, coalitions, self.policy, failed))

    def evaluate(self, coalitions: Coalitions) -> Values:
        """Return the value of each coalition: from the store, or evaluated by workers and stored as it arrives.

        The error of a coalition without a value is raised after all others have been evaluated and stored. Values that
        `take_arrived` has returned in the meantime are not returned again.
        """
        self.batch = batch = PendingBatch(self, coalitions)
        try:
            batch.evaluate()
        finally:
            batch.close()
        values = batch.values_or_raise()
        self.batch = None
        return values

    def take_arrived(self, *, whole: bool = False) -> Values:
        """Return the values of the first coalitions of the batch that is being evaluated, each once.

        The last value is left for the end of the evaluation, unless the `whole` batch may be returned.
        """
        return np.empty(0) if self.batch is None else self.batch.take_arrived(whole=whole)

    @property
    def unstored(self) -> int:
        """The number of values of the batch that have arrived but are not in the store."""
        return 0 if self.batch is None else self.batch.unstored

    def check_repeats(self, coalitions: Coalitions, values: Values) -> None:
        """Evaluate a few of these coalitions a second time, and issue a warning if a value differs."""
        rows = rows_to_repeat(len(coalitions))
        again = evaluate(self._game, coalitions[rows], self.policy).values
        self.repeats = False
        warn_if_different(coalitions[rows], np.asarray(values)[rows], again, self.policy.player_names)

    def game_for(self, executor: Executor) -> PickledGame:
        """Return the game as the workers of an executor get it."""
        return self._storing if self._storing is not None and stores_values(executor) else self._pickled

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        if self.store is not None:
            self.store.close()

    @property
    def divides(self) -> bool:
        """Whether large batches are to be evaluated in parts; not if calls are small anyway."""
        return self.options.batch_size is None or self.options.batch_size > FIRST_ROWS

    @cached_property
    def rows_per_look(self) -> int:
        """The number of coalitions to evaluate before the run looks at its limits again.

        Small calls need no limit, since the run may look after each of them.
        """
        return self._fewest_rows if self.divides else sys.maxsize

    def took(self, rows: int, seconds: float) -> None:
        """Adjust `rows_per_look` to the time that some coalitions have taken."""
        if self.divides:
            self.rows_per_look = max(self._fewest_rows, next_rows(self.rows_per_look, rows, seconds))

    @cached_property
    def _storing(self) -> PickledGame | None:
        """The game for workers that store its values themselves, None without a store or if values vary."""
        if self.store is None or not self.options.deterministic:
            return None
        return PickledGame(StoringGame(self._game, self.store.store.path.absolute(), self.policy.n_outputs))

    @cached_property
    def _executor(self) -> Executor:
        """Where most batches of this run are evaluated."""
        return choose_executor(self.options.n_jobs)

    @cached_property
    def _fewest_rows(self) -> int:
        """The least number of coalitions before a look: some for every worker, so that they rarely wait."""
        return max(FIRST_ROWS, ROWS_PER_WORKER * self._executor.n_workers)

    @cached_property
    def _max_direct_rows(self) -> int:
        """The size of the largest batch that goes directly to the game, decided once per run."""
        options = self.options
        if self.store is not None or options.timeout is not None:
            return 0
        if not isinstance(self._executor, InProcess):
            return 0
        return max_rows(self._n_players, options.batch_size, options.max_batch_bytes)

    def _finish(self, coalitions: Coalitions, result: BatchResult) -> Values:
        """Return the values of a batch that was evaluated in one piece, or raise its first error."""
        batch = PendingBatch(self, coalitions)
        batch.take(np.arange(len(coalitions)), result)
        return batch.values_or_raise()


def _run_store(game: Game, options: Options, n_players: int) -> RunStore | None:
    if options.store is None:
        return None
    identity = identity_of(
        game,
        n_players,
        name=options.store.game,
        player_names=options.player_names,
        deterministic=options.deterministic,
        n_outputs=options.n_outputs,
    )
    if identity is None:
        raise StoreError("A store needs a game with a fingerprint or a name.")
    return RunStore(options.store, identity)
