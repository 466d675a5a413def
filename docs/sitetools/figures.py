"""The figures of the README and the site: which report printed them, and where in it.

`FIGURES` is the only place to change when a report is published with other lines. Pages contain ``{{ name }}``, and
the build fails if a report no longer has the figure. Conditions on tables, columns and rows are regular expressions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple, Protocol

from sitetools.reports import ReportError, Table, tables

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
PLACEHOLDER = re.compile(r"\{\{ ([a-z-]+) \}\}")


class Figure(Protocol):
    """A figure that a report has printed."""

    @property
    def report(self) -> str:
        """The name of the report."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""


class Row(NamedTuple):
    """The cells of a row that a figure needs."""

    conditions: list[str]
    """The cells that have to satisfy conditions, in the order of the conditions."""
    cell: str


@dataclass(frozen=True)
class Cells:
    """Cells of one column in the tables of a report."""

    report: str
    under: str
    """What a line above the table contains."""
    column: str
    rows: dict[str, str] = field(default_factory=dict)
    """What the cells of other columns are."""

    def find(self, folder: Path = BENCHMARKS) -> list[Row]:
        """Return the rows that satisfy the conditions: at least one."""
        found = [row for table in tables_under(self.report, self.under, folder) for row in self._rows_of(table)]
        if not found:
            raise ReportError(f"{self.report}.txt has no row with {self.rows} in a table under {self.under!r}")
        return found

    def _rows_of(self, table: Table) -> list[Row]:
        place = self._place(table, self.column)
        conditions = {self._place(table, name): wanted for name, wanted in self.rows.items()}
        return [
            Row([row[column] for column in conditions], row[place])
            for row in table.rows
            if all(re.fullmatch(wanted, row[column]) for column, wanted in conditions.items())
        ]

    def _place(self, table: Table, column: str) -> int:
        for place, name in enumerate(table.header):
            if re.fullmatch(column, name):
                return place
        raise ReportError(f"{self.report}.txt has no column {column!r} under {self.under!r}, only {table.header}")

    def number(self, cell: str) -> str:
        """Return the number that a cell starts with."""
        found = NUMBER.match(cell)
        if found is None:
            raise ReportError(f"{self.report}.txt has no number in the column {self.column!r}: {cell!r}")
        return found[0]


@dataclass(frozen=True)
class Cell(Cells):
    """The first number in the only cell."""

    decimals: int | None = None
    """Digits after the decimal point, if the number is rounded."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        found = self.find(folder)
        if len(found) > 1:
            raise ReportError(f"{self.report}.txt has {len(found)} rows with {self.rows} under {self.under!r}")
        number = self.number(found[0].cell)
        return number if self.decimals is None else rounded(number, self.decimals)


@dataclass(frozen=True)
class Largest(Cells):
    """The largest of the first numbers of the cells."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        return max((self.number(row.cell) for row in self.find(folder)), key=Decimal)


@dataclass(frozen=True)
class Count(Cells):
    """The number of cells."""

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        return str(len(self.find(folder)))


@dataclass(frozen=True)
class Line:
    """What the group of a regular expression matches in a report."""

    report: str
    pattern: str

    def read(self, folder: Path = BENCHMARKS) -> str:
        """Return the figure as text."""
        found = re.search(self.pattern, text_of(self.report, folder), flags=re.MULTILINE)
        if found is None:
            raise ReportError(f"{self.report}.txt has no line that matches {self.pattern!r}")
        return found[1]


def tables_under(report: str, under: str, folder: Path = BENCHMARKS) -> list[Table]:
    """Return the tables of a report below a line that contains something: at least one."""
    found = [table for table in tables(text_of(report, folder)) if any(re.search(under, line) for line in table.about)]
    if not found:
        raise ReportError(f"{report}.txt has no table under {under!r}")
    return found


def text_of(report: str, folder: Path = BENCHMARKS) -> str:
    """Return the text of a report."""
    path = folder / f"{report}.txt"
    if not path.exists():
        raise ReportError(f"there is no report {path.name} in {folder}")
    return path.read_text(encoding="utf-8")


