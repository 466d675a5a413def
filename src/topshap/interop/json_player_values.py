"""The values of players in the explained input, in JSON files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.player_values import plain_value

if TYPE_CHECKING:
    from topshap.core.player_values import PlayerValue


def written_value(value: PlayerValue) -> Any:
    """Return the value of a player for a file; an object with a string stands for a number that JSON does not have.

    Examples
    --------
    >>> written_value(39), written_value(float("nan")), written_value("nan")
    (39, {'number': 'nan'}, 'nan')
    """
    return {"number": str(value)} if isinstance(value, float) and not np.isfinite(value) else value


def read_player_values(value: Any, n: int) -> tuple[PlayerValue, ...]:
    """Return n values from a file; raise a ValueError if one is invalid.

    Examples
    --------
    >>> read_player_values([39, "Private", {"number": "nan"}, None], 4)
    (39, 'Private', nan, None)
    """
    if not isinstance(value, list) or len(value) != n:
        raise ValueError
    return tuple(map(_read, value))


def _read(value: Any) -> PlayerValue:
    if isinstance(value, dict) and len(value) == 1 and value.get("number") in ("nan", "inf", "-inf"):
        return float(value["number"])
    # Neither a list or an object, nor an int of hundreds of digits.
    if not (value is None or type(value) in (bool, int, float, str)) or type(plain_value(value)) is not type(value):
        raise ValueError
    return plain_value(value)
