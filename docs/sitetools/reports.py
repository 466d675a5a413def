"""Reports of benchmarks as text and tables: read from the text files, written as HTML.

A report is a text file whose blocks are separated by empty lines. Tables are aligned with spaces, as
``topshap_bench.summary.as_text`` writes them: columns are at least two spaces apart in all lines. Every other block is
text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

MOST_TITLE_LINES = 5
"""A table may have up to this many lines of text directly above its header."""
MOST_FINAL_LINES = 10
"""A table may have up to this many lines of text directly below it."""
STARTS_AS_NUMBER = re.compile(r"[<>+-]?\s*(\d|nan\b)")


@dataclass(frozen=True)
class Text:
    """Lines of text."""

    lines: list[str]


@dataclass(frozen=True)
class Table:
    """A table with a header; all rows have as many cells as the header."""

    header: list[str]
    rows: list[list[str]]
    about: list[str] = field(default_factory=list)
    """The lines of text above the table, since the last one."""

    def is_numeric(self, column: int) -> bool:
        """Return whether all cells of a column that are not empty start with a number."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(STARTS_AS_NUMBER.match(cell) for cell in cells)


def parse(report: str) -> list[Text | Table]:
    """Return the texts and tables of a report, in order.

    Examples
    --------
    >>> parse("two games\\n\\ngame   error\\nwine     0.5\\nadult     12")[1].rows
    [['wine', '0.5'], ['adult', '12']]
    """
    parts: list[Text | Table] = []
    lines_of_table: list[str] = []
    about: list[str] = []
    for block in _blocks(report):
        continued = _table([*lines_of_table, *block]) if lines_of_table else None
        found = _find_table(block)
        if found is None and continued is not None and isinstance(parts[-1], Table):
            if continued.header == parts[-1].header:  # the rows after an empty line
                lines_of_table += block
                parts[-1] = Table(continued.header, continued.rows, parts[-1].about)
                continue
        if found is None:
            parts.append(Text(block))
            about, lines_of_table = [*about, *block], []
            continue
        start, end, table = found
        parts += [Text(block[:start])] if start else []
        parts.append(Table(table.header, table.rows, [*about, *block[:start]]))
        about, lines_of_table = block[end:], block[start:end]
        if end < len(block):
            parts.append(Text(block[end:]))
            lines_of_table = []
    return parts


def tables(report: str) -> list[Table]:
    """Return the tables of a report."""
    return [part for part in parse(report) if isinstance(part, Table)]


def _blocks(report: str) -> list[list[str]]:
    lines = [line.rstrip() for line in report.splitlines()]
    return [list(group) for filled, group in groupby(lines, key=bool) if filled]


def _find_table(block: list[str]) -> tuple[int, int, Table] | None:
    """Return the first and the last line of the table in a block and the table, the widest if there is a choice."""
    for start in range(min(MOST_TITLE_LINES + 1, len(block) - 1)):
        ends = range(len(block), max(start + 1, len(block) - MOST_FINAL_LINES - 1), -1)
        found = [(end, table) for end in ends if (table := _table(block[start:end])) is not None]
        if found:
            end, table = max(found, key=lambda item: len(item[1].header))  # the longest of the widest
            return start, end, table
    return None


def _table(lines: list[str]) -> Table | None:
    """Return the lines as a table if the first one is a header."""
    if len(lines) < 2:
        return None
    spans = _columns(lines)
    header, *rows = ([line[slice(*span)].strip() for span in spans] for line in lines)
    named = [index for index, name in enumerate(header) if name]
    if len(named) < 2 or len(header) - len(named) > 1 or not header[0]:
        return None
    for row in [header, *rows]:  # a column without a name belongs to the one before it
        for index in set(range(len(spans))) - set(named):
            row[index - 1] = f"{row[index - 1]} {row[index]}".strip()
    table = Table([header[i] for i in named], [[row[i] for i in named] for row in rows])
    says_what = any(
        table.is_numeric(i) and not STARTS_AS_NUMBER.match(name) for i, name in enumerate(table.header)
    ) or not any(map(str.isdigit, " ".join(header)))
    return table if says_what else None


def _columns(lines: list[str]) -> list[tuple[int, int]]:
    """Return where each column starts and ends: they are separated by two or more characters that are always blank."""
    width = max(map(len, lines))
    blank = [all(line[i : i + 1] in {"", " "} for line in lines) for i in range(width)]
    drawn = "".join(" " if is_blank else "x" for is_blank in blank)
    return [found.span() for found in re.finditer(r"x+(?: x+)*", drawn)]


def as_html(report: str, name: str) -> str:
    """Return a report as HTML: tables that ``tables.js`` makes sortable, everything else as it is.

    What follows the first of several tables can be unfolded.
    """
    shown: list[str] = []
    parts = parse(report)
    tables_of = [index for index, part in enumerate(parts) if isinstance(part, Table)]
    for index, part in enumerate(parts):
        shown.append(_text(part) if isinstance(part, Text) else _html_table(part, f"{name}, table {len(shown) + 1}"))
        if index == next(iter(tables_of), None) and len(tables_of) > 1:
            more = len(tables_of) - 1
            label = "1 more table" if more == 1 else f"{more} more tables"
            shown.append(f"<details><summary>The rest of the report: {label}</summary>")
    end = "</details>" if len(tables_of) > 1 else ""
    return "\n".join(['<div class="report">', *shown]) + f"{end}</div>"


def _text(part: Text) -> str:
    return f"<pre>{escape(chr(10).join(part.lines))}</pre>"


def _html_table(table: Table, label: str) -> str:
    numeric = [' class="number"' if table.is_numeric(i) else "" for i in range(len(table.header))]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.header, numeric, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, numeric, strict=True)) + "</tr>"
        for row in table.rows
    )
    box = f'<div class="report-table" tabindex="0" role="region" aria-label="{escape(label)}">'
    return f'{box}<table class="sortable"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
