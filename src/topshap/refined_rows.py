"""Rows in doubt: half of the budget for coalitions that all rows share, half for coalitions of single rows.

Every coalition that rows share is evaluated for all of them. The coalitions of a row in doubt are evaluated for this
row only, so they are not coalitions of a race, which asks for all outputs. This loop takes its place.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.algorithms.odd_gp.blas import one_thread
from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.shared.rounds import SharedRun
from topshap.core.limits import default_budget
from topshap.core.validation import check_rng
from topshap.row_values import RowValues
from topshap.shared_results import results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topshap.core.result import Stopped
    from topshap.core.results import TopKs
    from topshap.core.typing import Matrix, Players
    from topshap.evaluation.session import Session
    from topshap.statistics.ranking import RankBy


class RefinedRun:
    """A run on a game of many rows, in which rows in doubt get coalitions of their own.

    Parameters
    ----------
    game
        A game of many rows with the method ``evaluate_for``.
    k
        The number of players to find for each output.
    options
        Options of `topshap.identify`: budget, algorithm, rank_by, random_state and on_interrupt, and those of
        `RowValues`.
    on_progress
        Called with the completion of the run, from 0 to 1.
    """

    def __init__(
        self, game: Any, k: int, options: Mapping[str, Any], on_progress: Callable[[float], object] | None = None
    ) -> None:
        self._game, self._k, self._options, self._on_progress = game, k, options, on_progress
        self._budget = int(options.get("budget") or default_budget(game.n_players))
        algorithm = options.get("algorithm")
        self._algorithm = algorithm if isinstance(algorithm, OddGP) else OddGP()
        self._rank_by: RankBy = options.get("rank_by") or "value"
        self._seed = options.get("random_state")
        self._rng = check_rng(self._seed)
        self._spent = 0.0
        self._values = RowValues(game, options)

    def explain(self) -> TopKs:
        """Evaluate coalitions until the budget is spent, and return the results of all outputs."""
        game = self._game
        tie_order = self._rng.permutation(game.n_players)
        stopped: Stopped = "budget"
        with ExitStack() as stack:
            shared, own = (stack.enter_context(each) for each in (self._values.of_all(), self._values.of_some()))
            own.repeats = False  # checked with coalitions that rows share
            ends = self._values.evaluate(shared, np.array([[False] * game.n_players, [True] * game.n_players]))
            self._spent = 2.0
            plan = {"batches": self._algorithm.active_rounds, "min_batch": self._algorithm.min_batch}
            run = SharedRun(
                game.n_players, self._k, self._budget - 2, ends, self._rng, rank_by=self._rank_by, refine=True, **plan
            )
            try:
                self._play(run, shared, own)
            except KeyboardInterrupt:
                if self._options.get("on_interrupt", "return") == "raise":
                    raise
                stopped = "interrupted"
        return self._result(run, ends, tie_order, stopped)

    def _play(self, run: SharedRun, shared: Session, own: Session) -> None:
        requests = run.requests()
        while True:
            with one_thread():
                request = next(requests, None)
            if request is None:
                return
            if request.wanted is None:
                values = self._values.evaluate(shared, request.coalitions)
                self._spent += len(values)
            else:
                values = self._values.evaluate(own, request.coalitions, request.wanted)
                self._spent += float(request.wanted.mean(axis=1).sum())
            with one_thread():
                request.add(values)
            if self._on_progress is not None:
                self._on_progress(min(1.0, self._spent / self._budget))

    def _result(self, run: SharedRun, ends: Matrix, tie_order: Players, stopped: Stopped) -> TopKs:
        return results_of(
            run.estimate,
            player_names=self._game.player_names,
            output_names=self._game.output_names,
            k=self._k,
            tie_order=tie_order,
            rank_by=self._rank_by,
            budget=self._budget,
            evaluations=int(np.ceil(self._spent - 1e-9)),
            stopped=stopped,
            algorithm=self._algorithm.name,
            ends=ends,
            seed=self._seed,
            value_range=self._values.value_range,
        )
