"""Reading a store that cannot be written: on a read-only file system, or without permission.

SQLite opens a file with a write-ahead log only if it can write next to it. Otherwise the file is opened as one that
does not change. If the log has values that are not in the file, both are copied into memory.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

_REFUSALS = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def is_refusal(error: sqlite3.Error) -> bool:
    """Return whether the error means that a file cannot be written or created."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _REFUSALS


def connect(path: Path) -> sqlite3.Connection:
    """Open a file, which nobody else can be writing, for reading only."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        connection = _copy(path, log)
    else:
        uri = path.absolute().as_uri() + "?immutable=1"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA query_only = ON")
    return connection


def is_read_only(connection: sqlite3.Connection) -> bool:
    """Return whether a connection was opened for reading only."""
    return connection.execute("PRAGMA query_only").fetchone() == (1,)


def _copy(path: Path, log: Path) -> sqlite3.Connection:
    """Return a copy of a file and its log in memory."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder, file.name))
        with closing(sqlite3.connect(Path(folder, path.name))) as readable:
            readable.backup(copy)
    return copy
