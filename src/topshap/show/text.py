"""The leaderboard as plain text, for `print`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.show.board import INTERVAL_NOTE, Leaderboard
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    from topshap.core.result import TopK


def text_leaderboard(top: TopK) -> str:
    """Return the headline, the top k and at least five players after them, and the promise.

    While nothing distinguishes the players, no ranking is shown.

    Examples
    --------
    >>> import topshap
    >>> print(text_leaderboard(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)))
    Top 2 of 3 players after 8 evaluations (exact: all coalitions are known)
       1  0           3
       2  2           2
      --
       3  1           1
    Certain: all coalitions are known. It took 8 evaluations of a budget of 8.
    """
    shown = np.arange(min(top.n_candidates, max(top.k + 5, 10)))
    board = Leaderboard.of(top, shown, label_length=40)
    if not board.learned:
        return "\n".join([top.headline, f"No ranking: {NOTHING_LEARNED}.", top.promise])
    width = max(10, *(len(row.label) for row in board.rows))
    lines = [top.headline]
    for row in board.rows:
        number = board.estimate(row, digits=4) + board.uncertainty(row) + ("  tied" if row.tied else "")
        lines.append(f"{row.rank:4d}  {row.label:<{width}}  {number}")
        if row.rank == board.border:
            lines.append("  --")
        if row.hidden:
            lines.append(f"      ... {row.hidden} more")
    if board.has_intervals:
        lines.append(f"{INTERVAL_NOTE}.")
    return "\n".join([*lines, top.promise])
