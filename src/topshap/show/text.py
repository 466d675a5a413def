"""The leaderboard as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.show.numbers import short_number

if TYPE_CHECKING:
    from topshap.core.result import TopK


def text_leaderboard(top: TopK) -> str:
    """Return the top k, the border, and those next to it; below them, what may be relied on."""
    order, scale = top.ranking, float(np.ptp(top.estimates))
    shown = order[: min(top.n_players, max(top.k + 5, 10))]
    width = min(40, max(10, *(len(top.name_of(i)) for i in shown)))
    lines = [top.headline]
    for rank, i in enumerate(shown, start=1):
        estimate = short_number(top.estimates[i], scale, digits=4)
        uncertainty = "" if top.stopped == "exact" else f" ± {1.96 * top.std_errors[i]:.2g}"
        lines.append(f"{rank:4d}  {top.name_of(i)[:width]:<{width}}  {estimate}{uncertainty}")
        if rank == top.k < top.n_players:
            lines.append("  --")
    if len(shown) < top.n_players:
        lines.append(f"      ... {top.n_players - len(shown)} more")
    return "\n".join([*lines, top.promise])
