"""The form of a store's file: SQLite tables with a version, made here and checked here."""

from __future__ import annotations

import math
import os
import sqlite3
import struct
import zlib
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

APPLICATION_ID = 0x746F7073
"""Says in the header of the file that it is a store of this package: "tops"."""
VERSION = 1
"""The version of the tables. A file with a higher one was written by a later topshap."""
BUSY_SECONDS = 60.0
"""How long to wait for another process that writes to the same file."""

_HEADER = b"SQLite format 3\x00"
_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
    (
        "CREATE TABLE evaluations (id INTEGER PRIMARY KEY, coalition BLOB NOT NULL, draw INTEGER NOT NULL, "
        "value REAL NOT NULL, checksum INTEGER NOT NULL, UNIQUE (coalition, draw))"
    ),
)

Row = tuple[bytes, int, float, int]
"""A packed coalition, which of its evaluations this is, the value, and a checksum of the three."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a file as SQLite, trusting nothing in it."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def create(connection: sqlite3.Connection, path: Path, about: dict[str, str]) -> None:
    """Make the tables in an empty file; where another process was first, its tables stay."""
    connection.execute("PRAGMA synchronous = OFF")  # there is nothing to lose yet, and one wait for the disk is enough
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
    write_ahead(connection)
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and one writer work at the same time, and a commit be a short write at the end of a file."""
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def be_safe(connection: sqlite3.Connection) -> None:
    """Wait for the disk as often as it takes that no failure can damage a file with a write-ahead log."""
    connection.execute("PRAGMA synchronous = NORMAL")


def is_new(path: Path) -> bool:
    """Return whether there is nothing at this path yet; what is no SQLite file is refused."""
    try:
        with path.open("rb") as file:
            header = file.read(len(_HEADER))
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StoreError(f"The store {str(path)!r} cannot be opened: {error}") from error
    if header not in (b"", _HEADER):
        raise StoreError(f"{str(path)!r} is no store of topshap: it is not an SQLite file.")
    return header == b""


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that another program or a later version of this one has made."""
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION_ID:
        raise StoreError(f"{str(path)!r} is no store of topshap: another program has made this SQLite file.")
    if version > VERSION:
        raise StoreError(
            f"{str(path)!r} was written by a later topshap: its format is {version}, "
            f"and this version reads up to {VERSION}."
        )
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master") if sql is not None}
    if version < 1 or found != set(_TABLES):
        raise StoreError(f"{str(path)!r} is no store of topshap: it has other tables than a store of format {VERSION}.")


def rows_of(coalitions: Iterable[bytes], draws: Iterable[int], values: Iterable[float]) -> list[Row]:
    """Return rows to be written, with their checksums."""
    return [
        (coalition, draw, value, checksum(coalition, draw, value))
        for coalition, draw, value in zip(coalitions, draws, values, strict=True)
    ]


def checksum(coalition: bytes, draw: int, value: float) -> int:
    """Return a number that changes with any of the three."""
    return zlib.crc32(_NUMBERS.pack(draw, value), zlib.crc32(coalition))


_NUMBERS = struct.Struct("<qd")


def is_whole(row: tuple[object, ...], octets: int) -> bool:
    """Return whether a row that was read is one that was written."""
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
    """Yield all rows in the order in which they were written, some at a time."""
    last = -1
    while True:
        rows = connection.execute(
            "SELECT id, coalition, draw, value, checksum FROM evaluations WHERE id > ? ORDER BY id LIMIT ?",
            (last, block),
        ).fetchall()
        if not rows:
            return
        last = rows[-1][0]
        yield [row[1:] for row in rows]