def rounded(number: str, decimals: int) -> str:
    """Return a number with a number of digits after the decimal point."""
    return str(Decimal(number).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def fill(text: str, folder: Path = BENCHMARKS) -> str:
    """Return a text with its placeholders replaced by figures."""

    def figure(placeholder: re.Match[str]) -> str:
        if placeholder[1] not in FIGURES:
            raise ReportError(f"docs/sitetools/figures.py has no figure {placeholder[0]}")
        try:
            return FIGURES[placeholder[1]].read(folder)
        except ReportError as error:
            advice = "publish a report that has it, or change docs/sitetools/figures.py"
            raise ReportError(f"{placeholder[0]}: {error}; {advice}") from None

    return PLACEHOLDER.sub(figure, text)


RACE = "^all (?:small )?games: "
RATIO = r"(?:error: )?odd-gp / it \[95%\]"
PAPERS_TERMS = "^the paper's terms$"
RELATIVE = r"^epsilon as a part of v\(N\)"
ALL_GAMES = "all, mean and geometric mean"
SPEED = "^CPU time of others divided by topshap's"
CALLS = "^the smallest of these numbers of calls"


def _ratio(algorithm: str) -> Cell:
    return Cell("race", RACE, RATIO, {"algorithm": algorithm}, decimals=2)


def _to_best(size: str, measure: str, rest: str = "", decimals: int = 2) -> Cell:
    row = {"ratio of odd-gp": f"{size} games: {measure} / best rival's{rest}"}
    return Cell("race", "^odd-gp next to its rivals", r"found \[95%\]", row, decimals=decimals)


def _largest(measure: str) -> Cell:
    row = {"ratio of odd-gp": rf"largest {measure} / best rival's of a family and budget: .*"}
    return Cell("race", "^odd-gp next to its rivals", r"found \[95%\]", row, decimals=2)


def _relative(algorithm: str) -> Cell:
    rows = {"game": ALL_GAMES, "algorithm": algorithm, "epsilon": r"0\.05"}
    return Cell("confidence", RELATIVE, "evaluations", rows)


def _speed(explainer: str, rows: int, decimals: int = 1) -> Cell:
    return Cell("tables", SPEED, explainer, {"set-up": "judged", "rows": str(rows)}, decimals=decimals)


def _distinct(game: str, algorithm: str) -> Cell:
    return Cell("paper", "^Table 1: ", "distinct", {"game": game, "algorithm": algorithm})


def _calls(method: str) -> Cell:
    return Cell("prompts", CALLS, method, {"prompts": "pairs", "distractors": "30"})


FIGURES: dict[str, Figure] = {
    "race-games": Line("race", rf"{RACE}(\d+) games"),
    "race-ks": Line("race", rf"{RACE}.* k in \[(.*?)\]"),
    "race-least": Line("race", rf"{RACE}.* budgets \[(\d+),"),
    "race-most": Line("race", rf"{RACE}.* budgets \[.*?(\d+)\]"),
    "race-compared": Cell("race", RACE, "compared", {"algorithm": "odd-gp"}),
    "race-losses": Largest("race", RACE, "losses", {"algorithm": "(?!odd-gp$).*"}),
    "race-shap": Line("race", r"\A.* shap (\d[\d.]*),"),
    "race-shapiq": Line("race", r"\A.*shapiq (\d[\d.]*),"),
    "race-kernel": _ratio("shap:kernel"),
    "race-permutation": _ratio("shap:permutation"),
    "race-oddshap": _ratio("shapiq:oddshap"),
    "race-proxyshap": _ratio("shapiq:proxyshap-adjusted"),
    "race-leverageshap": _ratio("shapiq:leverageshap"),
    "race-best-error": _to_best("small", "error"),
    "race-best-mse": _to_best("small", "mse"),
    "race-worst-mse": _to_best("small", "mse", ", largest of a family, .*"),
    "race-large-mse": _to_best("large", "mse", decimals=3),
    "race-largest-error": _largest("error"),
    "race-largest-mse": _largest("mse"),
    "race-large-games": Line("race", r"^all large games: (\d+) games"),
    "race-large-players": Line("race", r"^all large games: \d+ games of (\d+ to \d+) players"),
    "sure-fewer": Cell("confidence", PAPERS_TERMS, "fewer", {"game": ALL_GAMES}),
    "sure-games": Count("confidence", PAPERS_TERMS, "fewer", {"game": f"(?!{ALL_GAMES}).*"}),
    "sure-wrong": Cell("confidence", PAPERS_TERMS, "wrong", {"game": ALL_GAMES}),
    "sure-runs": Line("confidence", rf"^global +{ALL_GAMES} +odd-gp@k +0\.0005 .* \d+ of (\d+)"),
    "sure-odd-gp": _relative("odd-gp@k"),
    "sure-cmcs": _relative("cmcs@k"),
    "adult-cmcs": _distinct("adult", "cmcs@k"),
    "adult-odd-gp": _distinct("adult", "odd-gp@k"),
    "diabetes-cmcs": _distinct("diabetes", "cmcs@k"),
    "diabetes-odd-gp": _distinct("diabetes", "odd-gp@k"),
    "table-kernel": _speed("Kernel, default", 200),
    "table-kernel-few": _speed("Kernel, 500", 200),
    "table-setups": Line("tables", r"^judged +200 .*? of (\d+)\)"),
    "row-kernel-few": _speed("Kernel, 500", 1, decimals=2),
    "prompt-calls": _calls("topshap"),
    "prompt-calls-contextcite": _calls("ContextCite"),
    "prompt-runs": Line("prompts", r"^the share of (\d+) runs"),
    "race-printed": Line("race", r"\A(.*)$"),
    "confidence-printed": Line("confidence", r"\A(.*)$"),
    "tables-printed": Line("tables", r"\A(.*)$"),
    "prompts-printed": Line("prompts", r"\A(.*)$"),
}
