"""What topshap raises: one small hierarchy, so that a caller may catch all of it or one kind.

Every exception is a `TopshapError` and also the built-in kind it is closest to.
"""

from __future__ import annotations


class TopshapError(Exception):
    """The root of every exception that topshap raises on purpose."""


class ParameterError(TopshapError, ValueError):
    """A parameter has a value that cannot be used; the message says which and what would be right."""


class GameError(TopshapError, ValueError):
    """A game returned something that is no value: NaN, an infinity, the wrong shape, no number."""


class RaceError(TopshapError, RuntimeError):
    """`Race.ask`, `Race.tell` and `Race.result` were called in an order that makes no sense."""
