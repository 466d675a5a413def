"""Bar charts of the benchmarks page, drawn from the reports as HTML that follows the colours of the site."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from sitetools.figures import ALL_GAMES, BENCHMARKS, NUMBER, RACE, RELATIVE, SPEED, Cells, tables_under
from sitetools.reports import ReportError

if TYPE_CHECKING:
    from pathlib import Path

CLOSEST = 8
"""The number of algorithms next to odd-gp in the chart of the race; the report has all."""


@dataclass(frozen=True)
class Bar:
    """A labelled bar; those of topshap's default algorithms are strong."""

    label: str
    shown: str
    """The length of the bar as the report prints it."""
    strong: bool

    @property
    def length(self) -> float:
        """The length of the bar."""
        return float(self.shown)


def race(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the mean error over all games of odd-gp, of the closest algorithms of other packages, and of shap's."""
    cells = Cells("race", RACE, "error", {"algorithm": r"odd-gp|[a-z]+:.*"})
    found = [(row.conditions[0], row.cell) for row in cells.find(folder)]
    bars = [Bar(name, cell, strong=name == "odd-gp") for name, cell in found if NUMBER.fullmatch(cell)]
    closest = sorted(bar.length for bar in bars)[: CLOSEST + 1][-1]
    return [bar for bar in bars if bar.length <= closest or bar.label.startswith("shap:")]


def confidence(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the mean number of evaluations until a result is certain, for each epsilon and algorithm."""
    cells = Cells("confidence", RELATIVE, "evaluations", {"epsilon": ".*", "algorithm": ".*", "game": ALL_GAMES})
    bars = []
    for row in sorted(cells.find(folder), key=lambda row: (float(row.conditions[0]), float(cells.number(row.cell)))):
        epsilon, algorithm, _ = row.conditions
        bars.append(Bar(f"{algorithm}, {float(epsilon):.0%}", cells.number(row.cell), strong=algorithm == "odd-gp@k"))
    return bars


def tables(folder: Path = BENCHMARKS) -> list[Bar]:
    """Return the CPU time of each explainer for 200 rows as a multiple of topshap's."""
    bars = [Bar("topshap", "1.00", strong=True)]
    (table,) = tables_under("tables", SPEED, folder)
    for explainer in table.header[2:]:
        cells = Cells("tables", SPEED, explainer, {"set-up": "judged", "rows": "200"})
        bars += [Bar(explainer, cells.number(row.cell), strong=False) for row in cells.find(folder)]
    return bars


CHARTS = {"race": race, "confidence": confidence, "tables": tables}


def chart(name: str, folder: Path = BENCHMARKS) -> str:
    """Return a chart as HTML: a table with a bar in each row."""
    if name not in CHARTS:
        raise ReportError(f"docs/sitetools/charts.py has no chart {name!r}")
    bars = CHARTS[name](folder)
    longest = max(bar.length for bar in bars)
    rows = "\n".join(
        f'<tr{" class=strong" if bar.strong else ""}><th scope="row">{escape(bar.label)}</th>'
        f'<td><span class="bar" style="width:{100 * bar.length / longest:.1f}%"></span></td>'
        f"<td>{escape(bar.shown)}</td></tr>"
        for bar in bars
    )
    return f'<table class="chart"><tbody>\n{rows}\n</tbody></table>'
