"""The full check of a store: every page and every value of its file."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError
from topshap.evaluation.store import repair, schema
from topshap.evaluation.store.file import about, identity_in

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class StoreCheck:
    """The result of checking a store.

    Attributes
    ----------
    values
        The number of intact values.
    damaged
        The number of values with a wrong checksum.
    problem
        The first damaged place in the structure of the file, as SQLite describes it, None if there is none. Values
        that cannot be read because of it are not counted.
    damaged_file
        The name under which the damaged file is kept after a repair, None if nothing was repaired.
    """

    values: int
    damaged: int = 0
    problem: str | None = None
    damaged_file: Path | None = None

    @property
    def intact(self) -> bool:
        """Whether nothing is damaged."""
        return self.damaged == 0 and self.problem is None


def check_file(path: Path, *, repair_it: bool = False) -> StoreCheck:
    """Check every page and every value of a file; on request, replace a damaged file by one with its intact values."""
    if schema.is_new(path):
        raise StoreError(f"There is no store at {str(path)!r}.")
    with closing(schema.connect(path)) as connection:
        identity, problem = identity_in(connection, path)
        problem = problem or _problem(connection)
        rows = (row for block in schema.read(connection) for row in block)
        counts = Counter(schema.is_intact(row, identity.octets) for row in (rows if problem is None else ()))
    if problem is not None:
        counts = Counter(schema.is_intact(row, identity.octets) for _, row in repair.readable(path))
    report = StoreCheck(counts[True], counts[False], problem)
    if report.intact or not repair_it:
        return report
    kept, _, damaged_file = repair.salvage(path, identity.octets, about(identity))
    return StoreCheck(kept, report.damaged, problem, damaged_file)


def _problem(connection: sqlite3.Connection) -> str | None:
    """Return SQLite's description of the first damaged place, None if there is none."""
    try:
        ((answer,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        if repair.is_busy(error):
            raise
        answer = str(error)
    return None if answer == "ok" else " ".join(str(answer).split())
