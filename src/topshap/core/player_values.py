"""The values of players in an explained input, such as 39 for the player "age", as plain Python objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from topshap.core.validation import refuse

PlayerValue: TypeAlias = bool | int | float | str | None
"""The value of a player; None if it is unknown or if the player has no single value."""

_LONGEST_INT = 1000
"""The length of the largest int that is kept as a number, in bits."""


def plain_value(value: Any) -> PlayerValue:
    """Return a value as None, a bool, an int, a float or a string; any other object as the text it prints.

    Examples
    --------
    >>> plain_value(np.float64(1.5)), plain_value(np.datetime64("2024-05-01")), plain_value(["a", 1])
    (1.5, '2024-05-01', "['a', 1]")
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:  # longer ones can be neither printed nor read from a file
        return value if value.bit_length() <= _LONGEST_INT else f"int of {value.bit_length()} bits"
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the object may be of any class
        return type(value).__name__


def check_player_values(values: Any, n_players: int) -> tuple[PlayerValue, ...] | None:
    """Return one plain value per player, None if there are none."""
    if values is None:
        return None
    as_tuple = () if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if len(as_tuple) != n_players:
        refuse("player_values", values, must_be=f"one value for each of the {n_players} players")
    return tuple(map(plain_value, as_tuple))
