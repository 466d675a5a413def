"""The value of each player in a row: the cell of its column, or the category of its one-hot columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Players
    from topshap.games.base import PlayerGroups
    from topshap.games.tables import Table


def values_of_players(own: Table, background: Table, groups: PlayerGroups) -> tuple[Any, ...]:
    """Return the value of each player in a table of one row.

    It is the cell of a player's only column. A group of one-hot columns (at most one of them is 1 in each row of the
    background, and exactly one in the row, all others are 0) has the label of the column with a 1, without the name of
    the group in front. Any other group has the value None.

    Examples
    --------
    >>> from topshap.games.base import PlayerGroups
    >>> from topshap.games.tables import as_table
    >>> groups = PlayerGroups(["age", "city_Graz", "city_Wien"], {"city": ["city_Graz", "city_Wien"]})
    >>> rows = as_table("X", [[39, 0, 1], [25, 1, 0]])
    >>> values_of_players(rows.rows(np.array([0])), rows, groups)
    (39, 'Wien')
    """
    cells = own.cells()
    values: list[Any] = []
    for player, name in enumerate(groups.player_names or ()):
        columns = np.flatnonzero(groups.player_of == player)
        if len(columns) == 1:
            values.append(cells[columns[0]])
        else:
            hot = _hot_column(own.columns(columns), background.columns(columns))
            values.append(None if hot is None else _without_group(str(groups.labels[columns[hot]]), name))
    return tuple(values)


def _hot_column(own: Table, background: Table) -> int | None:
    """Return the position of the only 1 in a row of one-hot columns; None if the columns are not one-hot."""
    ones: Players = np.zeros(background.n_rows, dtype=np.intp)
    hot = []
    for j in range(len(own.labels)):
        values = np.concatenate([own.column(j), background.column(j)])
        if values.dtype == object or not np.isin(values, (0.0, 1.0)).all():
            return None
        ones += values[1:] == 1.0
        if values[0] == 1.0:
            hot.append(j)
    return hot[0] if len(hot) == 1 and ones.max() <= 1 else None


def _without_group(label: str, group: str) -> str:
    """Return the label of a one-hot column without the name of its group: "city_Wien" is "Wien"."""
    rest = label.removeprefix(group)
    shorter = rest.lstrip("_-=:. ")
    return shorter if rest != label and shorter and shorter != rest else label
