"""Ctrl-C between two steps instead of within one, so that what is looked at afterwards is whole."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def undivided() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block; pressed twice it does not wait.

    Where somebody else handles it, and outside the main thread, nothing is changed.

    Examples
    --------
    >>> steps = []
    >>> try:
    ...     with undivided():
    ...         signal.raise_signal(signal.SIGINT)
    ...         steps.append("whole")
    ... except KeyboardInterrupt:
    ...     steps.append("interrupted")
    >>> steps
    ['whole', 'interrupted']
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield
        return
    pressed = []

    def later(number: int, frame: Any) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if pressed:
        raise KeyboardInterrupt
