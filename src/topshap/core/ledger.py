"""The ledger: the values that have been evaluated, and the part of the budget they took.

Nothing is evaluated twice: a coalition whose value is in the ledger is answered from it. The *cost* of a repeated
access depends on the counting. ``"distinct"`` charges a coalition once, as a user pays for it. ``"calls"`` charges
every access, as published comparisons do, except those to the empty and the grand coalition, which every algorithm
knows from the start.

If the values of a game vary from call to call, every access is a new evaluation that is charged, and nothing is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from topshap.core import coalitions as co

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.core.typing import Coalitions, Values

Counting: TypeAlias = Literal["distinct", "calls"]


class Bill(NamedTuple):
    """The cost of a batch of accesses: the rows that the budget covers, and those of them without a value."""

    keys: list[bytes]
    """The keys of the affordable rows: a prefix of the batch."""
    calls: int
    """The number of these accesses that are charged when every access counts."""
    unpaid: Sequence[int]
    """The rows that have to be evaluated, in order."""


class Ledger:
    """Values of coalitions, and the accesses and evaluations they took.

    Parameters
    ----------
    n_players
        The number of players.
    budget
        The budget, None for no limit.
    counting
        Whether repeated accesses are free (``"distinct"``) or charged (``"calls"``).
    deterministic
        Whether a coalition has the same value every time.

    Examples
    --------
    >>> ledger = Ledger(n_players=2, budget=3)
    >>> bill = ledger.price(np.array([[True, False], [True, False], [False, True]]))
    >>> ledger.enter(bill, np.array([0.5, 0.25]))
    array([0.5 , 0.5 , 0.25])
    >>> ledger.evaluations, ledger.calls, ledger.remaining
    (2, 3, 1)
    """

    def __init__(
        self,
        n_players: int,
        budget: int | None = None,
        counting: Counting = "distinct",
        *,
        deterministic: bool = True,
    ) -> None:
        self.n_players = n_players
        self.budget = budget
        self.counting = counting
        self.deterministic = deterministic
        self.calls = 0
        self.evaluations = 0
        """The number of evaluations; in a deterministic game the number of distinct coalitions."""
        self.shape: tuple[int, ...] = ()
        """The shape of a coalition's value: () for a number, (R,) in a game with R outputs."""
        self._values: dict[bytes, Any] = {}
        self._ends = frozenset(co.keys(np.array([[False] * n_players, [True] * n_players])))

    @property
    def spent(self) -> int:
        """The part of the budget that is spent."""
        return self.calls if self.counting == "calls" else self.evaluations

    @property
    def remaining(self) -> int | None:
        """The part of the budget that is left, None without a limit."""
        return None if self.budget is None else self.budget - self.spent

    @property
    def complete(self) -> bool:
        """Whether the value of every coalition is known; never in a game whose values vary."""
        return self.deterministic and len(self._values) == 2**self.n_players

    def price(self, coalitions: Coalitions) -> Bill:
        """Return the cost of these accesses, cut at the first one that the budget does not cover."""
        keys = co.keys(coalitions)
        left = len(keys) if self.budget is None else self.budget - self.spent
        if not self.deterministic:
            keys = keys[:left]
            return Bill(keys, len(keys), range(len(keys)))
        if len(keys) <= left:
            fresh = set(keys).difference(self._values)
            if len(fresh) == len(keys):  # the usual case: every coalition is new
                return Bill(keys, len(keys), range(len(keys)))
        return self._price_one_by_one(keys, left)

    def _price_one_by_one(self, keys: list[bytes], left: int) -> Bill:
        known, ends, every_call = self._values, self._ends, self.counting == "calls"
        fresh_keys: set[bytes] = set()
        unpaid: list[int] = []
        calls = 0
        for row, key in enumerate(keys):
            fresh = key not in known and key not in fresh_keys
            call = fresh or key not in ends
            if call if every_call else fresh:
                if left == 0:
                    return Bill(keys[:row], calls, unpaid)
                left -= 1
            calls += call
            if fresh:
                fresh_keys.add(key)
                unpaid.append(row)
        return Bill(keys, calls, unpaid)

    def split(self, bill: Bill, paid: int) -> tuple[Bill, Bill]:
        """Split a bill before its unpaid row number `paid`, counted from 0, into two bills.

        Examples
        --------
        >>> ledger = Ledger(n_players=2)
        >>> bill = ledger.price(np.array([[True, False], [True, False], [False, True]]))
        >>> first, rest = ledger.split(bill, 1)
        >>> (first.calls, list(first.unpaid)), (rest.calls, list(rest.unpaid))
        ((2, [0]), (1, [0]))
        """
        if paid >= len(bill.unpaid):
            return bill, Bill([], 0, [])
        row = bill.unpaid[paid]
        unpaid = bill.unpaid[:paid]
        keys = bill.keys[:row]
        if len(bill.unpaid) == len(bill.keys):  # the usual case: every coalition is new
            return Bill(keys, row, unpaid), Bill(bill.keys[row:], bill.calls - row, range(len(bill.keys) - row))
        calls = row - sum(key in self._ends for key in keys) + sum(keys[i] in self._ends for i in unpaid)
        rest = [other - row for other in bill.unpaid[paid:]]
        return Bill(keys, calls, unpaid), Bill(bill.keys[row:], bill.calls - calls, rest)

    def enter(self, bill: Bill, values: Values) -> Values:
        """Take the values of the unpaid rows and return those of all rows of the bill."""
        if self.evaluations == 0:
            self.shape = values.shape[1:]
        self.calls += bill.calls
        self.evaluations += len(bill.unpaid)
        if not self.deterministic:
            return values
        known = self._values
        kept = list(values) if self.shape else values.tolist()
        if len(bill.unpaid) == len(bill.keys):
            known.update(zip(bill.keys, kept, strict=True))
            return values
        for row, value in zip(bill.unpaid, kept, strict=True):
            known[bill.keys[row]] = value
        return self._array([known[key] for key in bill.keys])

    def look_up(self, coalitions: Coalitions) -> Values:
        """Return the values of known coalitions; raise a KeyError if one is not known."""
        look_up = self._values
        return self._array([look_up[key] for key in co.keys(coalitions)])

    @property
    def no_values(self) -> Values:
        """The values of no coalition."""
        return np.empty((0, *self.shape))

    def _array(self, values: list[Any]) -> Values:
        return np.array(values, dtype=np.float64) if values else self.no_values

    def table(self) -> Values:
        """Return the values of all coalitions, ordered by coalition id; all of them have to be known."""
        ids = np.arange(2**self.n_players)
        blocks: Sequence[Values] = [
            self.look_up(co.from_ids(block, self.n_players)) for block in np.array_split(ids, max(1, len(ids) >> 16))
        ]
        return np.concatenate(blocks)
