"""The statements that read and write the rows of a store."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from topshap.evaluation.store import schema
from topshap.evaluation.store.identity import Identity, OtherGameError, other_outputs

if TYPE_CHECKING:
    from collections.abc import Callable

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
        if rows:
            _settle_outputs(connection, rows[0][2])
        if varies:
            _insert_draws(connection, rows)
        else:
            connection.executemany("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _settle_outputs(connection: sqlite3.Connection, value: schema.Value) -> None:
    """Check that the store is for as many outputs as a value has; the first value of a store decides.

    It is part of the transaction, since several processes may write the first value at the same time.
    """
    n_outputs = len(value) // 8 if isinstance(value, bytes) else None
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if n_outputs is None and version == 1:
        return
    found = game_of(connection)
    if found.n_outputs == n_outputs:
        return
    if found.n_outputs is not None or connection.execute("SELECT 1 FROM evaluations LIMIT 1").fetchone() is not None:
        raise OtherGameError(f"The store belongs to another game: {other_outputs(found.n_outputs, n_outputs)}.")
    game = replace(found, n_outputs=n_outputs).to_json()
    connection.execute("UPDATE about SET text = ? WHERE name = 'game'", (game,))
    connection.execute(f"PRAGMA user_version = {schema.version_of({'game': game})}")


def game_of(connection: sqlite3.Connection) -> Identity:
    """Return the identity of the store's game."""
    ((text,),) = connection.execute("SELECT text FROM about WHERE name = 'game'").fetchall()
    return Identity.from_json(text)


def _insert_draws(connection: sqlite3.Connection, rows: list[schema.Row]) -> None:
    for coalition, draw, value, check in rows:
        row = (coalition, draw, value, check)
        if not connection.execute("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row).rowcount:
            query = "SELECT max(draw) + 1 FROM evaluations WHERE coalition = ?"
            ((free,),) = connection.execute(query, (coalition,)).fetchall()
            row = (coalition, free, value, schema.checksum(coalition, free, value))
            connection.execute("INSERT INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row)


def note(connection: sqlite3.Connection, name: str) -> str | None:
    """Return a note, None if there is none of this name."""
    found = connection.execute("SELECT text FROM about WHERE name = ?", (f"note {name}",)).fetchone()
    return None if found is None else str(found[0])


def update_note(connection: sqlite3.Connection, name: str, change: Callable[[str | None], str]) -> None:
    """Replace a note by a function of its text, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        text = change(note(connection, name))
        connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (f"note {name}", text))
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


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
