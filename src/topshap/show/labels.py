"""The players that plots and reports show, and the labels they get."""

from __future__ import annotations

import math
from numbers import Real
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.pairs import TIMES, pair_at, pair_name
from topshap.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.core.typing import Players

NAME_LENGTH = 28
"""Names are cut to this many characters where space is short."""
VALUE_LENGTH = 14
"""Values are cut to this many characters."""


def shown_ranks(n_players: int, k: int, most: int) -> Players:
    """Return at most `most` ranks to show, counted from 0: the first ones, and always those around the border.

    Examples
    --------
    >>> shown_ranks(n_players=5, k=2, most=8)
    array([0, 1, 2, 3, 4])
    >>> shown_ranks(n_players=1000, k=100, most=8)
    array([  0,   1,   2,   3,  98,  99, 100, 101])
    """
    if n_players <= most:
        return np.arange(n_players)
    below = min(n_players - k, max(1, most // 4))
    if k + below <= most:
        return np.arange(most)
    return np.concatenate([np.arange(most - 2 * below), np.arange(k - below, k + below)])


def around_border(n_players: int, k: int, most: int) -> Players:
    """Return at most `most` consecutive ranks, counted from 0, with the border of the top k in the middle if possible.

    Examples
    --------
    >>> around_border(n_players=1000, k=100, most=6)
    array([ 97,  98,  99, 100, 101, 102])
    >>> around_border(n_players=1000, k=1, most=6)
    array([0, 1, 2, 3, 4, 5])
    """
    start = min(max(0, k - most // 2), max(0, n_players - most))
    return np.arange(start, min(n_players, start + most))


def name_of(found: TopK | Race, player: int) -> str:
    """Return a player's name, or that of a pair; indices as text if the players have no names."""
    if found.order == 2:
        return pair_name(player, found.n_players, found.player_names)
    return str(player) if found.player_names is None else found.player_names[player]


def short_names(found: TopK | Race, players: Iterable[int], length: int = NAME_LENGTH) -> list[str]:
    """Return the names of players that are shown together, cut such that they stay different; of pairs, both names.

    Examples
    --------
    >>> import topshap
    >>> race = topshap.Race(3, 1, order=2, player_names=["income of the household", "rooms", "distance to a station"])
    >>> short_names(race, range(3), 20)
    ['income o…old x rooms', 'incom…ld x dista…on', 'rooms x distance…ion']
    """
    if found.order == 1:
        return shorten_all((name_of(found, player) for player in players), length)
    names = found.player_names or tuple(map(str, range(found.n_players)))
    pairs = (pair_at(int(player), found.n_players) for player in players)
    return [_short_pair(names[first], names[second], length) for first, second in pairs]


def _short_pair(first: str, second: str, length: int) -> str:
    """Return the name of a pair, in which the longer name is cut first."""
    lines = [on_one_line(first), on_one_line(second)]
    room = max(2, length - len(TIMES))
    rooms = [max(room // 2, room - len(other)) for other in reversed(lines)]
    return TIMES.join(shorten(line, most) for line, most in zip(lines, rooms, strict=True))


def value_text(value: Any, length: int = VALUE_LENGTH) -> str:
    r"""Return the value of a player as short text on one line; empty if it is None.

    Examples
    --------
    >>> [value_text(value) for value in (39.0, 0.0380759, 123456.7, True, None, "Private\n", "", 10**40)]
    ['39', '0.03808', '123457', 'True', '', 'Private\\n', "''", '1e+40']
    """
    if value is None:
        return ""
    number = float(value) if type(value) is not bool and isinstance(value, Real) else math.nan
    if not math.isfinite(number):
        line = " ".join(printable(str(value)[: 50 * length]).split())
        return shorten(line, length) if line else "''"
    if number.is_integer() and abs(number) < 1e12:
        return str(int(number))
    return f"{number:.6g}" if 1e4 <= abs(number) < 1e6 else f"{number:.4g}"


def with_value(name: str, value: str) -> str:
    """Return a name and the text of its value, such as "age = 39"; the name alone if there is no value."""
    return f"{name} = {value}" if value else name


def labels_of(top: TopK, players: Iterable[int], length: int = NAME_LENGTH) -> list[str]:
    """Return the labels of players that are shown together: names and values, cut to `length` characters.

    Where players have values, there is room for six more characters. Pairs are shown without values.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.Explainer(lambda X: X.sum(axis=1), [[0, 0]], feature_names=["age", "x"]).explain([39, 1.5], k=1)
    >>> labels_of(top, [0, 1])
    ['age = 39', 'x = 1.5']
    """
    chosen = list(players)
    if top.player_values is None or top.order == 2:
        return short_names(top, chosen, length)
    names = [name_of(top, player) for player in chosen]
    values = [value_text(top.player_values[player], max(VALUE_LENGTH, length // 2)) for player in chosen]
    longest = max((len(with_value("", value)) for value in values), default=0)
    room = max(length + 6 - longest, length // 2)
    return [with_value(*pair) for pair in zip(shorten_all(names, room), values, strict=True)]


def on_one_line(name: str) -> str:
    r"""Return a name without unnecessary spaces, and with its control characters escaped.

    Examples
    --------
    >>> print(on_one_line("tri\nglycerides  \x1b[2J"), on_one_line(" "))
    tri\nglycerides \x1b[2J (no name)
    """
    return " ".join(printable(name).split()) or "(no name)"


def shorten(name: str, length: int = NAME_LENGTH) -> str:
    """Return a name on one line, cut in the middle if it is long, since endings often distinguish names.

    Examples
    --------
    >>> shorten("distance to the nearest station, 2019", 20)
    'distance to t…, 2019'
    """
    line = on_one_line(name)
    if len(line) <= length:
        return line
    tail = (length - 1) // 3
    return f"{line[: length - 1 - tail].rstrip()}…{line[len(line) - tail :].lstrip()}"


def shorten_all(names: Iterable[str], length: int = NAME_LENGTH) -> list[str]:
    """Return names that are shown together, cut such that they stay different if possible.

    Examples
    --------
    >>> shorten_all(["income of the household", "rooms"], 16)
    ['income of…ehold', 'rooms']
    >>> shorten_all(["column number 15 of the long list", "column number 16 of the long list"], 16)
    ['…15 of the…list', '…16 of the…list']
    """
    lines = [on_one_line(name) for name in names]
    short = [shorten(line, length) for line in lines]
    long = [i for i, line in enumerate(lines) if len(line) > length]
    alike = [i for i in long if short.count(short[i]) > 1]
    # If all long names share a beginning, it is cut from all of them, so that they can still be compared.
    for group in (long, alike) if alike else ():
        shared = commonprefix([lines[i] for i in group])  # noqa: RUF071 - names, not paths
        start = len(shared.rstrip("".join(filter(str.isalnum, shared))))  # back to where a word begins
        if start > 0:
            for i in group:
                short[i] = shorten("…" + lines[i][start:], length)
            break
    return short
