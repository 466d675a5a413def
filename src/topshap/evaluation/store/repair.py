"""Files that were torn or damaged: noticing it, and keeping what is whole."""

from __future__ import annotations

import sqlite3
import time
import warnings
from contextlib import closing, suppress
from itertools import count
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError, StoreWarning
from topshap.evaluation.store import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topshap.evaluation.store.schema import Row

_ONE_BY_ONE = 20_000
"""Behind a place that cannot be read, so many rows are tried one by one before larger steps are made."""
_WAL_HEADER, _FRAME_HEADER = 32, 24


def is_whole(connection: sqlite3.Connection, octets: int) -> bool:
    """Return whether SQLite finds its pages in order, and every row is one that was written."""
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            return False
        return all(schema.is_whole(row, octets) for rows in schema.read(connection) for row in rows)
    except sqlite3.DatabaseError as error:
        if is_busy(error):
            raise
        return False


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the file is only in use by somebody else, which says nothing about its health."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def salvage(path: Path, octets: int, about: dict[str, str]) -> None:
    """Move a damaged file aside, write what is whole in it to a new one in its place, and warn."""
    new = path.with_name(path.name + ".salvage")
    _remove(new)
    kept = 0
    with closing(schema.connect(path)) as damaged, closing(schema.connect(new)) as rescued:
        damaged.execute("PRAGMA writable_schema = ON")  # reads a file that is shorter than it says
        schema.create(rescued, new, about)
        rescued.execute("BEGIN")
        for row in _readable(damaged):
            if schema.is_whole(row, octets):
                kept += rescued.execute("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row).rowcount
        rescued.execute("COMMIT")
    aside = next(p for i in count(1) if not (p := path.with_name(f"{path.name}.damaged-{i}")).exists())
    path.rename(aside)
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    new.rename(path)
    warnings.warn(
        f"The store {str(path)!r} was damaged. {kept} values in it are whole and are used; what is missing will be "
        f"evaluated again. The file as it was found is {str(aside)!r}.",
        StoreWarning,
        stacklevel=2,
    )


def warn_if_torn(connection: sqlite3.Connection, path: Path) -> None:
    """Warn if the last thing written to the file was cut short, as by a power failure; SQLite leaves it out."""
    for _ in range(3):  # another process may just be writing
        frames = _frames_begun(path)
        _, valid, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames <= max(valid, 0):
            return
        time.sleep(0.02)
    warnings.warn(
        f"The last batch written to the store {str(path)!r} was cut short and is left out; it will be evaluated again.",
        StoreWarning,
        stacklevel=2,
    )


def _frames_begun(path: Path) -> int:
    """Return how many pages were begun to be written to SQLite's write-ahead log since it was last emptied."""
    try:
        log = path.with_name(path.name + "-wal").read_bytes()
    except OSError:
        return 0
    frame = _FRAME_HEADER + int.from_bytes(log[8:12], "big")
    salts = log[16:24]
    starts = range(_WAL_HEADER, max(_WAL_HEADER, len(log) - 16), frame)
    frames = 0
    for start in starts:  # frames of an earlier filling of the log, with other salts, may follow
        if log[start + 8 : start + 16] != salts:
            break
        frames += 1
    return frames


def _readable(connection: sqlite3.Connection) -> Iterator[Row]:
    """Yield every row that can be read, stepping over those that cannot."""
    last, failures = -1, 0
    while last < 2**62:
        try:
            rows = _rows_behind(connection, last, 1 if failures else 256)
        except (sqlite3.DatabaseError, OverflowError) as error:
            if failures == 0:  # look at the same rows again, one by one
                failures = 1
                continue
            if isinstance(error, sqlite3.DatabaseError) and _no_table(error):
                raise StoreError("The store is damaged so much that nothing in it can be read.") from error
            failures += 1
            last += 1 if failures < _ONE_BY_ONE else 2 ** (failures - _ONE_BY_ONE)
            continue
        if not rows:
            return
        failures = 0
        last = rows[-1][0]
        for row in rows:
            yield row[1:]


def _rows_behind(connection: sqlite3.Connection, last: int, at_most: int) -> list[tuple[int, *Row]]:
    """Return the next rows, with their ids; an error if those of a damaged page come that are not behind `last`."""
    rows = connection.execute(
        "SELECT id, coalition, draw, value, checksum FROM evaluations NOT INDEXED WHERE id > ? ORDER BY id LIMIT ?",
        (last, at_most),
    ).fetchall()
    if rows and rows[-1][0] <= last:
        raise sqlite3.DatabaseError("rows come again that were read before")
    return rows


def _no_table(error: sqlite3.DatabaseError) -> bool:
    return "no such" in str(error) or "not a database" in str(error)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
