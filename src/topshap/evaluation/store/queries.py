"""The statements that read and write the rows of a store."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from topshap.evaluation.store import schema

_KEYS_PER_QUERY = 900
"""The number of coalitions in one query; old versions of SQLite accept at most 999."""


def find(connection: sqlite3.Connection, keys: list[bytes]) -> list[tuple[int, *schema.Row]]:
    """Return the rows of packed coalitions with their ids."""
    rows = []
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        some = keys[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(some))
        query = f"SELECT id, coalition, draw, value, checksum FROM evaluations WHERE coalition IN ({marks})"  # noqa: S608 - question marks only
        rows += connection.execute(query, some).fetchall()
    return rows


def insert(connection: sqlite3.Connection, rows: list[schema.Row], *, varies: bool) -> None:
    """Write rows in one transaction; a coalition that is already stored stays, or gets another draw if values vary."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if varies:
            _insert_draws(connection, rows)
        else:
            connection.executemany("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _insert_draws(connection: sqlite3.Connection, rows: list[schema.Row]) -> None:
    for coalition, draw, value, check in rows:
        row = (coalition, draw, value, check)
        if not connection.execute("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row).rowcount:
            query = "SELECT max(draw) + 1 FROM evaluations WHERE coalition = ?"
            ((free,),) = connection.execute(query, (coalition,)).fetchall()
            row = (coalition, free, value, schema.checksum(coalition, free, value))
            connection.execute("INSERT INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row)


def version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has written to the file."""
    ((number,),) = connection.execute("PRAGMA data_version").fetchall()
    return int(number)


def check_writable(connection: sqlite3.Connection) -> None:
    """Raise an error of SQLite if nothing can be written."""
    connection.execute("DELETE FROM about WHERE 0")  # BEGIN IMMEDIATE succeeds in a read-only file


def count(connection: sqlite3.Connection) -> int:
    """Return the number of rows."""
    ((evaluations,),) = connection.execute("SELECT count() FROM evaluations NOT INDEXED").fetchall()
    return int(evaluations)


def summary(connection: sqlite3.Connection) -> tuple[str, int]:
    """Return the time of creation and the number of distinct coalitions."""
    ((created,),) = connection.execute("SELECT text FROM about WHERE name = 'created'").fetchall() or [("",)]
    ((coalitions,),) = connection.execute("SELECT count(DISTINCT coalition) FROM evaluations").fetchall()
    return str(created), int(coalitions)
