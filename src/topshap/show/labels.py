"""The players that plots and reports show, and the labels they get."""

from __future__ import annotations

from os.path import commonprefix
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.race import Race
    from topshap.core.result import TopK
    from topshap.core.typing import Players

NAME_LENGTH = 28
"""Names are cut to this many characters where space is short."""


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
    """Return a player's name; its index as text if the players have no names."""
    return str(player) if found.player_names is None else found.player_names[player]


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
