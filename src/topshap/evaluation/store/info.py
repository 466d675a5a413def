"""The summary of a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from topshap.evaluation.store.identity import Identity


@dataclass(frozen=True)
class StoreInfo:
    """A summary of a store.

    Attributes
    ----------
    path
        The path of the file.
    identity
        The identity of the game.
    created
        The time of creation, as text in UTC.
    evaluations
        The number of values.
    coalitions
        The number of distinct coalitions.
    size
        The size of the file in bytes.
    """

    path: Path
    identity: Identity
    created: str
    evaluations: int
    coalitions: int
    size: int
