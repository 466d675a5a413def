"""The evaluations of a run: predictions for rows of which some features are known, stored and computed by workers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.values import check_values
from topshap.evaluation import Oracle
from topshap.evaluation.store.per_game import store_of_game
from topshap.games.numbered_rows import NumberedRows
from topshap.global_importance.sampled_rows import MOST_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from topshap.core.typing import Coalitions, Matrix, Players
    from topshap.evaluation.session import Session


@dataclass(frozen=True)
class HowEvaluated:
    """The options of `Explainer.importance` that concern evaluations, not the result."""

    n_jobs: int | None = None
    store: Any = None
    progress: bool = False


class RowPredictions:
    """The predictions for rows of a table, each for a coalition of known features.

    Parameters
    ----------
    game
        The rows.
    session
        Evaluates the coalitions of the game.
    divides
        Whether many evaluations are divided among calls of about half a second, after each of which their values are
        stored and the progress is shown.
    """

    def __init__(self, game: NumberedRows, session: Session, *, divides: bool) -> None:
        self._game, self._session, self._divides = game, session, divides
        self._fresh = 0
        self.n_rows, self.n_parts = game.n_rows, game.n_parts
        self.on_arrival: Callable[[int], object] | None = None
        """Called with the number of values that have arrived."""
        session.on_arrival = self._arrived

    def __call__(self, coalitions: Coalitions, numbers: Players) -> Matrix:
        """Return the predictions for one row per coalition, shape (m, outputs).

        Parameters
        ----------
        coalitions
            The known features, shape (m, n).
        numbers
            The number of each coalition's row, and of the part of the background: see `NumberedRows`.
        """
        found, start = [], 0
        while start < len(coalitions):
            at_once = self._session.rows_per_look if self._divides else MOST_AT_ONCE
            some = slice(start, start + min(at_once, MOST_AT_ONCE))
            found.append(self._evaluate(self._game.asked(coalitions[some], numbers[some])))
            start = some.stop
        outputs = self._game.n_outputs or 1
        return np.concatenate(found) if found else np.empty((0, outputs))

    def ends(self) -> Matrix:
        """Return the predictions with no feature known and with all known, shape (2, rows, parts, outputs)."""
        rows, parts = self.n_rows, self.n_parts
        numbers = np.concatenate([np.arange(rows * parts), np.arange(rows) * parts])
        known = np.arange(len(numbers)) >= rows * parts  # these do not depend on the background
        found = self(np.repeat(known[:, None], self._game.n_features, axis=1), numbers)
        nothing, everything = found[~known].reshape(rows, parts, -1), found[known][:, None]
        return np.stack([nothing, np.repeat(everything, parts, axis=1)])

    def _evaluate(self, asked: Coalitions) -> Matrix:
        self._fresh, began = 0, monotonic()
        values = check_values(self._session(asked), asked, self._game.player_names, self._game.n_outputs)
        if self._fresh:  # the speed of the model, not that of the store
            self._session.took(self._fresh, monotonic() - began)
        return values.reshape(len(asked), -1)

    def _arrived(self, values: int, fresh: bool) -> None:
        self._fresh += values if fresh else 0
        if self.on_arrival is not None:
            self.on_arrival(values)


@contextmanager
def row_predictions(
    games_of: Sequence[Callable[[Players], Any]], game: Any, how: HowEvaluated
) -> Iterator[RowPredictions]:
    """Yield the predictions for rows, and close the store at the end; see `NumberedRows` for the games."""
    numbered = NumberedRows(games_of, game)
    oracle = Oracle(numbered, n_jobs=how.n_jobs, store=store_of_game(how.store, numbered))
    with oracle.run(numbered.n_players) as session:
        yield RowPredictions(numbered, session, divides=how.store is not None or how.progress)


@contextmanager
def shown(predictions: RowPredictions, how: HowEvaluated, budget: int) -> Iterator[None]:
    """Show a progress bar, if there is to be one, while evaluations arrive; it is full at the end of the run."""
    if not how.progress:
        yield
        return
    tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
    with tqdm(total=budget, unit="evaluation", unit_scale=True) as bar:
        predictions.on_arrival = lambda values: bar.update(values / predictions.n_parts)
        yield
        bar.total = bar.n  # less than the budget if the top k is clear or nothing more is affordable
        bar.refresh()
