"""Store: the values of a game in a file."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import StoreError
from topshap.core.validation import front_door, refuse
from topshap.evaluation.store import schema
from topshap.evaluation.store.file import open_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.store.identity import Identity

logger = logging.getLogger("topshap")

_KEYS_PER_QUERY = 900
"""The number of coalitions in one query; old versions of SQLite accept at most 999."""


@dataclass(frozen=True)
class StoreInfo:
    """A summary of a store.

    Attributes
    ----------
    path
        The path of the file.
    identity
        The identity of the game.
    created
        The time of creation, as text in UTC.
    evaluations
        The number of values.
    coalitions
        The number of distinct coalitions.
    size
        The size of the file in bytes.
    """

    path: Path
    identity: Identity
    created: str
    evaluations: int
    coalitions: int
    size: int


@front_door
class Store:
    """The values of one game in an SQLite file, written as they arrive.

    A store belongs to one game, identified by its ``fingerprint`` or by the name given here. Another game is refused.
    Several processes may use a store at the same time. The file is opened when it is first used and may be closed at
    any time.

    Parameters
    ----------
    path
        The path of the file, which is created if it does not exist.
    game
        A name for the game and its version, for games without an attribute ``fingerprint``. Change it whenever the
        value of a coalition could change: with other data, another model, another prompt.

    Examples
    --------
    >>> import tempfile
    >>> import topshap
    >>> def game(coalitions):
    ...     return coalitions @ np.array([3.0, 1.0, 2.0, 0.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = topshap.Store(folder + "/run.db", game="my-game-v1")
    ...     topshap.identify(game, 4, k=2, store=store).players
    ...     store.info().evaluations
    array([0, 2])
    16
    """

    def __init__(self, path: str | os.PathLike[str], game: str | None = None) -> None:
        _check("path", path, (str, os.PathLike), must_be="the path of a file")
        if game is not None:
            _check("game", game, (str,), must_be="a name for the game and its version, or None")
        self.path = Path(path)
        self.game = game
        self._identity: Identity | None = None
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()

    def open(self, identity: Identity | None = None) -> Identity:
        """Open the file for the game with this identity, or for any game, and return the identity of its game."""
        with self._lock, _store_errors(self.path):
            self._forget_other_process()
            if self._connection is None or (identity is not None and identity != self._identity):
                self.close()
                self._connection, self._identity = open_for(self.path, identity)
                if len(self):
                    logger.info("%s: %d values are known", self.path, len(self))
            return self._known_identity()

    def look_up(self, coalitions: Coalitions, draws: Sequence[int] | None = None) -> tuple[Values, Any]:
        """Return the values of these coalitions, nan where unknown, and a bool array that is true where they are known.

        For games whose values vary, `draws` has the number of each evaluation of a coalition, starting at 0.
        """
        keys = pack(coalitions)
        draws = [0] * len(keys) if draws is None else draws
        known: dict[tuple[bytes, int], float] = {}
        with self._lock, _store_errors(self.path):
            connection, octets = self._opened(coalitions.shape[1])
            different = list(dict.fromkeys(keys))
            for start in range(0, len(different), _KEYS_PER_QUERY):
                some = different[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT coalition, draw, value, checksum FROM evaluations WHERE coalition IN ({marks})"  # noqa: S608 - question marks only
                for row in connection.execute(query, some):
                    if not schema.is_intact(row, octets):
                        raise StoreError(f"The store {str(self.path)!r} was damaged while it was in use.")
                    known[row[0], row[1]] = row[2]
        values = np.array([known.get(key, np.nan) for key in zip(keys, draws, strict=True)], dtype=np.float64)
        return values, ~np.isnan(values)

    def add(self, coalitions: Coalitions, values: Values, draws: Sequence[int] | None = None) -> None:
        """Write values in one transaction; the value of a coalition that is already stored stays.

        If values vary and another process has stored a draw with the same number, the value gets the next free number.
        """
        keys = pack(coalitions)
        rows = schema.rows_of(keys, [0] * len(keys) if draws is None else draws, np.asarray(values).tolist())
        with self._lock, _store_errors(self.path):
            connection, _ = self._opened(coalitions.shape[1])
            varies = not self._known_identity().deterministic
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

    def read(self) -> Iterator[tuple[Coalitions, Sequence[int], Values]]:
        """Yield blocks of coalitions, draws and values in the order in which they were written."""
        n = self.open().n_players
        octets = (n + 7) // 8
        with _store_errors(self.path):
            connection, _ = self._opened(n)
            for rows in schema.read(connection):
                packed = np.frombuffer(b"".join(row[0] for row in rows), dtype=np.uint8).reshape(-1, octets)
                coalitions = np.unpackbits(packed, axis=1, count=n, bitorder="little").view(np.bool_)
                yield coalitions, [row[1] for row in rows], np.array([row[2] for row in rows])

    def info(self) -> StoreInfo:
        """Return a summary of the store, or raise an error if the file does not exist."""
        identity = self.open()
        with self._lock, _store_errors(self.path):
            connection, _ = self._opened(identity.n_players)
            ((created,),) = connection.execute("SELECT text FROM about WHERE name = 'created'").fetchall() or [("",)]
            ((coalitions,),) = connection.execute("SELECT count(DISTINCT coalition) FROM evaluations").fetchall()
            return StoreInfo(self.path, identity, str(created), len(self), coalitions, self.path.stat().st_size)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                with suppress(sqlite3.Error):
                    connection.close()

    def __len__(self) -> int:
        """Return the number of values."""
        with self._lock:
            if self._connection is None:
                self.open()
            if self._connection is None:
                return 0
            ((evaluations,),) = self._connection.execute("SELECT count() FROM evaluations").fetchall()
            return int(evaluations)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        game = "" if self.game is None else f", game={self.game!r}"
        return f"Store({str(self.path)!r}{game})"

    def __reduce__(self) -> tuple[type[Self], tuple[Path, str | None]]:
        return type(self), (self.path, self.game)

    def _opened(self, n_players: int) -> tuple[sqlite3.Connection, int]:
        """Return the connection, a new one in a forked process, and the number of bytes of a packed coalition."""
        identity = self.open(self._identity)
        if identity.n_players != n_players:
            raise StoreError(f"The store {str(self.path)!r} has {identity.n_players} players, not {n_players}.")
        if self._connection is None:
            raise StoreError(f"The store {str(self.path)!r} was closed.")
        return self._connection, (n_players + 7) // 8

    def _known_identity(self) -> Identity:
        if self._identity is None:
            raise StoreError(f"The store {str(self.path)!r} is not open.")
        return self._identity

    def _forget_other_process(self) -> None:
        if self._process != os.getpid():  # SQLite's connections do not survive a fork
            self._connection, self._process = None, os.getpid()


def pack(coalitions: Coalitions) -> list[bytes]:
    r"""Return each coalition as bytes, eight players to a byte.

    Examples
    --------
    >>> pack(np.array([[True, False, False], [True, True, False]]))
    [b'\x01', b'\x03']
    """
    packed = np.packbits(coalitions, axis=1, bitorder="little")
    whole, octets = packed.tobytes(), packed.shape[1]
    return [whole[start : start + octets] for start in range(0, len(whole), octets)]


def _check(name: str, value: Any, kinds: tuple[type, ...], *, must_be: str) -> None:
    if not isinstance(value, kinds) or str(value) == "":
        refuse(name, value, must_be=must_be)


def _insert_draws(connection: sqlite3.Connection, rows: list[schema.Row]) -> None:
    for coalition, draw, value, check in rows:
        row = (coalition, draw, value, check)
        if not connection.execute("INSERT OR IGNORE INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row).rowcount:
            query = "SELECT max(draw) + 1 FROM evaluations WHERE coalition = ?"
            ((free,),) = connection.execute(query, (coalition,)).fetchall()
            row = (coalition, free, value, schema.checksum(coalition, free, value))
            connection.execute("INSERT INTO evaluations VALUES (NULL, ?, ?, ?, ?)", row)


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and of the file system as errors that name the store."""
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError, UnicodeDecodeError) as error:
        raise StoreError(f"The store {str(path)!r} cannot be used: {error}") from error
