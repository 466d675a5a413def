"""The ledger: what has been paid for, at which value, and how much of the budget that took.

Nothing is ever evaluated twice: a coalition whose value is in the ledger is answered from it. What a repeated access
*costs* is a matter of counting. ``"distinct"`` charges a coalition once, since that is what a user pays. ``"calls"``
charges every access, as published comparisons do, except those to the empty and the grand coalition, which every
algorithm knows from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap import coalitions as co

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.typing import Coalitions, Values

Counting: TypeAlias = Literal["distinct", "calls"]


@dataclass(frozen=True, slots=True)
class Bill:
    """What a batch of accesses comes to: the rows the budget allows, and those of them that have no value yet."""

    keys: list[bytes]
    """The keys of the affordable rows: a prefix of the batch."""
    calls: int
    """How many of these accesses are charged when every access counts."""
    unpaid: dict[bytes, int]
    """The key and the row of every coalition that has to be evaluated, each once, in the asked order."""


class Ledger:
    """Values of coalitions, and the accesses and evaluations they took.

    Parameters
    ----------
    n_players
        The number of players.
    budget
        How much may be spent in all, None for no limit.
    counting
        Whether repeated accesses are free (``"distinct"``) or charged (``"calls"``).

    Examples
    --------
    >>> ledger = Ledger(n_players=2, budget=3)
    >>> bill = ledger.price(np.array([[True, False], [True, False], [False, True]]))
    >>> ledger.enter(bill, np.array([0.5, 0.25]))
    array([0.5 , 0.5 , 0.25])
    >>> ledger.evaluations, ledger.calls, ledger.remaining
    (2, 3, 1)
    """

    def __init__(self, n_players: int, budget: int | None = None, counting: Counting = "distinct") -> None:
        self.n_players = n_players
        self.budget = budget
        self.counting = counting
        self.calls = 0
        self._values: dict[bytes, float] = {}
        ends = co.keys(np.array([[False] * n_players, [True] * n_players]))
        self._free_once_known = frozenset(ends)

    @property
    def evaluations(self) -> int:
        """How many distinct coalitions have been paid for."""
        return len(self._values)

    @property
    def spent(self) -> int:
        """How much of the budget is gone."""
        return self.calls if self.counting == "calls" else self.evaluations

    @property
    def remaining(self) -> int | None:
        """How much of the budget is left, None without a limit."""
        return None if self.budget is None else self.budget - self.spent

    @property
    def complete(self) -> bool:
        """Whether the value of every coalition is known."""
        return len(self._values) == 2**self.n_players

    def price(self, coalitions: Coalitions) -> Bill:
        """Return what these accesses would come to, cut where the budget ends."""
        keys = co.keys(coalitions)
        known = self._values
        unpaid: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in known and key not in unpaid:
                unpaid[key] = row
        if self.counting == "calls":
            return self._price_calls(keys, unpaid)
        remaining = self.remaining
        if remaining is not None and len(unpaid) > remaining:
            affordable = dict(list(unpaid.items())[:remaining])
            first_too_dear = list(unpaid.values())[remaining]
            return Bill(keys[:first_too_dear], self._charged(keys[:first_too_dear]), affordable)
        return Bill(keys, self._charged(keys), unpaid)

    def _price_calls(self, keys: list[bytes], unpaid: dict[bytes, int]) -> Bill:
        charged = self._charged(keys)
        remaining = self.remaining
        while remaining is not None and charged > remaining:
            # One row too many at a time would be slow for a large batch; the excess is a lower bound of the cut.
            keys = keys[: len(keys) - (charged - remaining)]
            charged = self._charged(keys)
        return Bill(keys, charged, {key: row for key, row in unpaid.items() if row < len(keys)})

    def _charged(self, keys: list[bytes]) -> int:
        free = sum(key in self._values for key in keys if key in self._free_once_known)
        return len(keys) - free

    def enter(self, bill: Bill, values: Values) -> Values:
        """Take the values of the unpaid coalitions and return those of all rows of the bill."""
        if bill.unpaid:
            self._values.update(zip(bill.unpaid, values.tolist(), strict=True))
        self.calls += bill.calls
        look_up = self._values
        return np.array([look_up[key] for key in bill.keys], dtype=np.float64)

    def look_up(self, coalitions: Coalitions) -> Values:
        """Return the values of coalitions that are all known; a KeyError otherwise."""
        look_up = self._values
        return np.array([look_up[key] for key in co.keys(coalitions)], dtype=np.float64)

    def table(self) -> Values:
        """Return the complete table of a game all of whose coalitions are known, ordered by coalition id."""
        ids = np.arange(2**self.n_players)
        blocks: Sequence[Values] = [
            self.look_up(co.from_ids(block, self.n_players)) for block in np.array_split(ids, max(1, len(ids) >> 16))
        ]
        return np.concatenate(blocks)
