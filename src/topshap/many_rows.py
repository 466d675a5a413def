"""Runs in which the rows of a table share their coalitions.

Rows that share are the outputs of one game (`topshap.games.PredictionsGame`): every coalition is evaluated for all of
them, and one Gaussian process with one factorisation serves all. Players that are known dummies of a row are not
played: rows with the same dummies share a smaller game, and are enumerated where the budget covers it. With one
background row there are many such parts with few rows each: these have coalitions of their own, and share only the fit
of the hyper-parameters and the calls of the model (`topshap.pooled_rows`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.limits import default_budget
from topshap.entrypoints import identify
from topshap.evaluation.store.per_game import store_of_game
from topshap.games.active_players import ActivePlayers
from topshap.row_results import Explained, parts_of
from topshap.sharing import MAX_PLAYERS, SHARING, check_refine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from topshap.core.race import Race
    from topshap.core.typing import Players
    from topshap.row_results import Part

MAX_POOLED_ROWS = 15
"""The largest part whose hyper-parameters are fitted together with those of other parts.

A fit of its own takes 25 to 40 ms, which is little for the rows of a larger part.
"""
MAX_VALUES = 2**22
"""The largest number of coalitions times rows of the parts that are evaluated together, which bounds memory."""


def divided(parts: Sequence[Part], budget: int) -> Iterator[list[Part]]:
    """Divide parts among blocks whose coalitions are evaluated together, with a bounded number of values.

    Examples
    --------
    >>> from topshap.row_results import Part
    >>> parts = [Part(np.array([row]), np.arange(20)) for row in range(5)]
    >>> [len(block) for block in divided(parts, budget=2**20)]
    [2, 2, 1]
    """
    block: list[Part] = []
    rows = coalitions = 0
    for part in parts:
        rows += len(part.rows)
        coalitions += min(budget, 2 ** len(part.players))
        if block and rows * coalitions > MAX_VALUES:
            yield block
            block, rows, coalitions = [], len(part.rows), min(budget, 2 ** len(part.players))
        block.append(part)
    if block:
        yield block


class TogetherRun:
    """A run in which rows share their coalitions, part by part.

    Parameters
    ----------
    game_of
        A function from positions of rows to their game.
    n_rows
        The number of rows.
    k
        The number of players to find for each row.
    options
        The options of `topshap.identify`.
    refine
        Whether rows in doubt get coalitions of their own, see `topshap.refined_rows`.
    """

    def __init__(
        self,
        game_of: Callable[[Players], Any],
        n_rows: int,
        k: int,
        options: Mapping[str, Any],
        *,
        refine: bool = False,
    ) -> None:
        self._game_of, self._k, self._options, self._refine = game_of, k, dict(options), refine
        if refine:
            check_refine(options)
        self._store, self._progress = self._options.pop("store", None), self._options.pop("progress", False)
        self._callback = self._options.pop("callback", None)
        self._options.pop("player_names", None)  # those of a part may be fewer; results get them at the end
        self.game = game_of(np.arange(n_rows))
        """The game of all rows."""
        self._parts = parts_of(self.game.dummies, k)
        if len(self._parts) > 1:  # the other parts have no result
            self._options.setdefault("on_interrupt", "raise")
        self._done, self._n_rows = 0, n_rows

    def explain(self) -> list[Explained]:
        """Return the results of all parts."""
        if not self._progress:
            return self._explained(None)
        tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
        with tqdm(total=self._n_rows, unit="row") as bar:
            return self._explained(bar)

    def _explained(self, bar: Any) -> list[Explained]:
        def show(parts: Sequence[Part]) -> Callable[[float], object] | None:
            return None if bar is None else partial(self._show, bar, sum(len(part.rows) for part in parts))

        pooled = [part for part in self._parts if self._is_pooled(part)] if self._pools else []
        if len(pooled) < 2:
            return [self._of_part(part, show([part])) for part in self._parts]
        budget = self._options.get("budget") or default_budget(self.game.n_players)
        found = [each for block in divided(pooled, budget) for each in self._of_pooled(block, show(block))]
        return found + [self._of_part(part, show([part])) for part in self._parts if not self._is_pooled(part)]

    @property
    def _pools(self) -> bool:
        """Whether small parts are evaluated and fitted together: with one background row, and without a race."""
        options = self._options
        return (
            self.game.n_replacing == 1
            and not (self._refine or self._callback is not None or options.get("ordered"))
            and options.get("algorithm", "auto") in SHARING
            and options.get("counting", "distinct") == "distinct"
        )

    def _is_pooled(self, part: Part) -> bool:
        n = len(part.players)
        budget = self._options.get("budget") or default_budget(n)
        enough = budget >= min(2 * n + 2, 2 ** min(n, 30))
        return len(part.rows) <= MAX_POOLED_ROWS and n <= MAX_PLAYERS and enough

    def _of_pooled(self, parts: Sequence[Part], show: Callable[[float], object] | None) -> list[Explained]:
        """Return the results of parts that are evaluated and fitted together."""
        from topshap.pooled_rows import PooledRows  # noqa: PLC0415 - it imports slow parts of scipy

        rows = np.concatenate([part.rows for part in parts])
        own = np.split(np.arange(len(rows)), np.cumsum([len(part.rows) for part in parts])[:-1])
        game, players = self._game_of(rows), [part.players for part in parts]
        options = self._options | {"store": self._store}
        results = PooledRows(game, own, players, k=self._k, options=options, on_progress=show).explain()
        self._done += len(rows)
        return [Explained(part, each) for part, each in zip(parts, results, strict=True)]

    def _of_part(self, part: Part, show: Callable[[float], object] | None) -> Explained:
        game = self.game if len(self._parts) == 1 else self._game_of(part.rows)
        if len(part.players) < game.n_players:
            game = ActivePlayers(game, part.players)
        k = min(self._k, len(part.players))
        budget = self._options.get("budget") or default_budget(game.n_players)
        results: Any
        if self._refine and len(part.rows) > 1 and budget < 2**game.n_players:
            from topshap.refined_rows import RefinedRun  # noqa: PLC0415 - it imports slow parts of scipy

            results = RefinedRun(game, k, self._options | {"store": self._store}, show).explain()
        else:
            callback = self._callback if show is None else partial(self._look, show)
            results = identify(game, k=k, store=store_of_game(self._store, game), callback=callback, **self._options)
        self._done += len(part.rows)
        return Explained(part, results)

    def _look(self, show: Callable[[float], object], race: Race) -> object:
        """Update the progress bar, and call the callback of the user."""
        show(race.completion)
        return None if self._callback is None else self._callback(race)

    def _show(self, bar: Any, rows: int, completion: float) -> None:
        bar.update(self._done + int(rows * completion) - bar.n)
