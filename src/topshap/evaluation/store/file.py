"""Opening the file of a store: creating it, and refusing the file of another game.

Opening takes the same time for any number of values. A value is verified when it is read, and all of them by
`topshap.evaluation.store.check`.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topshap.core.errors import StoreError
from topshap.evaluation.store import read_only, repair, schema
from topshap.evaluation.store.identity import Identity, OtherGameError

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPTS = 50
"""The number of attempts while another process creates the same file."""
_GAME = "SELECT text FROM about NOT INDEXED WHERE name = 'game'"  # the index may be damaged


def open_for(path: Path, identity: Identity | None) -> tuple[sqlite3.Connection, Identity]:
    """Open a file, create or repair it if necessary, and refuse the file of another game."""
    new = schema.is_new(path)
    if new and identity is None:
        raise StoreError(f"There is no store at {str(path)!r}.")
    connection = schema.connect(path)
    try:
        found, problem = identity_in(connection, path, identity)
        if identity is not None:
            _refuse_another_game(found, identity, path)
        if not new:
            repair.warn_if_torn(connection, path)
        if problem is not None:
            connection.close()
            repair.salvage_and_warn(path, found.octets, about(found))
            connection = schema.connect(path)
        schema.sync_normally(connection)
    except BaseException:
        connection.close()
        raise
    return connection, found if identity is None else replace(identity, n_outputs=found.n_outputs)


def recover(path: Path) -> None:
    """Replace a damaged file by one with its intact values, and warn."""
    with closing(schema.connect(path)) as connection:
        found, _ = identity_in(connection, path)
    repair.salvage_and_warn(path, found.octets, about(found))


def identity_in(
    connection: sqlite3.Connection, path: Path, identity: Identity | None = None
) -> tuple[Identity, str | None]:
    """Return the identity of the file's game, and the problem of a file that is readable in parts only.

    An empty file gets its tables if an identity is given.
    """
    problem = None
    try:
        _prepare(connection, identity)
        schema.check(connection, path)
        texts = connection.execute(_GAME).fetchall()
    except sqlite3.DatabaseError as error:
        if not repair.is_damage(error):  # the disk is full, for example
            raise
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise StoreError(f"{str(path)!r} is not a store of topshap: it is not an SQLite file.") from error
        problem = str(error)
        connection.execute("PRAGMA writable_schema = ON")  # makes a truncated file readable
        texts = _damaged_identity(connection, path)
    try:
        return Identity.from_json(texts[0][0] if texts else None), problem
    except ValueError as error:
        raise StoreError(f"The store {str(path)!r} does not say which game it belongs to.") from error


def _damaged_identity(connection: sqlite3.Connection, path: Path) -> list[tuple[str]]:
    """Return the identity of a damaged file's game as text, or refuse the file."""
    schema.check(connection, path)
    try:
        return connection.execute(_GAME).fetchall()
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"The store {str(path)!r} is damaged where it says which game it belongs to, so its values cannot be used."
        ) from error


def about(identity: Identity) -> dict[str, str]:
    """Return the description of a new file."""
    return {"game": identity.to_json(), "created": datetime.now(UTC).isoformat(timespec="seconds")}


def _prepare(connection: sqlite3.Connection, identity: Identity | None) -> None:
    """Create the tables of an empty file for a game, and allow readers and a writer at the same time."""
    for _ in range(_ATTEMPTS):  # SQLite does not wait while another process creates the same file
        try:
            if identity is not None and connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                schema.create(connection, about(identity))
            elif identity is not None and not read_only.is_read_only(connection):
                schema.use_write_ahead_log(connection)
            break
        except sqlite3.OperationalError as error:
            if not repair.is_busy(error):
                raise
            time.sleep(0.05)


def _refuse_another_game(found: Identity, identity: Identity, path: Path) -> None:
    if differences := found.differences(identity):
        raise OtherGameError(
            f"The store {str(path)!r} belongs to another game: {'; '.join(differences)}. "
            "Use a separate file for each game."
        )
