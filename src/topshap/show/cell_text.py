"""The value of a player in a row as short text, such as "age = 39"."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from topshap.show.labels import shorten

VALUE_LENGTH = 18
"""Values are cut to this many characters."""


def value_text(value: Any, length: int = VALUE_LENGTH) -> str:
    """Return a value as short text; empty if it is unknown.

    Examples
    --------
    >>> value_text(17.33333), value_text(39), value_text("Private"), value_text(None)
    ('17.33', '39', 'Private', '')
    """
    if value is None:
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.4g}"
    return shorten(str(value), length)


def with_value(name: str, value: Any) -> str:
    """Return the name of a player with its value.

    Examples
    --------
    >>> with_value("age", 39), with_value("blood", None)
    ('age = 39', 'blood')
    """
    text = value_text(value)
    return f"{name} = {text}" if text else name
