"""``k="clear"``: races that choose k themselves, at a clear gap between two ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from topshap.core.validation import check_int, refuse
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from topshap.core.standing import Standing

HowMany: TypeAlias = int | Literal["clear"]
"""The number of players to find, or ``"clear"`` for a number that the race chooses at a clear gap."""
_NEARLY_EQUAL = 1.0 - 1e-9
"""Gaps above this fraction of the widest are as wide, up to rounding."""


@runtime_checkable
class SizedStanding(Protocol):
    """A standing whose algorithm chooses k."""

    size: int
    """The number of players before the gap that is the closest to being clear."""


def is_clear(k: Any) -> bool:
    """Return whether k is ``"clear"``."""
    return isinstance(k, str) and k == "clear"


def check_k(k: Any, n: int, *, stops_by_itself: bool) -> int:
    """Return k as an int; for ``"clear"`` it is 1 at first, if the race stops by itself."""
    if not is_clear(k):
        return check_int("k", k, low=1, high=n)
    if n == 1:
        refuse("k", k, must_be="1 in a game with one player")
    if not stops_by_itself:
        must_be = f"an int in [1, {n}] without 'epsilon', which is the smallest gap that counts"
        refuse("k", k, must_be=must_be, hint=" TopK.stable_ranks shows after a run which sizes are beyond doubt.")
    return 1


def chosen_size(standing: Standing) -> int:
    """Return the k that a race with ``k="clear"`` has chosen so far: by the algorithm, or the size of the widest gap.

    Examples
    --------
    >>> from topshap.core.standing import FittedStanding
    >>> chosen_size(FittedStanding(np.arange(4), np.array([1.0, 8.0, 7.0, 0.0])))
    2
    """
    if isinstance(standing, SizedStanding):
        return standing.size
    ranked = rank_key(standing.estimates, standing.rank_by)[standing.ranking()]
    gaps = ranked[:-1] - ranked[1:]
    return int(np.argmax(gaps >= _NEARLY_EQUAL * gaps.max())) + 1
