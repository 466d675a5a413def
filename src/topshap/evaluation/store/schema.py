"""The format of a store's file: versioned SQLite tables.

Only SQLite opens the file: in POSIX systems, a process that closes a file loses all its locks on it, and without its
locks the log of a connection may be deleted by another process.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.errors import StoreError
from topshap.evaluation.store import read_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from topshap.core.typing import Values

APPLICATION_ID = 0x746F7073
"""Marks the file as a store of this package in its header: "tops"."""
VERSION = 2
"""The highest version of a file. A file with a higher one was written by a later topshap.

The tables of both versions are the same. In version 1, a value is a number. In version 2, the values of a coalition's
outputs are a blob of numbers. A game with one number per coalition has files of version 1, so that all versions of
topshap can use them.
"""
BUSY_SECONDS = 60.0
"""The time to wait for another process that writes to the same file."""

_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, text TEXT NOT NULL)",
    (
        "CREATE TABLE evaluations (id INTEGER PRIMARY KEY, coalition BLOB NOT NULL, draw INTEGER NOT NULL, "
        "value REAL NOT NULL, checksum INTEGER NOT NULL, UNIQUE (coalition, draw))"
    ),
)

Value = float | bytes
"""A number, or the numbers of all outputs as little-endian doubles."""
Row = tuple[bytes, int, Value, int]
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
            connection.execute(f"PRAGMA user_version = {version_of(about)}")
            for table in _TABLES:
                connection.execute(table)
            connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    connection.execute("PRAGMA synchronous = FULL")
    use_write_ahead_log(connection)


def version_of(about: dict[str, str]) -> int:
    """Return the version of a file with this description.

    Examples
    --------
    >>> version_of({"game": '{"n_players": 3}'}), version_of({"game": '{"n_players": 3, "n_outputs": 2}'})
    (1, 2)
    """
    return 1 if json.loads(about["game"]).get("n_outputs") is None else 2


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
            f"{str(path)!r} is not a store of topshap: it has other tables than a store of format {version}."
        )


def rows_of(coalitions: Iterable[bytes], draws: Iterable[int], values: Values) -> list[Row]:
    """Return rows with their checksums."""
    packed = values.tolist() if values.ndim == 1 else [row.tobytes() for row in values.astype("<f8")]
    return [
        (coalition, draw, value, checksum(coalition, draw, value))
        for coalition, draw, value in zip(coalitions, draws, packed, strict=True)
    ]


def values_of(packed: Sequence[Value | None]) -> Values:
    """Return the values of rows as an array, nan where there is none; one row per coalition if it has several outputs.

    Examples
    --------
    >>> values_of([1.5, None]), values_of([np.array([1.0, 2.0]).tobytes()])
    (array([1.5, nan]), array([[1., 2.]]))
    """
    sizes = {len(value) // 8 for value in packed if isinstance(value, bytes)}
    if not sizes:
        return np.array([np.nan if value is None else value for value in packed], dtype=np.float64)
    values = np.full((len(packed), min(sizes)), np.nan)
    for row, value in enumerate(packed):
        if value is None:
            continue
        if not isinstance(value, bytes) or len(value) != 8 * values.shape[1]:
            raise StoreError("The store has values with different numbers of outputs.")
        values[row] = np.frombuffer(value, dtype="<f8")
    return values


def checksum(coalition: bytes, draw: int, value: Value) -> int:
    """Return a checksum of the three."""
    if isinstance(value, bytes):
        return zlib.crc32(value, zlib.crc32(_DRAW.pack(draw), zlib.crc32(coalition)))
    return zlib.crc32(_NUMBERS.pack(draw, value), zlib.crc32(coalition))


_NUMBERS, _DRAW = struct.Struct("<qd"), struct.Struct("<q")


def is_intact(row: tuple[object, ...], octets: int) -> bool:
    """Return whether a row has the right types and the right checksum."""
    coalition, draw, value, stored = row
    return (
        isinstance(coalition, bytes)
        and isinstance(draw, int)
        and isinstance(value, float | bytes)
        and len(coalition) == octets
        and _is_finite(value)
        and checksum(coalition, draw, value) == stored
    )


def _is_finite(value: Value) -> bool:
    """Return whether a value is a finite number, or consists of finite numbers."""
    if isinstance(value, float):
        return math.isfinite(value)
    return len(value) > 0 and len(value) % 8 == 0 and bool(np.isfinite(np.frombuffer(value, dtype="<f8")).all())


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
