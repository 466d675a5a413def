"""How the allowed error is shared among the pairs of players that all have to be right.

A set of players is wrong if one pair across its border is. A union bound gives each of the m pairs the level delta / m,
as if each were as likely as any other to go wrong. Most are not: they are far apart, and the few next to the border
decide. The tail of a pair is the level at which it would just pass, so giving pairs levels in proportion to their
tails lets all of them pass as soon as the tails add up to delta. With one pair in doubt it gets all of delta, with m
alike each gets delta / m.

The levels depend on the data, so this is no union bound in the strict sense. What it comes to was drawn in the normal
model (see the tests): a wrong set passes most often if just two players tie, and then with the probability delta, since
that pair alone has to show a difference of the wrong sign at the level delta. Further ties make it rarer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix

SHARED_ALIKE = 0.01
"""The part of the level that goes to all pairs alike, so that none has to be certain."""


def levels_by_tails(tails: Matrix, level: float) -> Matrix:
    """Return a level for each statement, which add up to `level`.

    Parameters
    ----------
    tails
        For each statement the level at which it would just pass.
    level
        The probability with which any of them may be wrong.

    Examples
    --------
    >>> levels_by_tails(np.array([0.03, 0.01, 0.0]), 0.1).round(4)
    array([0.0746, 0.0251, 0.0003])
    """
    total = float(tails.sum())
    alike = level / max(tails.size, 1)
    if total <= 0.0:
        return np.full_like(tails, alike)
    return (1.0 - SHARED_ALIKE) * level * tails / total + SHARED_ALIKE * alike
