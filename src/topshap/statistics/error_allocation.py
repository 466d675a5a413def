"""Allocation of the allowed error probability to pairs of players that all have to be in the right order.

A set of players is wrong if one pair across its border is. A union bound gives each of the m pairs the level delta / m,
as if all were equally likely to be wrong. But most pairs are far apart, and only the few next to the border matter. The
tail of a pair is the level at which it would just pass. With levels in proportion to the tails, all pairs pass as soon
as the tails add up to delta. A single close pair gets all of delta; m equally close pairs get delta / m each.

The levels depend on the data, so this is not a union bound in the strict sense. Simulations in the normal model (see
the tests) show that a wrong set passes most often if exactly two players tie, and then with probability delta, since
that pair alone has to show a difference of the wrong sign at level delta. Further ties make it rarer.

If it is known that one of at most q statements is wrong whenever any is (see `contrasts.most_errors`), but not which
ones, then only the q largest tails have to add up to delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix

EQUAL_SHARE = 0.01
"""The fraction of the level that is shared equally, so that no pair has to be certain."""


def levels_by_tails(tails: Matrix, level: float, most: int | None = None) -> Matrix:
    """Return one level per statement; they add up to `level`, or those of any `most` statements to at most `level`.

    Parameters
    ----------
    tails
        The level at which each statement would just pass.
    level
        The allowed probability that any of them is wrong.
    most
        The number of statements that may be wrong, None for all.

    Examples
    --------
    >>> levels_by_tails(np.array([0.03, 0.01, 0.0]), 0.1).round(4)
    array([0.0746, 0.0251, 0.0003])
    >>> levels_by_tails(np.array([0.03, 0.01, 0.0]), 0.1, most=1).round(4)
    array([0.1  , 0.034, 0.001])
    """
    limited = most is not None and most < tails.size
    total = float(np.partition(tails, -most, axis=None)[-most:].sum() if limited and most else tails.sum())
    equal = level / max(min(tails.size, most or tails.size), 1)
    if total <= 0.0:
        return np.full_like(tails, equal)
    return (1.0 - EQUAL_SHARE) * level * tails / total + EQUAL_SHARE * equal
