"""Evaluations for rows of a table without a race: sessions, and checks of values as a race makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.options import CheckedOptions
from topshap.core.values import check_values, check_within
from topshap.evaluation import Oracle
from topshap.evaluation.store.per_game import store_of_game
from topshap.games.wanted_rows import WantedRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix
    from topshap.evaluation.session import Session


class RowValues:
    """The values of a game of many rows, for all of them or for some.

    Parameters
    ----------
    game
        A game of many rows with the method ``evaluate_for``.
    options
        Options of `topshap.identify`: n_jobs, store, check_deterministic and value_range.
    """

    def __init__(self, game: Any, options: Mapping[str, Any]) -> None:
        self._game, self._options = game, options
        self.value_range = CheckedOptions(value_range=options.get("value_range")).value_range
        """The stated range of values."""

    def of_all(self) -> AbstractContextManager[Session]:
        """Return a session for coalitions that are evaluated for all rows."""
        return self._oracle(self._game).run(self._game.n_players, self._game.player_names)

    def of_some(self) -> AbstractContextManager[Session]:
        """Return a session for coalitions with one further bit per output, those of `WantedRows`."""
        wanted = WantedRows(self._game)
        return self._oracle(wanted).run(wanted.n_players, tuple(self._names()))

    def _oracle(self, game: Any) -> Oracle:
        return Oracle(
            game,
            n_jobs=self._options.get("n_jobs"),
            store=store_of_game(self._options.get("store"), game),
            check_deterministic=self._options.get("check_deterministic", False),
        )

    def _names(self) -> Iterator[str]:
        """Yield the names of players and outputs in messages."""
        players = self._game.player_names or map(str, range(self._game.n_players))
        yield from players
        yield from (f"for {name}" for name in self._game.output_names)

    def evaluate(self, session: Session, coalitions: Coalitions, wanted: NDArray[np.bool_] | None = None) -> Matrix:
        """Return the checked values of coalitions for all outputs, or for those `wanted`, shape (m, outputs)."""
        asked = coalitions if wanted is None else np.concatenate([coalitions, wanted], axis=1)
        values = check_values(session(asked), asked, None, self._game.n_outputs)
        if self.value_range is not None:
            known = values if wanted is None else np.where(wanted, values, self.value_range[0])
            check_within(known, self.value_range, coalitions, self._game.player_names)
        if session.repeats and len(coalitions) > 2:  # not of the empty and the grand coalition alone
            session.check_repeats(asked, values)
        return values
