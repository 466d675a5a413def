"""StableRanks: the leading ranks and the set sizes of a result that are beyond doubt."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.printable import printable
from topshap.core.validation import check_probability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.typing import Values

_NAMED = 5
"""The maximum number of players or sizes that are listed in the text."""


@dataclass(frozen=True, eq=False)
class StableRanks:
    """The leading ranks and the set sizes of a result that are beyond doubt, from `TopK.stable_ranks`.

    These are two statements, and each of them is right with probability at least `level`: that the first `count`
    players are in the right order and ahead of all others, and that for every k in `sizes` the leading k players are
    the true top k. Ranks are verified in order, which takes no correction for their number. Sizes are corrected for
    their number, n - 1, so that you can choose one afterwards. If a single size was chosen before the run, its p-value
    needs no correction: it is verified if ``p_values[k - 1] <= 1 - level``.

    Both assume normal estimates with the result's covariance (see `topshap.statistics.rank_verification`). They do not
    correct for a run that stopped when its own estimates looked certain, nor for intervals that are too narrow (see
    `TopK.rare_contributions`). Ties are never beyond doubt, except by such an error.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 0.0, 1.0])
    >>> stable = topshap.identify(game, k=2, player_names=["age", "sex", "bmi", "bp"], random_state=0).stable_ranks()
    >>> print(stable)
    Beyond doubt at level 95%: rank 1 (age); the top 1 and 3.
    >>> stable.count, stable.sizes, stable.p_values
    (1, (1, 3), array([0., 1., 0.]))
    """

    count: int
    """The number of leading ranks that are verified; all n if the order of all players is."""
    sizes: tuple[int, ...]
    """The set sizes k from 1 to n - 1 whose border is verified."""
    level: float
    """The probability with which each of both statements is right, at least."""
    p_values: Values = field(repr=False)
    """The p-value of the border of each size from 1 to n - 1, not corrected for their number."""
    names: tuple[str, ...]
    """The names of the players with verified ranks, best first."""

    def __post_init__(self) -> None:
        self.p_values.flags.writeable = False

    @classmethod
    def of(cls, p_values: Values, level: float, ranked_names: Iterable[str]) -> StableRanks:
        """Return the ranks and sizes that p-values verify, given the names of all players, best first.

        Examples
        --------
        >>> StableRanks.of(np.array([0.01, 0.03, 0.2]), 0.95, "abcd")
        StableRanks(count=2, sizes=(1,), level=0.95, names=('a', 'b'))
        """
        doubt = 1.0 - check_probability("level", level)
        failed = np.flatnonzero(p_values > doubt)
        count = int(failed[0]) if len(failed) else len(p_values) + 1
        sizes = np.flatnonzero(p_values * len(p_values) <= doubt) + 1
        return cls(count, tuple(sizes.tolist()), level, p_values, tuple(islice(ranked_names, count)))

    def __str__(self) -> str:
        """Return both statements as text."""
        sure = f"at level {100.0 * self.level:.12g}%"
        if not self.count and not self.sizes:
            return f"No rank and no top set is beyond doubt {sure}."
        ranks = {0: "no rank", 1: "rank 1"}.get(self.count, f"ranks 1 to {self.count}")
        names = f" ({_listed([printable(name) for name in self.names])})" if self.names else ""
        sets = f"the top {_listed([str(k) for k in self.sizes])}" if self.sizes else "no set size"
        return f"Beyond doubt {sure}: {ranks}{names}; {sets}."


def _listed(words: list[str]) -> str:
    """Return words as a list in a sentence, of bounded length."""
    if len(words) > _NAMED:
        words = [*words[: _NAMED - 1], f"{len(words) - _NAMED + 1} more"]
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
