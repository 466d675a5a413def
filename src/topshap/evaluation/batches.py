"""Cutting what is asked into batches: all workers busy, memory bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cut(
    rows: int,
    n_players: int,
    *,
    workers: int,
    batch_size: int | None,
    max_batch_bytes: int,
) -> list[NDArray[np.intp]]:
    """Return the rows of each batch: as few batches as give every worker one, and none larger than it may be.

    Examples
    --------
    >>> [len(batch) for batch in cut(100, 14, workers=2, batch_size=None, max_batch_bytes=2**24)]
    [50, 50]
    >>> [len(batch) for batch in cut(100, 14, workers=2, batch_size=30, max_batch_bytes=2**24)]
    [25, 25, 25, 25]
    """
    most = max(1, max_batch_bytes // n_players)
    if batch_size is not None:
        most = min(most, batch_size)
    most = min(most, -(-rows // workers))
    batches = -(-rows // max(1, most))
    batches = min(rows, -(-batches // workers) * workers)
    return np.array_split(np.arange(rows), batches) if rows else []
