"""The value of each player in a row: the cell of its column, or the category of its one-hot columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
            hot = _hot_columns(own.columns(columns), background.columns(columns))[0]
            values.append(None if hot < 0 else _without_group(str(groups.labels[columns[hot]]), name))
    return tuple(values)


def table_of_players(own: Table, background: Table, groups: PlayerGroups) -> NDArray[Any]:
    """Return the value of each player in each row of a table, shape (rows, players); see `values_of_players`.

    Examples
    --------
    >>> from topshap.games.base import PlayerGroups
    >>> from topshap.games.tables import as_table
    >>> groups = PlayerGroups(["age", "city_Graz", "city_Wien"], {"city": ["city_Graz", "city_Wien"]})
    >>> rows = as_table("X", [[39, 0, 1], [25, 1, 0]])
    >>> table_of_players(rows, rows, groups).tolist()
    [[39.0, 'Wien'], [25.0, 'Graz']]
    """
    columns = []
    for player, name in enumerate(groups.player_names or ()):
        positions = np.flatnonzero(groups.player_of == player)
        if len(positions) == 1:
            columns.append(own.column(int(positions[0])))
            continue
        labels = [*(_without_group(str(groups.labels[j]), name) for j in positions), None]  # -1 is the last one
        hot = _hot_columns(own.columns(positions), background.columns(positions))
        columns.append(np.array(labels, dtype=object)[hot])
    numeric = all(column.dtype.kind in "biuf" for column in columns)
    table = np.empty((own.n_rows, len(columns)), dtype=np.float64 if numeric else object)
    for player, column in enumerate(columns):
        table[:, player] = column
    return table


def _hot_columns(own: Table, background: Table) -> Players:
    """Return the position of the only 1 in each row of one-hot columns; -1 if the columns are not one-hot."""
    columns = [np.concatenate([own.column(j), background.column(j)]) for j in range(len(own.labels))]
    if any(column.dtype == object or not np.isin(column, (0.0, 1.0)).all() for column in columns):
        return np.full(own.n_rows, -1)
    is_one = np.stack([column == 1.0 for column in columns], axis=1)
    ones = is_one.sum(axis=1)
    if ones[own.n_rows :].max(initial=0) > 1:
        return np.full(own.n_rows, -1)
    return np.where(ones[: own.n_rows] == 1, is_one[: own.n_rows].argmax(axis=1), -1)


def _without_group(label: str, group: str) -> str:
    """Return the label of a one-hot column without the name of its group: "city_Wien" is "Wien"."""
    rest = label.removeprefix(group)
    shorter = rest.lstrip("_-=:. ")
    return shorter if rest != label and shorter and shorter != rest else label
