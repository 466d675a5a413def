"""Ctrl-C between two steps of a run instead of within one, so that its state stays consistent."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Undivided:
    """A context manager that defers Ctrl-C to the end of its block; pressed a second time, it takes effect at once.

    It only sets a flag, so that it may be entered for every batch. `deferred_interrupts` installs the signal handler.
    """

    def __init__(self) -> None:
        self.previous_handler: Callable[[int, Any], Any] = signal.default_int_handler
        self._active = self._pressed = False

    def __enter__(self) -> None:
        self._active = True

    def __exit__(self, kind: object, *_: object) -> None:
        self._active = False
        if self._pressed:
            self._pressed = False
            if kind is None:
                raise KeyboardInterrupt

    def handle(self, number: int, frame: Any) -> None:
        """Handle SIGINT."""
        if self._active and not self._pressed:
            self._pressed = True
        else:
            self.previous_handler(number, frame)


@contextmanager
def deferred_interrupts() -> Iterator[Undivided]:
    """Handle SIGINT while this block runs, and yield the context manager for steps that must not be divided.

    Outside the main thread, and where the application handles SIGINT itself, nothing is deferred.

    Examples
    --------
    >>> steps = []
    >>> with deferred_interrupts() as undivided:
    ...     try:
    ...         with undivided:
    ...             signal.raise_signal(signal.SIGINT)
    ...             steps.append("whole")
    ...     except KeyboardInterrupt:
    ...         steps.append("interrupted")
    >>> steps
    ['whole', 'interrupted']
    """
    undivided = Undivided()
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not _may_replace(previous):
        yield undivided
        return
    handler = undivided.handle
    undivided.previous_handler = previous  # type: ignore[assignment]  # a function, see `_may_replace`
    signal.signal(signal.SIGINT, handler)
    try:
        yield undivided
    finally:
        if signal.getsignal(signal.SIGINT) is handler:  # otherwise somebody else has replaced it in the meantime
            signal.signal(signal.SIGINT, previous)


def _may_replace(handler: Any) -> bool:
    """Return whether a handler is Python's own, or that of an outer run: a game may call `identify` itself."""
    return handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Undivided)
