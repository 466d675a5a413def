"""The value of a player in a row as short text, such as "age = 39"."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from topshap.show.labels import shorten

VALUE_LENGTH = 18
"""Values are cut to this many characters."""


def value_text(value: Any, length: int = VALUE_LENGTH) -> str:
    """Return a value as short text on one line; empty if it is None.

    Examples
    --------
    >>> [value_text(value) for value in (39.0, 0.0380759, 123456.7, True, None, "Private")]
    ['39', '0.03808', '123457', 'True', '', 'Private']
    """
    if value is None:
        return ""
    number = float(value) if type(value) is not bool and isinstance(value, Real) else math.nan
    if not math.isfinite(number):
        return shorten(str(value), length)
    if number.is_integer() and abs(number) < 1e12:
        return str(int(number))
    return f"{number:.6g}" if 1e4 <= abs(number) < 1e6 else f"{number:.4g}"


def with_value(name: str, value: str) -> str:
    """Return a name and the text of its value; the name alone if there is no value.

    Examples
    --------
    >>> with_value("age", "39"), with_value("blood", "")
    ('age = 39', 'blood')
    """
    return f"{name} = {value}" if value else name
