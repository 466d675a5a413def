"""Rows with different known dummies: groups with their own coalitions, evaluated and fitted together.

Each coalition is evaluated for the rows of one group only, so these are not coalitions of a race, which asks for all
outputs. This loop takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.algorithms.odd_gp.blas import one_thread
from topshap.algorithms.odd_gp.shared.pooled_rounds import PooledRun
from topshap.core.limits import default_budget
from topshap.core.validation import check_rng
from topshap.row_values import RowValues
from topshap.shared_results import results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.result import Stopped
    from topshap.core.results import TopKs
    from topshap.core.typing import Coalitions, Matrix, Players
    from topshap.evaluation.session import Session


class PooledRows:
    """A run on a game of many rows, in groups that play different players.

    Parameters
    ----------
    game
        A game of many rows with the method ``evaluate_for``.
    rows, players
        For each group, the positions of its rows and the players that play.
    k
        The number of players to find for each output.
    options
        Options of `topshap.identify`: budget, rank_by, random_state and on_interrupt, and those of `RowValues`.
    on_progress
        Called with the completion of the run, from 0 to 1.
    """

    def __init__(
        self,
        game: Any,
        rows: Sequence[Players],
        players: Sequence[Players],
        *,
        k: int,
        options: Mapping[str, Any],
        on_progress: Callable[[float], object] | None,
    ) -> None:
        self._game, self._k, self._options, self._on_progress = game, k, options, on_progress
        self._budgets = [int(options.get("budget") or default_budget(len(own))) for own in players]
        self._seed, self._rank_by = options.get("random_state"), options.get("rank_by", "value")
        self._rng = check_rng(self._seed)
        per_row = game.n_outputs // game.n_rows
        self._outputs = [(own[:, None] * per_row + np.arange(per_row)).ravel() for own in rows]
        """The outputs of each group."""
        self._run = PooledRun(players, game.n_players, k, self._budgets, self._rng, rank_by=self._rank_by)
        self._spent = np.zeros(len(players), dtype=np.intp)
        self._ends: list[Matrix] = []
        self._values = RowValues(game, options)

    def explain(self) -> list[TopKs]:
        """Evaluate coalitions until the budget is spent, and return the results of each group."""
        tie_order = self._rng.permutation(self._game.n_players)
        stopped: Stopped = "budget"
        with self._values.of_some() as session:
            try:
                self._play(session)
            except KeyboardInterrupt:
                if not self._ends or self._options.get("on_interrupt", "return") == "raise":
                    raise
                stopped = "interrupted"
        return self._results(tie_order, stopped)

    def _play(self, session: Session) -> None:
        requests = self._run.requests()
        while True:
            with one_thread():
                request = next(requests, None)
            if request is None:
                return
            values = self._of_groups(session, request.coalitions)
            if not self._ends:
                self._ends = [own[:2] for own in values]
            with one_thread():
                request.add(values)
            self._spent += [len(own) for own in values]
            if self._on_progress is not None:
                self._on_progress(float(np.minimum(self._spent / self._budgets, 1.0).mean()))

    def _of_groups(self, session: Session, coalitions: Sequence[Coalitions]) -> list[Matrix]:
        """Return the values of the coalitions of each group, for its outputs."""
        asked = np.concatenate([self._asked(index, own) for index, own in enumerate(coalitions)])
        values = self._values.evaluate(session, *np.split(asked, [self._game.n_players], axis=1))
        starts = np.cumsum([0, *map(len, coalitions)])
        each = zip(starts[:-1].tolist(), starts[1:].tolist(), self._outputs, strict=True)
        return [values[start:stop][:, outputs] for start, stop, outputs in each]

    def _asked(self, index: int, coalitions: Coalitions) -> NDArray[np.bool_]:
        """Return the coalitions of a group as those of `WantedRows`."""
        n = self._game.n_players
        asked = np.zeros((len(coalitions), n + self._game.n_outputs), dtype=np.bool_)
        asked[:, self._run.groups[index].players] = coalitions
        asked[:, n + self._outputs[index]] = True
        return asked

    def _results(self, tie_order: Players, stopped: Stopped) -> list[TopKs]:
        names, of_outputs = self._game.player_names, self._game.output_names
        return [
            results_of(
                group.estimate,
                player_names=None if names is None else tuple(names[i] for i in group.players.tolist()),
                output_names=tuple(of_outputs[i] for i in self._outputs[index].tolist()),
                k=min(self._k, len(group.players)),
                tie_order=np.argsort(np.argsort(tie_order[group.players])),
                rank_by=self._rank_by,
                budget=self._budgets[index],
                evaluations=int(self._spent[index]),
                stopped="exact" if group.exact else stopped,
                algorithm="enumeration" if group.exact else "odd-gp",
                ends=self._ends[index],
                seed=self._seed,
                value_range=self._values.value_range,
            )
            for index, group in enumerate(self._run.groups)
        ]
