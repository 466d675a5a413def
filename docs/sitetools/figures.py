"""The figures of the README and the site: which report printed them, and where in it.

`FIGURES` is the only place to change when a report is published with other lines. Pages write ``{{ name }}``, and the
build fails if a report no longer has the figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from sitetools.reports import Table, tables

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PLACEHOLDER = re.compile(r"\{\{ ([a-z-]+) \}\}")


class FigureError(RuntimeError):
    """A report does not have a figure that the README or the site shows."""


@dataclass(frozen=True)
class Cells:
    """Cells of a table in a report."""

    report: str
    under: str
    """Text above the table that distinguishes it from the others."""
    column: str
    rows: dict[str, str] = field(default_factory=dict)
    """Regular expressions for whole cells of other columns."""

    def found(self, folder: Path = BENCHMARKS) -> list[tuple[list[str], str]]:
        """Return the cells that the conditions on rows select, and their own: at least one."""
        table = table_of(self.report, self.under, folder)
        places = {name: _place(table, name, self.report) for name in [*self.rows, self.column]}
        chosen = [
            ([row[places[name]] for name in self.rows], row[places[self.column]])
            for row in table.rows
            if all(re.fullmatch(wanted, row[places[name]]) for name, wanted in self.rows.items())
        ]
        if not chosen:
            raise FigureError(f"{self.report}.txt has no row with {self.rows} in the table under {self.under!r}")
        return chosen


@dataclass(frozen=True)
class Cell(Cells):
    """The first number in the only cell that is selected."""

    decimals: int | None = None
    """Digits after the decimal point, if the number is rounded."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        found = self.found(folder)
        if len(found) > 1:
            raise FigureError(f"{self.report}.txt has {len(found)} rows with {self.rows} under {self.under!r}")
        number = _number(found[0][1], self)
        return number if self.decimals is None else str(_rounded(number, self.decimals))


