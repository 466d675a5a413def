"""Splitting coalitions into batches that keep all workers busy and memory bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def max_rows(n_players: int, batch_size: int | None, max_batch_bytes: int) -> int:
    """Return the largest number of coalitions in one call of a game.

    Examples
    --------
    >>> max_rows(14, batch_size=None, max_batch_bytes=100)
    7
    """
    rows = max(1, max_batch_bytes // n_players)
    return rows if batch_size is None else min(rows, batch_size)


def split_batch(
    rows: int,
    n_players: int,
    *,
    workers: int,
    batch_size: int | None,
    max_batch_bytes: int,
) -> list[NDArray[np.intp]]:
    """Return the rows of each batch: as few batches as give every worker one, and none above its maximum size.

    Examples
    --------
    >>> [len(batch) for batch in split_batch(100, 14, workers=2, batch_size=None, max_batch_bytes=2**24)]
    [50, 50]
    >>> [len(batch) for batch in split_batch(100, 14, workers=2, batch_size=30, max_batch_bytes=2**24)]
    [25, 25, 25, 25]
    """
    if rows == 0:
        return []
    largest = min(max_rows(n_players, batch_size, max_batch_bytes), -(-rows // workers))
    batches = -(-rows // largest)
    batches = min(rows, -(-batches // workers) * workers)
    return np.array_split(np.arange(rows), batches)
