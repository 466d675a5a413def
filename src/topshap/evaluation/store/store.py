"""Store: the values of a game in a file."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from topshap.core.errors import StoreError, StoreWarning
from topshap.core.printable import printable
from topshap.core.validation import front_door, refuse
from topshap.core.values import is_missing
from topshap.evaluation.store import queries, repair, schema
from topshap.evaluation.store.check import check_file
from topshap.evaluation.store.file import open_for, recover
from topshap.evaluation.store.identity import OtherGameError, other_outputs
from topshap.evaluation.store.info import StoreInfo
from topshap.evaluation.store.read_only import is_refusal
from topshap.evaluation.store.repair import is_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from topshap.core.typing import Coalitions, Values
    from topshap.evaluation.store.check import StoreCheck
    from topshap.evaluation.store.identity import Identity

T = TypeVar("T")


@front_door
class Store:
    """The values of one game in an SQLite file, written as they arrive.

    A store belongs to one game, identified by its ``fingerprint`` or by the name given here. Another game is refused.
    Several processes on one machine may use a store at the same time; runs do not evaluate what another one is
    evaluating. A file that cannot be written is read. The file is opened when it is first used and may be closed at any
    time.

    Parameters
    ----------
    path
        The path of the file, which is created if it does not exist.
    game
        A name for the game and its version, for games without an attribute ``fingerprint``. It stands for the whole
        game: only the number of players and their names are compared. Change it whenever the value of a coalition could
        change: with other data, another model, another prompt.

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
            if self._connection is None or (identity is not None and not identity.is_same(self._identity)):
                self.close()
                self._connection, self._identity = open_for(self.path, identity)
            return self._known_identity()

    def look_up(self, coalitions: Coalitions, draws: Sequence[int] | None = None) -> tuple[Values, Any]:
        """Return the values of these coalitions, nan where unknown, and a bool array that is true where they are known.

        A damaged value is removed with a warning and is unknown. For games whose values vary, `draws` has the number of
        each evaluation of a coalition, starting at 0.
        """
        keys = pack(coalitions)
        draws = [0] * len(keys) if draws is None else draws
        known: dict[tuple[bytes, int], schema.Value] = {}
        damaged = []
        n = coalitions.shape[1]
        with self._lock, _store_errors(self.path):
            rows = self._use(n, partial(queries.find, keys=list(dict.fromkeys(keys))))
            octets = self._known_identity().octets
            for row in rows:
                if schema.is_intact(row[1:], octets):
                    known[row[1], row[2]] = row[3]
                else:
                    damaged.append(row[0])
            if damaged:
                self._use(n, partial(repair.remove, ids=damaged, path=self.path))
        values = schema.values_of([known.get(key) for key in zip(keys, draws, strict=True)])
        return values, ~is_missing(values)

    def check_writable(self, needed: int) -> None:
        """Raise an error if the file is read-only, before coalitions are evaluated whose values it has to keep."""
        with self._lock, _store_errors(self.path):
            try:
                self._use(self.open().n_players, queries.check_writable)
            except sqlite3.OperationalError as error:
                if not is_refusal(error):
                    raise
                message = (
                    f"The store {str(self.path)!r} is read-only and does not have the values of {needed} coalitions, "
                    "which were not evaluated. To add values, make it writable or use a copy."
                )
                raise StoreError(message) from error

    def version(self) -> int:
        """Return a number that changes when another process has written to the file."""
        with self._lock, _store_errors(self.path):
            return self._use(self._known_identity().n_players, queries.version)

    def add(self, coalitions: Coalitions, values: Values, draws: Sequence[int] | None = None) -> None:
        """Write values in one transaction; the value of a coalition that is already stored stays.

        If values vary and another process has stored a draw with the same number, the value gets the next free number.
        """
        keys = pack(coalitions)
        rows = schema.rows_of(keys, [0] * len(keys) if draws is None else draws, np.asarray(values))
        with self._lock, _store_errors(self.path, UnwrittenError):
            self._use(coalitions.shape[1], partial(queries.insert, rows=rows, varies=not self.open().deterministic))
            if np.ndim(values) == 2:
                self._identity = replace(self._known_identity(), n_outputs=np.shape(values)[1])

    def check_outputs(self, n_outputs: int | None) -> None:
        """Refuse a game with another number of outputs than the values of the store; None is one number per coalition.

        The first value of a new store decides, when it is written.
        """
        with self._lock, _store_errors(self.path):
            n_players = self._known_identity().n_players
            found = self._use(n_players, queries.game_of)
            if found.n_outputs != n_outputs and (found.n_outputs is not None or self._use(n_players, queries.count)):
                raise OtherGameError(
                    f"The store {str(self.path)!r} belongs to another game: "
                    f"{other_outputs(found.n_outputs, n_outputs)}. Use a separate file for each game."
                )

    def read(self) -> Iterator[tuple[Coalitions, Sequence[int], Values]]:
        """Yield blocks of coalitions, draws and values in the order in which they were written.

        Damaged values are left out, with a warning at the end.
        """
        identity = self.open()
        n, octets, damaged = identity.n_players, identity.octets, 0
        with _store_errors(self.path):
            for block in schema.read(self._opened(n)):
                rows = [row for row in block if schema.is_intact(row, octets)]
                damaged += len(block) - len(rows)
                packed = np.frombuffer(b"".join(row[0] for row in rows), dtype=np.uint8).reshape(-1, octets)
                coalitions = np.unpackbits(packed, axis=1, count=n, bitorder="little").view(np.bool_)
                yield coalitions, [row[1] for row in rows], schema.values_of([row[2] for row in rows])
        if damaged:
            message = f"{damaged} damaged values in the store {str(self.path)!r} were left out."
            warnings.warn(message, StoreWarning, stacklevel=2)

    def note(self, name: str) -> str | None:
        """Return a text that was kept with `update_note`, None if there is none of this name."""
        with self._lock, _store_errors(self.path):
            return self._use(self.open().n_players, partial(queries.note, name=name))

    def update_note(self, name: str, change: Callable[[str | None], str]) -> None:
        """Replace the text of this name, None if there is none, by a function of it."""
        with self._lock, _store_errors(self.path, UnwrittenError):
            self._use(self.open().n_players, partial(queries.update_note, name=name, change=change))

    def check(self, *, repair: bool = False) -> StoreCheck:
        """Verify every value and the structure of the file, which takes time in proportion to its size.

        Parameters
        ----------
        repair
            Whether to replace a damaged file by one with its intact values. The damaged file is kept under another
            name. No other process may be using the store.

        Examples
        --------
        >>> import tempfile
        >>> import topshap
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = topshap.Store(folder + "/run.db", game="my-game-v1")
        ...     top = topshap.identify(lambda rows: rows.sum(axis=1), 3, k=1, store=store)
        ...     store.check()
        StoreCheck(values=8, damaged=0, problem=None, damaged_file=None)
        """
        with self._lock, _store_errors(self.path):
            self.close()
            return check_file(self.path, repair_it=repair)

    def info(self) -> StoreInfo:
        """Return a summary of the store, or raise an error if the file does not exist."""
        identity = self.open()
        with self._lock, _store_errors(self.path):
            created, coalitions = self._use(identity.n_players, queries.summary)
            return StoreInfo(self.path, identity, created, len(self), coalitions, self.path.stat().st_size)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                with suppress(sqlite3.Error):
                    connection.close()

    def __len__(self) -> int:
        """Return the number of values."""
        with self._lock, _store_errors(self.path):
            return self._use(self.open().n_players, queries.count)

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

    def _use(self, n_players: int, action: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of an action; if the file turns out to be damaged, recover its intact values before."""
        try:
            return action(self._opened(n_players))
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self.close()
        recover(self.path)
        return action(self._opened(n_players))

    def _opened(self, n_players: int) -> sqlite3.Connection:
        """Return the connection, a new one in a forked process."""
        identity = self.open(self._identity)
        if identity.n_players != n_players:
            raise StoreError(f"The store {str(self.path)!r} has {identity.n_players} players, not {n_players}.")
        if self._connection is None:
            raise StoreError(f"The store {str(self.path)!r} was closed.")
        return self._connection

    def _known_identity(self) -> Identity:
        if self._identity is None:
            raise StoreError(f"The store {str(self.path)!r} is not open.")
        return self._identity

    def _forget_other_process(self) -> None:
        if self._process != os.getpid():  # SQLite's connections do not survive a fork
            self._connection, self._process = None, os.getpid()


class UnwrittenError(StoreError):
    """Values cannot be written to a store, as when the disk is full."""


def append(path: Path, coalitions: Coalitions, values: Values) -> None:
    """Write values of a deterministic game to the file of a store that another process has open."""
    keys = pack(coalitions)
    rows = schema.rows_of(keys, [0] * len(keys), values)
    with closing(schema.connect_existing(path)) as connection:
        queries.insert(connection, rows, varies=False)


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


@contextmanager
def _store_errors(path: Path, kind: type[StoreError] = StoreError) -> Iterator[None]:
    """Raise errors of SQLite and of the file system as errors that name the store."""
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError, UnicodeDecodeError) as error:
        damaged = isinstance(error, sqlite3.Error) and is_damage(error)
        how = f" To recover its intact values, run: topshap store check --repair {path}" if damaged else ""
        what = "written" if kind is UnwrittenError else "used"
        raise kind(f"The store {str(path)!r} cannot be {what}: {printable(str(error))}.{how}") from error
