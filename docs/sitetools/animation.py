"""The race on the landing page: a recorded run that ``race.js`` plays, drawn at its last moment where nothing plays."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = 8
"""The number of players that are shown at a time."""


def race(path: Path) -> str:
    """Return a recording as HTML: its last moment, a button, and its moments as JSON."""
    recorded = json.loads(path.read_text(encoding="utf-8"))
    shown = f"{recorded['evaluations'][-1]:,}"
    label = f"The players of a run of {recorded['algorithm']} by estimated Shapley value"
    return "\n".join(
        [
            f'<div class="race" role="group" aria-label="{escape(label)}" data-state="done" data-shown="{SHOWN}">',
            f'<p class="race-head"><span>Evaluations: <b class="race-count">{shown}</b></span>',
            '<button type="button" hidden>Play</button></p>',
            f'<ol class="race-rows" style="--shown:{SHOWN}">',
            *_rows(recorded),
            "</ol>",
            f'<script type="application/json">{json.dumps(recorded, separators=(",", ":"))}</script>',
            "</div>",
        ]
    )


def _rows(recorded: dict[str, Any]) -> list[str]:
    """Return the first players at the last moment."""
    estimates, half_widths = recorded["estimates"][-1], recorded["half_widths"][-1]
    ranking = sorted(range(len(estimates)), key=lambda player: -estimates[player])[:SHOWN]
    widest = max(estimates[player] + half_widths[player] for player in ranking)
    rows = []
    for rank, player in enumerate(ranking):
        inside = ' class="inside"' if rank < recorded["k"] else ""
        low, high = estimates[player] - half_widths[player], estimates[player] + half_widths[player]
        bar = f'<i style="width:{100 * estimates[player] / widest:.1f}%"></i>'
        interval = f'<u style="left:{100 * low / widest:.1f}%;width:{100 * (high - low) / widest:.1f}%"></u>'
        name = escape(recorded["names"][player])
        rows.append(f'<li{inside} style="--rank:{rank}"><span>{name}</span><span>{bar}{interval}</span></li>')
    return rows
