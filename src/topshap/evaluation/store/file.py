"""Opening the file of a store: creating it, repairing it, and refusing the file of another game."""

from __future__ import annotations

import sqlite3
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError
from topshap.evaluation.store import repair, schema
from topshap.evaluation.store.identity import Identity

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPTS = 50
"""The number of attempts while another process creates the same file."""


def open_for(path: Path, identity: Identity | None) -> tuple[sqlite3.Connection, Identity]:
    """Open a file, create or repair it if necessary, and refuse the file of another game."""
    new = schema.is_new(path)
    if new and identity is None:
        raise StoreError(f"There is no store at {str(path)!r}.")
    about = {} if identity is None else _about(identity)
    connection = schema.connect(path)
    try:
        found = _identity_in(connection, path, about)
        if identity is not None:
            _refuse_another_game(found, identity, path)
        if not new:
            repair.warn_if_torn(connection, path)
            octets = (found.n_players + 7) // 8
            if not repair.is_intact(connection, octets):
                connection.close()
                repair.salvage(path, octets, _about(found))
                connection = schema.connect(path)
        schema.sync_normally(connection)
    except BaseException:
        connection.close()
        raise
    return connection, found if identity is None else identity


def _identity_in(connection: sqlite3.Connection, path: Path, about: dict[str, str]) -> Identity:
    """Return the identity of the file's game; an empty file gets its tables."""
    try:
        for _ in range(_ATTEMPTS):  # SQLite does not wait while another process creates the same file
            try:
                if about and connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                    schema.create(connection, path, about)
                elif about:
                    schema.use_write_ahead_log(connection)
                break
            except sqlite3.OperationalError as error:
                if not repair.is_busy(error):
                    raise
                time.sleep(0.05)
        schema.check(connection, path)
        texts = connection.execute("SELECT text FROM about WHERE name = 'game'").fetchall()
    except sqlite3.DatabaseError:
        connection.execute("PRAGMA writable_schema = ON")  # makes a truncated file readable
        schema.check(connection, path)
        texts = connection.execute("SELECT text FROM about WHERE name = 'game'").fetchall()
    return Identity.from_json(texts[0][0] if texts else None)


def _refuse_another_game(found: Identity, identity: Identity, path: Path) -> None:
    if differences := found.differences(identity):
        raise StoreError(
            f"The store {str(path)!r} belongs to another game: {'; '.join(differences)}. "
            "Use a separate file for each game."
        )


def _about(identity: Identity) -> dict[str, str]:
    return {"game": identity.to_json(), "created": datetime.now(UTC).isoformat(timespec="seconds")}
