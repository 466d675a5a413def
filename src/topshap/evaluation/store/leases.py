"""Leases: no two processes that share a store evaluate the same coalition at the same time.

A process leases a coalition before it evaluates it, and releases the lease when the value is in the store. A lease is a
lock on one byte of an empty file next to the store, at a position computed from the coalition. The operating system
releases the locks of a process that ends, even by ``kill -9``, so that the others can take over its coalitions.

The first byte shows who is present. Every process holds a shared lock on it. A process that is alone may replace it by
an exclusive lock, which leases all coalitions at once and keeps others from entering until it is released.

Leases need `fcntl`, which Windows lacks, and a file that can be created and locked. Without them, processes may
evaluate the same coalition at the same time; the first value is kept.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Key = tuple[bytes, int]
"""A packed coalition and the number of its evaluation."""

MOST = 1000
"""At most this many coalitions are leased at a time, since each new lock takes time in proportion to their number."""
_PRESENCE = 0
"""The position of the byte that shows who is present."""
_BUSY = {errno.EACCES, errno.EAGAIN}

_files: dict[tuple[int, Path], _LockFile] = {}
_files_lock = threading.RLock()


class Leases:
    """The leases of one run.

    Parameters
    ----------
    path
        The path of the store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     leases = Leases(Path(folder, "run.db"))
    ...     leases.lease([(b"1", 0), (b"2", 0)])
    ...     leases.release([(b"1", 0)])
    ...     leases.close()
    [True, True]
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + "-leases")
        self._owner = _caller()
        self._held: set[int] = set()
        self._file: _LockFile | None = None
        self._process = os.getpid()
        self._available = fcntl is not None

    def lease_all(self) -> bool:
        """Lease all coalitions until `release_all`; return False if that is not possible, as with other processes."""
        file = self._opened()
        return file is None or file.lock_all(self._owner)

    def lease(self, keys: Sequence[Key]) -> list[bool]:
        """Return for each coalition whether it is leased now; False if another run has it."""
        file = self._opened()
        if file is None:
            return [True] * len(keys)
        positions = [_position(key) for key in keys[:MOST]]
        leased = file.lock(positions, self._owner)
        self._held.update(position for position, mine in zip(positions, leased, strict=True) if mine)
        return leased + [False] * (len(keys) - len(leased))

    def release(self, keys: Iterable[Key]) -> None:
        """Release the leases of these coalitions; those that have none are left as they are."""
        self._release({_position(key) for key in keys} & self._held)

    def release_all(self) -> None:
        """Release all leases of this run."""
        if self._file is not None:
            self._file.unlock_all(self._owner)
            self._release(set(self._held))

    def close(self) -> None:
        """Release all leases, and remove the file if no other process uses it."""
        if self._process != os.getpid():  # locks do not survive a fork
            return
        self.release_all()
        file, self._file = self._file, None
        if file is not None:
            file.leave()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def _release(self, positions: set[int]) -> None:
        if self._file is not None and positions:
            self._file.unlock(positions)
            self._held -= positions

    def _opened(self) -> _LockFile | None:
        """Return the file, None if there are no leases."""
        if self._process != os.getpid():
            self._process, self._file = os.getpid(), None
            self._held.clear()
        if self._file is None and self._available:
            try:
                self._file = _LockFile.enter(self._path)
            except OSError:
                self._available = False
        if self._file is not None and self._file.broken:
            self._file = None
            self._available = False
        return self._file


class _LockFile:
    """The file with the locks of this process; all runs of a process share it.

    A process has one descriptor of the file only: closing another one would release all its locks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.broken = False
        self._descriptor = _open(path)
        self._present = False
        self._owners: dict[int, object] = {}
        self._owner_of_all: object = None
        self._mutex = threading.Lock()

    @classmethod
    def enter(cls, path: Path) -> _LockFile:
        """Return the file of this process, opened if it is the first run that uses it."""
        key = os.getpid(), path.absolute()
        with _files_lock:
            if key not in _files:
                _files[key] = cls(path.absolute())
            _files[key].users += 1
            return _files[key]

    def leave(self) -> None:
        """Close the file after its last use, and remove it if no other process uses it."""
        with _files_lock:
            self.users -= 1
            if self.users:
                return
            del _files[os.getpid(), self.path]
            with suppress(OSError):
                alone = self._is_present() and self._set(_PRESENCE, fcntl.LOCK_EX) and not self.broken
                if alone and _is_at(self._descriptor, self.path):
                    self.path.unlink()  # a process that has just opened it will notice
            with suppress(OSError):
                os.close(self._descriptor)

    def lock_all(self, owner: object) -> bool:
        """Make the lock on the first byte exclusive, unless other processes or runs are active."""
        with self._mutex:
            if self._owner_of_all is not None:
                return self._owner_of_all == owner
            if self._owners or not self._is_present() or not self._set(_PRESENCE, fcntl.LOCK_EX):
                return False
            self._owner_of_all = owner
            return True

    def unlock_all(self, owner: object) -> None:
        """Make the lock on the first byte shared again."""
        with self._mutex:
            if self._owner_of_all == owner:
                self._owner_of_all = None
                self._set(_PRESENCE, fcntl.LOCK_SH)

    def lock(self, positions: list[int], owner: object) -> list[bool]:
        """Lock bytes, and return which of them this owner has now."""
        with self._mutex:
            if self._owner_of_all not in (None, owner) or not self._is_present():
                return [self.broken] * len(positions)
            return [self._lock_one(position, owner) for position in positions]

    def unlock(self, positions: Iterable[int]) -> None:
        """Unlock bytes."""
        with self._mutex:
            for position in positions:
                if self._owners.pop(position, None) is not None:
                    self._set(position, fcntl.LOCK_UN)

    def _lock_one(self, position: int, owner: object) -> bool:
        if position in self._owners:
            return self._owners[position] == owner
        if not self._set(position, fcntl.LOCK_EX):
            return False
        self._owners[position] = owner
        return True

    def _is_present(self) -> bool:
        """Return whether this process has entered; it cannot while another one has leased everything."""
        while not self._present:
            if not self._set(_PRESENCE, fcntl.LOCK_SH):
                return False
            if self.broken or _is_at(self._descriptor, self.path):
                self._present = True
            else:  # the last process to leave has removed it meanwhile
                os.close(self._descriptor)
                self._descriptor = -1
                self._open_again()
        return True

    def _open_again(self) -> None:
        try:
            self._descriptor = _open(self.path)
        except OSError:
            self.broken = True

    def _set(self, position: int, kind: int) -> bool:
        """Change the lock on a byte, and return False if another process has it; any other error ends the leases."""
        try:
            fcntl.lockf(self._descriptor, kind if kind == fcntl.LOCK_UN else kind | fcntl.LOCK_NB, 1, position)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            self.broken = True
        return True


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _position(key: Key) -> int:
    """Return the byte of a coalition; if two coalitions have the same one, a run waits for the wrong one."""
    coalition, draw = key
    return 1 + zlib.crc32(coalition, draw & 0xFFFFFFFF)


def _caller() -> tuple[int, int]:
    """Return the thread and the task of asyncio that call; a run within another one is not kept from its leases."""
    task = None
    if (asyncio := sys.modules.get("asyncio")) is not None:
        with suppress(RuntimeError):  # no running event loop
            task = asyncio.current_task()
    return threading.get_ident(), id(task)
