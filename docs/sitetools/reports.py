"""Reports of benchmarks: their texts and tables, read from text files and written as HTML.

The blocks of a report are separated by empty lines. Columns of a table are aligned and at least two spaces apart in
all lines, as ``topshap_bench.summary.as_text`` writes them. There may be lines of text directly above and below a
table, and empty lines between its rows. Everything else is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from typing import NamedTuple

MOST_TITLE_LINES = 5
"""A table may have up to this many lines of text directly above its header."""
MOST_FINAL_LINES = 10
"""A table may have up to this many lines of text directly below it."""
STARTS_AS_NUMBER = re.compile(r"[<>+-]?\s*(\d|nan\b)")
ROW_OF_A_TABLE = re.compile(r"\S {2,}\S.* {2,}\S")


class ReportError(RuntimeError):
    """A report cannot be read."""


@dataclass(frozen=True)
class Text:
    """Lines of text."""

    lines: list[str]


@dataclass(frozen=True)
class Table:
    """A table with a header; all rows have as many cells as the header."""

    header: list[str]
    rows: list[list[str]]
    lines: list[str]
    """The table as it is in the report."""
    about: list[str] = field(default_factory=list)
    """The lines of text between the table before this one and its header."""

    def is_numeric(self, column: int) -> bool:
        """Return whether at least half of the cells of a column that are not empty start with a number."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and 2 * sum(map(bool, map(STARTS_AS_NUMBER.match, cells))) >= len(cells)


class Found(NamedTuple):
    """A block with a table and the lines of text around it."""

    above: list[str]
    table: Table
    below: list[str]


def parse(report: str) -> list[Text | Table]:
    """Return the texts and tables of a report, in order."""
    parts: list[Text | Table] = []
    about: list[str] = []
    for block in _blocks(report):
        found = _find_table(block)
        if found is not None:
            parts += [Text(found.above)] if found.above else []
            parts.append(replace(found.table, about=[*about, *found.above]))
            parts += [Text(found.below)] if found.below else []
            about = found.below
        elif parts and (longer := _continued(parts[-1], block)) is not None:
            parts[-1] = longer
        else:
            _require_text(block)
            parts.append(Text(block))
            about = [*about, *block]
    return parts


def tables(report: str) -> list[Table]:
    """Return the tables of a report."""
    return [part for part in parse(report) if isinstance(part, Table)]


def _blocks(report: str) -> list[list[str]]:
    lines = [line.rstrip() for line in report.splitlines()]
    return [list(group) for filled, group in groupby(lines, key=bool) if filled]


def _require_text(block: list[str]) -> None:
    """Raise an error if a block that is not a table looks as if it should be one."""
    for line in block:
        if ROW_OF_A_TABLE.search(line):
            raise ReportError(f"this line looks like a row of a table, but its columns are not aligned: {line!r}")


def _continued(part: Text | Table, block: list[str]) -> Table | None:
    """Return a table with further rows, if a block consists of them."""
    longer = _table([*part.lines, *block]) if isinstance(part, Table) else None
    if longer is None or not isinstance(part, Table) or longer.header != part.header:
        return None
    return replace(longer, about=part.about)


def _find_table(block: list[str]) -> Found | None:
    """Return the first table of a block: the one with the most columns, then the most rows, if its end is unclear."""
    for start in range(min(MOST_TITLE_LINES + 1, len(block) - 1)):
        ends = range(len(block), max(start + 1, len(block) - MOST_FINAL_LINES - 1), -1)
        found = [(end, table) for end in ends if (table := _table(block[start:end])) is not None]
        if found:
            end, table = max(found, key=lambda item: len(item[1].header))
            return Found(block[:start], table, block[end:])
    return None


def _table(lines: list[str]) -> Table | None:
    """Return lines as a table, if the first one is a header and all others have several cells."""
    columns = _columns(lines)
    header = [cells[0] for cells in columns]
    rows = [list(row) for row in zip(*(cells[1:] for cells in columns), strict=True)]
    if len(header) < 2 or not rows or any(len(list(filter(None, row))) < 2 for row in rows):
        return None
    table = Table(header, rows, lines)
    looks_like_header = not any(map(str.isdigit, "".join(header))) or any(
        table.is_numeric(i) and not STARTS_AS_NUMBER.match(name) for i, name in enumerate(header)
    )
    return table if looks_like_header else None


def _columns(lines: list[str]) -> list[list[str]]:
    """Return the cells of each column, that of the header first; there are no columns if the header lacks names."""
    columns: list[list[str]] = []
    for span in _spans(lines):
        cells = [line[slice(*span)].strip() for line in lines]
        if cells[0]:
            columns += _separated(cells)
        elif columns and columns[-1][0]:  # a column without a name belongs to the one before it
            columns[-1] = [f"{left} {right}".strip() for left, right in zip(columns[-1], cells, strict=True)]
        else:
            return []
    return columns


def _spans(lines: list[str]) -> list[tuple[int, int]]:
    """Return where each column starts and ends: two or more characters that are blank in all lines separate them."""
    width = max(map(len, lines))
    drawn = "".join(" " if all(line[i : i + 1] in {"", " "} for line in lines) else "x" for i in range(width))
    return [found.span() for found in re.finditer(r"x+(?: x+)*", drawn)]


def _separated(cells: list[str]) -> list[list[str]]:
    """Return several columns if the words of the header are only one space apart, but the cells below are further."""
    words = cells[0].split()
    below = [re.split(r" {2,}", cell) for cell in cells[1:]]
    if len(words) > 1 and below and all(len(row) == len(words) for row in below):
        return [list(column) for column in zip(words, *below, strict=True)]
    return [cells]


def as_html(report: str, name: str) -> str:
    """Return a report as HTML: tables that ``tables.js`` makes sortable, everything else as it is.

    The first line has the date, the versions and the machine. What follows the first of several tables can be unfolded.
    """
    printed, _, rest = report.partition("\n")
    shown = ['<div class="report">', f'<p class="printed">{escape(printed)}</p>']
    parts = parse(rest)
    n_tables = sum(isinstance(part, Table) for part in parts)
    n_shown = 0
    for part in parts:
        if isinstance(part, Text):
            shown.append(f"<pre>{escape(chr(10).join(part.lines))}</pre>")
            continue
        n_shown += 1
        shown.append(_html_table(part, f"{name}, table {n_shown} of {n_tables}"))
        if n_shown == 1 and n_tables > 1:
            more = "1 more table" if n_tables == 2 else f"{n_tables - 1} more tables"
            shown.append(f"<details><summary>The rest of the report: {more}</summary>")
    return "\n".join([*shown, "</details></div>" if n_tables > 1 else "</div>"])


def _html_table(table: Table, label: str) -> str:
    kinds = [' class="number"' if table.is_numeric(column) else "" for column in range(len(table.header))]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.header, kinds, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in table.rows
    )
    box = f'<div class="report-table" tabindex="0" role="region" aria-label="{escape(label)}">'
    return f'{box}<table class="sortable"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
