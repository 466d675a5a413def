"""The sum from v(empty) to v(grand) as an HTML list with a bar of inline SVG in each row, for the report.

All text in it is escaped, since names and values come from users. It needs no script.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from topshap.core.printable import printable
from topshap.show.steps import Steps

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.show.steps import Step


def html_waterfall(top: TopK) -> str:
    """Return the steps from v(empty) to v(grand) as an HTML list, to be used with the style sheet of the leaderboard.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2, player_names=["<b>", "sex", "bmi"])
    >>> "&lt;b&gt;" in html_waterfall(top), "<b>" in html_waterfall(top)
    (True, False)
    """
    steps = Steps.of(top)
    return f'<ol class="ts-steps">{"".join(_row(steps, row) for row in steps.rows)}</ol>'


def waterfall_title(top: TopK) -> str:
    """Return the heading of the waterfall."""
    return "How the value is built up" if top.output_name is None else "From the base value to the prediction"


def waterfall_note(top: TopK) -> str:
    """Return the explanation of the waterfall's bars and lines.

    Examples
    --------
    >>> import topshap
    >>> waterfall_note(topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2))
    'Starting from the value without players, each bar adds the contribution of a player, and the last one those of all
    others. The sum is the value of all players.'
    """
    start, end = (
        ("the value without players", "the value of all players")
        if top.output_name is None
        else ("the base value, when nothing is known about the input", f"the prediction: {printable(top.output_name)}")
    )
    steps = Steps.of(top)
    lines = " Thin lines are 95% intervals of the contributions." if steps.has_intervals else ""
    return (
        f"Starting from {start}, each bar adds the contribution of a player, and the last one those of all others. "
        f"The sum is {end}.{lines}"
    )


def _row(steps: Steps, row: Step) -> str:
    return (
        f'<li class="ts-step ts-{row.kind}"><bdi class="ts-name">{escape(row.label)}</bdi>{_bar(row, steps.limits)}'
        f'<span class="ts-sum">{steps.number(row)}<small>{steps.uncertainty(row)}</small></span></li>'
    )


def _bar(row: Step, limits: tuple[float, float]) -> str:
    """Return a bar from the start to the end of a step with its interval, and a line down from the last step's end."""
    low, high = limits
    scale = 98.0 / (high - low or 1.0)
    start, end, left, right = (1.0 + (x - low) * scale for x in (row.start, row.end, *row.interval))
    whisker = f'<path d="M{left:.2f} 10H{right:.2f}M{left:.2f} 6v8M{right:.2f} 6v8"/>' if right > left else ""
    return (
        '<svg class="ts-bar" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{min(start, end):.2f}" y="2" width="{abs(end - start):.2f}" height="16"/>'
        f'<path class="ts-zero" d="M{start:.2f} 0v20"/>{whisker}</svg>'
    )
