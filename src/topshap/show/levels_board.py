"""Both levels of a zoomed result as rows: each player, followed by its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.show.board import Leaderboard

if TYPE_CHECKING:
    from topshap.core.levels import Levels
    from topshap.show.board import Row

MOST_ELEMENTS = 8
"""The maximum number of elements shown for each player."""


class LevelRow(NamedTuple):
    """A player or an element of one."""

    board: Leaderboard
    """The leaderboard of its level."""
    row: Row
    """Its row there."""
    is_element: bool
    hidden: int
    """How many rows of its level are left out after it."""


def level_rows(levels: Levels, *, label_length: int = 40, most: int = 10) -> list[LevelRow]:
    """Return the rows of the leaderboard of players, each followed by its best elements.

    Parameters
    ----------
    levels
        The result.
    label_length
        The maximum length of a label.
    most
        The maximum number of players after the top k.
    """
    outer, inner = levels.outer, levels.inner
    shown = np.arange(min(outer.n_players, max(outer.k + 5, most)))
    board = Leaderboard.of(outer, shown, label_length=label_length, with_inclusion=True)
    elements = Leaderboard.of(inner, np.arange(inner.n_players), label_length=label_length, with_inclusion=True)
    by_element = {row.player: row for row in elements.rows}
    rows = []
    for row in board.rows:
        rows.append(LevelRow(board, row, is_element=False, hidden=row.hidden))
        own = [by_element[element] for element in levels.elements_of(row.player).tolist()]
        first = [each for i, each in enumerate(own) if i < MOST_ELEMENTS or each.in_top]
        rows += [LevelRow(elements, each, is_element=True, hidden=0) for each in first]
        if len(first) < len(own):
            rows[-1] = rows[-1]._replace(hidden=len(own) - len(first))
    return rows


def has_intervals(rows: list[LevelRow]) -> bool:
    """Return whether any interval is known and worth showing."""
    return any(row.board.has_intervals for row in rows)
