"""The format of a store's file: versioned SQLite tables.

Only SQLite opens the file: in POSIX systems, a process that closes a file loses all its locks on it, and without its
locks the log of a connection may be deleted by another process.
"""

from __future__ import annotations

import math
import sqlite3
import struct
import zlib
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError
from topshap.evaluation.store import read_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

APPLICATION_ID = 0x746F7073
"""Marks the file as a store of this package in its header: "tops"."""
VERSION = 1
"""The version of the tables. A file with a higher version was written by a later topshap."""
BUSY_SECONDS = 60.0
"""The time to wait for another process that writes to the same file."""

_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
    (
        "CREATE TABLE evaluations (id INTEGER PRIMARY KEY, coalition BLOB NOT NULL, draw INTEGER NOT NULL, "
        "value REAL NOT NULL, checksum INTEGER NOT NULL, UNIQUE (coalition, draw))"
    ),
)

Row = tuple[bytes, int, float, int]
"""A packed coalition, the number of its evaluation, the value, and a checksum of the three."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a file as SQLite without trusting its content; for reading only if it exists and cannot be written."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:  # others are handled where the content is read
        if read_only.is_refusal(error) and not is_new(path):
            connection.close()
            connection = read_only.connect(path)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def connect_existing(path: Path) -> sqlite3.Connection:
    """Open the file of a store for a single transaction; it is not created."""
    uri = path.absolute().as_uri() + "?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")
    sync_normally(connection)
    return connection


def create(connection: sqlite3.Connection, about: dict[str, str]) -> None:
    """Create the tables in an empty file, unless another process has just done so."""
    connection.execute("PRAGMA synchronous = OFF")  # nothing can be lost yet, and the next transaction syncs the file
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for table in _TABLES:
                connection.execute(table)
            connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    connection.execute("PRAGMA synchronous = FULL")
    use_write_ahead_log(connection)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Allow readers and one writer at the same time, and make a commit a short write at the end of a file."""
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def sync_normally(connection: sqlite3.Connection) -> None:
    """Sync as often as needed to protect a file with a write-ahead log from any failure."""
    connection.execute("PRAGMA synchronous = NORMAL")


def is_new(path: Path) -> bool:
    """Return whether the file is empty or does not exist."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file created by another program or by a later version of topshap."""
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION_ID:
        raise StoreError(f"{str(path)!r} is not a store of topshap: another program created this SQLite file.")
    if version > VERSION:
        raise StoreError(
            f"{str(path)!r} was written by a later topshap: its format is {version}, "
            f"and this version reads up to {VERSION}."
        )
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master") if sql is not None}
    if version < 1 or found != set(_TABLES):
        raise StoreError(
            f"{str(path)!r} is not a store of topshap: it has other tables than a store of format {VERSION}."
        )


def rows_of(coalitions: Iterable[bytes], draws: Iterable[int], values: Iterable[float]) -> list[Row]:
    """Return rows with their checksums."""
    return [
        (coalition, draw, value, checksum(coalition, draw, value))
        for coalition, draw, value in zip(coalitions, draws, values, strict=True)
    ]


def checksum(coalition: bytes, draw: int, value: float) -> int:
    """Return a checksum of the three."""
    return zlib.crc32(_NUMBERS.pack(draw, value), zlib.crc32(coalition))


_NUMBERS = struct.Struct("<qd")


def is_intact(row: tuple[object, ...], octets: int) -> bool:
    """Return whether a row has the right types and the right checksum."""
    coalition, draw, value, stored = row
    return (
        isinstance(coalition, bytes)
        and isinstance(draw, int)
        and isinstance(value, float)
        and len(coalition) == octets
        and math.isfinite(value)
        and checksum(coalition, draw, value) == stored
    )


def read(connection: sqlite3.Connection, block: int = 10_000) -> Iterator[list[Row]]:
    """Yield all rows in blocks, in the order in which they were written; they are not verified."""
    last = -1
    while True:
        rows = connection.execute(
            "SELECT id, coalition, draw, value, checksum FROM evaluations WHERE id > ? ORDER BY id LIMIT ?",
            (last, block),
        ).fetchall()
        if not rows:
            return
        if rows[-1][0] <= last:
            raise sqlite3.DatabaseError("rows were returned twice")  # by a damaged page, again and again
        last = rows[-1][0]
        yield [row[1:] for row in rows]
