"""Charts of the benchmarks page, drawn from the reports as HTML that follows the colours of the site."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from sitetools.figures import ALL_GAMES, BENCHMARKS, NUMBER, RACE, RELATIVE, SPEED, Cells, FigureError, table_of

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Bar:
    """A labelled bar; those of topshap are strong."""

    label: str
    length: float
    shown: str
    strong: bool


def race(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the mean error of odd-gp and of every algorithm of another package over all games."""
    cells = Cells("race", RACE, "error", {"algorithm": r"odd-gp|[a-z]+:.*"}).found(folder)
    return [_bar(name, cell, strong=name == "odd-gp") for (name,), cell in cells if NUMBER.match(cell)]


def confidence(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the mean number of evaluations until a result is certain, for each algorithm and epsilon."""
    rows = {"game": ALL_GAMES, "algorithm": ".*", "epsilon": ".*"}
    cells = Cells("confidence", RELATIVE, "evaluations", rows).found(folder)
    by_epsilon = sorted(cells, key=lambda cell: (float(cell[0][2]), float(cell[1])))
    return [
        _bar(f"{name}, {float(epsilon):.0%}", cell, strong=name == "odd-gp@k")
        for (_, name, epsilon), cell in by_epsilon
    ]


def tables(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the CPU time of each explainer for 200 rows as a multiple of topshap's."""
    header = table_of("tables", SPEED, folder).header
    bars = [Bar("topshap", 1.0, "1", strong=True)]
    for explainer in header[2:]:
        rows = {"set-up": "judged", "rows": "200"}
        ((_, cell),) = Cells("tables", SPEED, explainer, rows).found(folder)
        bars.append(_bar(explainer, cell, strong=False))
    return bars


CHARTS = {"race": race, "confidence": confidence, "tables": tables}


def chart(name: str, folder: Path = BENCHMARKS) -> str:
    """Return a chart as HTML: a table with a bar in each row."""
    bars = CHARTS[name](folder)
    longest = max(bar.length for bar in bars)
    rows = "".join(
        f'<tr{" class=strong" if bar.strong else ""}><th scope="row">{escape(bar.label)}</th>'
        f'<td><span class="bar" style="width:{100 * bar.length / longest:.1f}%"></span></td>'
        f"<td>{escape(bar.shown)}</td></tr>"
        for bar in bars
    )
    return f'<table class="chart" aria-label="{escape(name)}"><tbody>{rows}</tbody></table>'


def _bar(label: str, cell: str, *, strong: bool) -> Bar:
    number = NUMBER.match(cell)
    if number is None:
        raise FigureError(f"no number for {label}: {cell!r}")
    return Bar(label, float(number[0]), number[0], strong)
