"""Both levels of a zoomed result as text: a nested leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.show.board import INTERVAL_NOTE
from topshap.show.levels_board import has_intervals, level_rows
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    from topshap.core.levels import Levels
    from topshap.show.levels_board import LevelRow

_INDENT = 6


def text_levels(levels: Levels) -> str:
    """Return the headline, the nested leaderboard and the promises of both runs as text.

    See `topshap.TopK.zoom` for an example.
    """
    outer, inner = levels.outer, levels.inner
    promises = [f"Players: {outer.promise}", f"Within them: {inner.promise}"]
    rows = level_rows(levels)
    if not rows[0].board.learned:
        return "\n".join([outer.headline, f"No ranking: {NOTHING_LEARNED}.", *promises])
    width = max(10, *(len(each.row.label) + _INDENT * each.is_element for each in rows)) + 6
    lines = [outer.headline]
    border = False
    for i, each in enumerate(rows):
        lines.append(_line(each, width))
        if each.hidden:
            lines.append(f"{' ' * (_INDENT * (1 + each.is_element))}... {each.hidden:,} more")
        border = border or (not each.is_element and each.row.rank == each.board.border)
        ends_player = i + 1 == len(rows) or not rows[i + 1].is_element
        if border and ends_player:
            lines.append("  --")
            border = False
    if has_intervals(rows):
        lines.append(f"{INTERVAL_NOTE}.")
    return "\n".join([*lines, *promises])


def _line(each: LevelRow, width: int) -> str:
    board, row = each.board, each.row
    number = board.estimate(row, digits=4) + board.uncertainty(row) + ("  tied" if row.tied else "")
    if each.is_element and not board.learned:
        return f"{' ' * _INDENT}   -  {row.label}"
    start = f"{' ' * (_INDENT * each.is_element)}{row.rank:4d}  {row.label}"
    return f"{start:<{width + 4}}  {number}"
