"""Damaged and truncated files: recovering the intact rows."""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from contextlib import closing, suppress
from itertools import count
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError, StoreWarning
from topshap.evaluation.store import read_only, schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topshap.evaluation.store.schema import Row

_SINGLE_STEPS = 20_000
"""After an unreadable place, this many rows are tried one by one before the steps grow."""
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


def salvage(path: Path, octets: int, about: dict[str, str]) -> tuple[int, Path]:
    """Rename a damaged file and write its intact rows to a new file in its place.

    Return the number of these rows and the new name of the damaged file.
    """
    new = path.with_name(path.name + ".salvage")
    _remove(new)
    kept = 0
    with closing(schema.connect(path)) as damaged, closing(schema.connect(new)) as new_file:
        damaged.execute("PRAGMA writable_schema = ON")  # makes a truncated file readable
        schema.create(new_file, about)
        new_file.execute("BEGIN")
        for row in readable(damaged):
            if schema.is_intact(row, octets):
                kept += new_file.execute("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row).rowcount
        new_file.execute("COMMIT")
    aside = next(p for i in count(1) if not (p := path.with_name(f"{path.name}.damaged-{i}")).exists())
    path.rename(aside)
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    new.rename(path)
    return kept, aside


def salvage_and_warn(path: Path, octets: int, about: dict[str, str]) -> None:
    """Replace a damaged file by one with its intact rows, and warn."""
    kept, aside = salvage(path, octets, about)
    warnings.warn(
        f"The store {str(path)!r} was damaged. {kept} intact values are used; the others will be evaluated again. "
        f"The damaged file is kept as {str(aside)!r}.",
        StoreWarning,
        stacklevel=2,
    )


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


def readable(connection: sqlite3.Connection) -> Iterator[Row]:
    """Yield every readable row and skip the others."""
    last, failures = -1, 0
    while last < 2**62:
        try:
            rows = _rows_after(connection, last, 1 if failures else 256)
        except (sqlite3.DatabaseError, OverflowError) as error:
            if failures == 0:  # read the same rows again, one by one
                failures = 1
                continue
            if isinstance(error, sqlite3.DatabaseError) and _no_table(error):
                raise StoreError("The store is too damaged to be read.") from error
            failures += 1
            last += 1 if failures < _SINGLE_STEPS else 2 ** (failures - _SINGLE_STEPS)
            continue
        if not rows:
            return
        failures = 0
        last = rows[-1][0]
        for row in rows:
            yield row[1:]


def _rows_after(connection: sqlite3.Connection, last: int, at_most: int) -> list[tuple[int, *Row]]:
    """Return the next rows with their ids, or raise an error if a damaged page returns earlier rows again."""
    rows = connection.execute(
        "SELECT id, coalition, draw, value, checksum FROM evaluations NOT INDEXED WHERE id > ? ORDER BY id LIMIT ?",
        (last, at_most),
    ).fetchall()
    if rows and rows[-1][0] <= last:
        raise sqlite3.DatabaseError("rows were returned twice")
    return rows


def _no_table(error: sqlite3.DatabaseError) -> bool:
    return "no such" in str(error) or "not a database" in str(error)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