@dataclass(frozen=True)
class Largest(Cells):
    """The largest first number of the cells that are selected."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        return max((_number(cell, self) for _, cell in self.found(folder)), key=Decimal)


@dataclass(frozen=True)
class Line:
    """What the group of a regular expression matches in a report."""

    report: str
    pattern: str

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        found = re.search(self.pattern, _text(self.report, folder), flags=re.MULTILINE)
        if found is None:
            raise FigureError(f"{self.report}.txt has no line that matches {self.pattern!r}")
        return found[1]


def table_of(report: str, under: str, folder: Path = BENCHMARKS) -> Table:
    """Return the only table of a report with a text above it."""
    found = [table for table in tables(_text(report, folder)) if under in " ".join(table.about)]
    if len(found) != 1:
        raise FigureError(f"{report}.txt has {len(found)} tables under {under!r}, and should have one")
    return found[0]


def filled(text: str, folder: Path = BENCHMARKS) -> str:
    """Return a text with its placeholders replaced by figures."""

    def figure(placeholder: re.Match[str]) -> str:
        if placeholder[1] not in FIGURES:
            raise FigureError(f"{placeholder[0]} is not a figure of docs/sitetools/figures.py")
        try:
            return FIGURES[placeholder[1]].read(folder)
        except FigureError as error:
            raise FigureError(
                f"{placeholder[0]}: {error}; publish a report that has it, or change docs/sitetools/figures.py"
            ) from None

    return PLACEHOLDER.sub(figure, text)


def _text(report: str, folder: Path) -> str:
    path = folder / f"{report}.txt"
    if not path.exists():
        raise FigureError(f"there is no report {path}")
    return path.read_text(encoding="utf-8")


def _place(table: Table, column: str, report: str) -> int:
    if column not in table.header:
        raise FigureError(f"{report}.txt has no column {column!r} among {table.header}")
    return table.header.index(column)


def _number(cell: str, figure: Cells) -> str:
    found = NUMBER.search(cell)
    if found is None:
        raise FigureError(f"{figure.report}.txt has no number in the column {figure.column!r}: {cell!r}")
    return found[0]


def _rounded(number: str, decimals: int) -> Decimal:
    return Decimal(number).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)


RACE = "all games: "
RATIO = "odd-gp / it [95%]"
PAPERS_TERMS = "the paper's terms"
RELATIVE = "epsilon as a part of v(N) - v(empty)"
ALL_GAMES = "all, mean and geometric mean"
SPEED = "CPU time of others divided by topshap's"
CALLS = "with a share of at least 0.95"


def _ratio(algorithm: str) -> Cell:
    return Cell("race", RACE, RATIO, {"algorithm": algorithm}, decimals=2)


def _relative(algorithm: str) -> Cell:
    rows = {"game": ALL_GAMES, "algorithm": algorithm, "epsilon": r"0\.05"}
    return Cell("confidence", RELATIVE, "evaluations", rows)


def _speed(explainer: str, rows: int, decimals: int = 1) -> Cell:
    return Cell("tables", SPEED, explainer, {"set-up": "judged", "rows": str(rows)}, decimals=decimals)


def _distinct(game: str, algorithm: str) -> Cell:
    return Cell("paper", "Table 1: ", "distinct", {"game": game, "algorithm": algorithm})


def _calls(method: str) -> Line:
    before = {"topshap": "", "ContextCite": r"\d+ +"}[method]
    return Line("prompts", rf"^prompts +distractors +topshap +ContextCite\n(?:.*\n)*?pairs +30 +{before}(\d+)")


FIGURES: dict[str, Cell | Largest | Line] = {
    "race-games": Line("race", r"^all games: (\d+) games"),
    "race-ks": Line("race", r"^all games: .* k in \[(.*?)\]"),
    "race-least": Line("race", r"^all games: .* budgets \[(\d+),"),
    "race-most": Line("race", r"^all games: .* budgets \[.*?(\d+)\]"),
    "race-compared": Cell("race", RACE, "compared", {"algorithm": "odd-gp"}),
    "race-losses": Largest("race", RACE, "losses", {"algorithm": "(?!odd-gp$).*"}),
    "race-shapiq": Line("race", r"shapiq (\d[\d.]*),"),
    "race-kernel": _ratio("shap:kernel"),
    "race-permutation": _ratio("shap:permutation"),
    "race-kadd": _ratio("shapiq:kadd-shap"),
    "race-kernelshap": _ratio("shapiq:kernelshap"),
    "sure-fewer": Cell("confidence", PAPERS_TERMS, "fewer", {"game": ALL_GAMES, "family": "global"}),
    "sure-wrong": Line("confidence", rf"^global +{ALL_GAMES} +odd-gp@k +0.0005 .* (\d+) of \d+"),
    "sure-runs": Line("confidence", rf"^global +{ALL_GAMES} +odd-gp@k +0.0005 .* \d+ of (\d+)"),
    "sure-odd-gp": _relative("odd-gp@k"),
    "sure-swap": _relative("swap@k"),
    "sure-cmcs": _relative("cmcs@k"),
    "adult-cmcs": _distinct("adult", "cmcs@k"),
    "adult-odd-gp": _distinct("adult", "odd-gp@k"),
    "diabetes-cmcs": _distinct("diabetes", "cmcs@k"),
    "diabetes-odd-gp": _distinct("diabetes", "odd-gp@k"),
    "table-rows": Line("tables", r"^judged +(\d\d+) "),
    "table-kernel": _speed("Kernel, default", 200),
    "table-kernel-few": _speed("Kernel, 500", 200),
    "table-permutation": _speed("Permutation", 200),
    "table-lightshap": _speed("lightshap", 200),
    "table-shapiq": _speed("shapiq, 500", 200),
    "table-setups": Line("tables", r"^judged +200 .*? of (\d+)\)"),
    "row-kernel-few": _speed("Kernel, 500", 1, decimals=2),
    "prompt-calls": _calls("topshap"),
    "prompt-calls-contextcite": _calls("ContextCite"),
}
