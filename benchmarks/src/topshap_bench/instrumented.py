"""Games that count evaluated coalitions, and games that measure their own time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.ledger import Ledger
from topshap.core.validation import resolve_n_players

if TYPE_CHECKING:
    from topshap.core.ledger import Counting
    from topshap.core.typing import Coalitions, Game, Values


class CountedGame:
    """A game that counts calls and distinct coalitions, and evaluates each coalition only once.

    Examples
    --------
    >>> import topshap
    >>> game = CountedGame(topshap.games.AdditiveGame([1.0, 2.0]))
    >>> game(np.array([[True, False], [True, False], [True, True]]))
    array([1., 1., 3.])
    >>> game.ledger.calls, game.ledger.evaluations
    (3, 2)
    """

    def __init__(self, game: Game, counting: Counting = "distinct") -> None:
        self.game = game
        self.n_players = resolve_n_players(game, None)
        self.ledger = Ledger(self.n_players, counting=counting)

    def __call__(self, coalitions: Any, /) -> Values:
        """Return the values of the rows, which may hold numbers instead of bools; 0 means absent."""
        rows: Coalitions = np.atleast_2d(np.asarray(coalitions)).astype(np.bool_)
        bill = self.ledger.price(rows)
        return self.ledger.enter(bill, np.asarray(self.game(rows[bill.unpaid]), dtype=np.float64))


class TimedGame:
    """A game that measures its own CPU time and counts evaluated rows.

    Examples
    --------
    >>> game = TimedGame(additive(3))
    >>> game(np.ones((2, 3), dtype=bool)).shape, game.rows
    ((2,), 2)
    """

    def __init__(self, game: Game) -> None:
        self.n_players = resolve_n_players(game, None)
        self.seconds = 0.0
        self.rows = 0
        self._game = game

    def __call__(self, coalitions: Any, /) -> Values:
        """Return the values of the rows."""
        start = time.process_time()
        values: Values = self._game(coalitions)
        self.seconds += time.process_time() - start
        self.rows += len(coalitions)
        return values


def additive(n_players: int) -> Game:
    """Return a game that takes almost no time: a sum of random weights."""
    from topshap.games import AdditiveGame  # noqa: PLC0415 - not needed by most users of this module

    return AdditiveGame(np.random.default_rng(0).random(n_players))
