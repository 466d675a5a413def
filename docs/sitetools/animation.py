"""The race on the landing page: a recorded run that ``race.js`` plays, drawn at its end where scripts do not run.

``make pictures`` records the run, see ``docs/pictures.py``.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = 8
"""The number of players that are shown at a time."""
ROOM = 1.25
"""The width of the chart as a multiple of the largest value at the end, since earlier estimates may be larger."""


def race(path: Path) -> str:
    """Return a recording as HTML: its end, a button, what it shows, and its moments for the script."""
    run = json.loads(path.read_text(encoding="utf-8"))
    highest = max(map(sum, zip(run["estimates"][-1], run["half_widths"][-1], strict=True)))
    run |= {"shown": SHOWN, "width": ROOM * highest}
    what = f"The {SHOWN} highest of {len(run['names'])} features by estimated Shapley value, with 95% intervals."
    lines = [
        '<figure class="race" data-state="done">',
        f'<p class="race-head"><span>Evaluations: <b class="race-count">{run["evaluations"][-1]:,}</b></span>',
        '<button type="button" hidden>Play</button></p>',
        f'<ol class="race-rows" style="--shown:{SHOWN}">',
        *_rows(run),
        "</ol>",
        f"<figcaption>{what} The current top {run['k']} are blue.</figcaption>",
        f'<script type="application/json">{json.dumps(run, separators=(",", ":"))}</script>',
        "</figure>",
    ]
    return "\n".join(lines)


def _rows(run: dict[str, Any]) -> list[str]:
    """Return the first players at the end."""
    estimates, half_widths = run["estimates"][-1], run["half_widths"][-1]
    ranking = sorted(range(len(estimates)), key=lambda player: -estimates[player])[:SHOWN]
    rows = []
    for rank, player in enumerate(ranking):
        inside = ' class="inside"' if rank < run["k"] else ""
        estimate, half = estimates[player], half_widths[player]
        bar = f'<i style="width:{100 * estimate / run["width"]:.1f}%"></i>'
        interval = (
            f'<u style="left:{100 * (estimate - half) / run["width"]:.1f}%;width:{200 * half / run["width"]:.1f}%"></u>'
        )
        name, value = escape(run["names"][player]), f"{run['unit'] * estimate:.3f}"
        cells = f"<span>{name}</span><span>{bar}{interval}</span><span>{value}</span>"
        rows.append(f'<li{inside} style="--rank:{rank}">{cells}</li>')
    return rows
