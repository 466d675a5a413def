"""Opening the file of a store: making it, mending it, and refusing one that belongs to another game."""

from __future__ import annotations

import sqlite3
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError
from topshap.evaluation.store import repair as damage
from topshap.evaluation.store import schema
from topshap.evaluation.store.identity import Identity

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPTS = 50
"""How often to try while another process makes the same file."""


def open_for(path: Path, identity: Identity | None) -> tuple[sqlite3.Connection, Identity]:
    """Open a file, making it or mending it if that is needed, and refuse one that belongs to another game."""
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
            damage.warn_if_torn(connection, path)
            octets = (found.n_players + 7) // 8
            if not damage.is_whole(connection, octets):
                connection.close()
                damage.salvage(path, octets, _about(found))
                connection = schema.connect(path)
        schema.be_safe(connection)
    except BaseException:
        connection.close()
        raise
    return connection, found if identity is None else identity


def _identity_in(connection: sqlite3.Connection, path: Path, about: dict[str, str]) -> Identity:
    """Return whose values the file holds; a file without tables gets them."""
    try:
        for _ in range(_ATTEMPTS):  # SQLite does not wait while another process makes the same file
            try:
                if about and connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                    schema.create(connection, path, about)
                elif about:
                    schema.write_ahead(connection)
                break
            except sqlite3.OperationalError as error:
                if not damage.is_busy(error):
                    raise
                time.sleep(0.05)
        schema.check(connection, path)
        texts = connection.execute("SELECT text FROM about WHERE name = 'game'").fetchall()
    except sqlite3.DatabaseError:
        connection.execute("PRAGMA writable_schema = ON")  # reads a file that is shorter than it says
        schema.check(connection, path)
        texts = connection.execute("SELECT text FROM about WHERE name = 'game'").fetchall()
    return Identity.from_json(texts[0][0] if texts else None)


def _refuse_another_game(found: Identity, identity: Identity, path: Path) -> None:
    if differences := found.differences(identity):
        raise StoreError(
            f"The store {str(path)!r} belongs to another game: {'; '.join(differences)}. "
            "Give each game a file of its own."
        )


def _about(identity: Identity) -> dict[str, str]:
    return {"game": identity.to_json(), "created": datetime.now(UTC).isoformat(timespec="seconds")}
