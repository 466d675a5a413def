"""Damaged and truncated files: recovering the intact rows."""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from contextlib import closing, suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from topshap.core.errors import StoreError, StoreWarning
from topshap.evaluation.store import pages, read_only, schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topshap.evaluation.store.schema import Row

_PATIENCE_SECONDS = 2.0
"""The time to wait for other processes to close a damaged file."""
_WAL_HEADER, _FRAME_HEADER = 32, 24


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the error only means that another process uses the file."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the error means that the file is damaged, or that its content has the wrong type."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python: text that is not UTF-8, for example, or wrong use of a connection
        return not isinstance(error, sqlite3.ProgrammingError)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def salvage(path: Path, octets: int, about: dict[str, str]) -> Salvage:
    """Rename a damaged file and write its intact rows to a new file in its place."""
    _take_over(path)
    new = path.with_name(path.name + ".salvage")
    _remove(new)
    kept = last = 0
    with closing(schema.connect(new)) as new_file:
        schema.create(new_file, about)
        new_file.execute("BEGIN")
        for row, columns in readable(path):
            if schema.is_intact(columns, octets):
                kept += _insert(new_file, row, columns)
                last = max(last, row)
        new_file.execute("COMMIT")
    aside = next(p for i in count(1) if not (p := path.with_name(f"{path.name}.damaged-{i}")).exists())
    path.rename(aside)
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    new.rename(path)
    return Salvage(kept, last - kept, aside)


def _take_over(path: Path) -> None:
    """Move all rows from the log into the file, and refuse a file that another process has open.

    That process would go on writing to the damaged file after it is renamed.
    """
    with closing(sqlite3.connect(path, timeout=_PATIENCE_SECONDS, isolation_level=None)) as damaged:
        try:
            damaged.execute(
                "PRAGMA locking_mode = EXCLUSIVE"
            )  # the next statement fails if there are other connections
            damaged.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            if is_busy(error):
                raise StoreError(
                    f"The store {str(path)!r} is damaged and in use. End all runs that use it, and try again."
                ) from error


class Salvage(NamedTuple):
    """The result of recovering a damaged file."""

    kept: int
    """The number of intact values."""
    lost: int
    """The number of values that were written before the last intact one and are not among them."""
    damaged_file: Path
    """The new name of the damaged file."""


def salvage_and_warn(path: Path, octets: int, about: dict[str, str]) -> None:
    """Replace a damaged file by one with its intact rows, and warn."""
    kept, lost, aside = salvage(path, octets, about)
    warnings.warn(
        f"The store {str(path)!r} was damaged. {kept} intact values are used, and {lost} damaged ones were dropped. "
        f"The damaged file is kept as {str(aside)!r}.",
        StoreWarning,
        stacklevel=2,
    )


def readable(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the id of every readable row of a damaged file, and its columns, which are not verified."""
    for row, (key, coalition, draw, value, checksum) in pages.rows_in(path, columns=5):
        if key is None:  # the id is not repeated in the row; in other tables this column has a value
            number = float(value) if isinstance(value, int) else value  # SQLite stores 2.0 as 2
            yield row, (coalition, draw, number, checksum)  # type: ignore[misc]  # verified by `schema.is_intact`


def _insert(connection: sqlite3.Connection, row: int, columns: Row) -> int:
    """Insert a row under its id if it is free, and return the number of rows inserted, 0 or 1."""
    insert = "INSERT OR IGNORE INTO evaluations VALUES (?, ?, ?, ?, ?)"
    inserted = connection.execute(insert, (row, *columns)).rowcount
    return inserted or connection.execute(insert, (None, *columns)).rowcount


def remove(connection: sqlite3.Connection, ids: list[int], path: Path) -> None:
    """Remove rows with a wrong checksum, so that they are evaluated and written again, and warn."""
    try:
        connection.executemany("DELETE FROM evaluations WHERE id = ?", [(row,) for row in ids])
        done = "removed and will be evaluated again"
    except sqlite3.OperationalError as error:
        if not read_only.is_refusal(error):
            raise
        done = "left out"
    warnings.warn(
        f"{len(ids)} damaged values in the store {str(path)!r} were {done}. "
        f"To check all its values, run: topshap store check {path}",
        StoreWarning,
        stacklevel=2,
    )


def warn_if_torn(connection: sqlite3.Connection, path: Path) -> None:
    """Warn if the last transaction was cut short, as by a power failure; SQLite ignores it."""
    if read_only.is_read_only(connection):
        return
    for _ in range(3):  # another process may be writing
        frames = _frames_begun(path)
        try:
            _, valid, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.OperationalError as error:
            if read_only.is_refusal(error):
                return
            raise
        if frames <= max(valid, 0):
            return
        time.sleep(0.02)
    warnings.warn(
        f"The last batch written to the store {str(path)!r} was cut short and is ignored; it will be evaluated again.",
        StoreWarning,
        stacklevel=2,
    )


def _frames_begun(path: Path) -> int:
    """Return the number of pages in SQLite's write-ahead log since its last reset, complete or not."""
    frames = 0
    with suppress(OSError), path.with_name(path.name + "-wal").open("rb") as log:
        header = log.read(_WAL_HEADER)
        frame = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
        log.seek(_WAL_HEADER + 8)
        while (salts := log.read(8)) and salts == header[16:24]:  # older frames with other salts may follow
            frames += 1
            log.seek(frame - 8, os.SEEK_CUR)
    return frames


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
