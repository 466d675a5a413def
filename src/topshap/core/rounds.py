"""Rounds in batches: independent rounds together, large rounds in parts, the last round up to the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.algorithm import Round, Rounds
    from topshap.core.standing import Standing
    from topshap.core.typing import Coalitions, Values

MAX_BATCH_BYTES = 2**24
"""The largest size of a batch of coalitions, for any number of players."""
ROWS_PER_BATCH = 256
"""The largest number of coalitions up to which independent rounds are evaluated together."""


class RoundReader:
    """Reads the rounds of an algorithm in batches, and gives each round its values.

    Parameters
    ----------
    rounds
        The rounds of an algorithm.
    one_at_a_time
        Whether independent rounds are read one by one, as in a race that may end after each of them.
    """

    def __init__(self, rounds: Rounds, *, one_at_a_time: bool) -> None:
        self._rounds = rounds
        self._one_at_a_time = one_at_a_time
        self._current: list[Round] = []
        self._rows: Coalitions = np.empty((0, 1), dtype=np.bool_)
        self._read = 0
        self._answers: list[Values] = []
        self._undo: Callable[[], None] | None = None

    def read(self) -> Coalitions | None:
        """Return the coalitions to evaluate next, None when the algorithm has ended."""
        if self._read == len(self._rows) and not self._next_rounds():
            return None
        return self._next_part()

    def take(self, values: Values) -> None:
        """Take the values of the coalitions that `read` returned."""
        self._answers.append(values)
        if self._read == len(self._rows):
            self._add()
            self._answers = []

    def take_prefix(self, values: Values, missing: int, standing: Standing, *, may_resume: bool) -> None:
        """Take the values of all but the last `missing` coalitions that `read` returned, since the race ends there."""
        self._answers.append(values)
        self._read -= missing
        self._undo = standing.checkpoint() if may_resume else None
        self._add()

    @property
    def within_rounds(self) -> bool:
        """Whether some values of the current rounds have been taken, and others have not."""
        return len(self._answers) > 0

    def resume(self) -> Coalitions:
        """Return the coalitions that were not evaluated, with the standing as it was before the incomplete round."""
        if self._undo is not None:
            self._undo()
        return self._next_part()

    def _next_rounds(self) -> bool:
        """Read the next round, and those that may be evaluated together with it; return whether there is one."""
        current = [read for read in [next(self._rounds, None)] if read is not None]
        if not current:
            return False
        last, total = current[0], len(current[0].rows)
        while last.next_is_independent and not self._one_at_a_time and total + len(last.rows) <= ROWS_PER_BATCH:
            following = next(self._rounds, None)
            if following is None:
                break
            current.append(following)
            last, total = following, total + len(following.rows)
        self._current = current
        self._rows = last.rows if len(current) == 1 else np.concatenate([each.rows for each in current])
        self._read = 0
        return True

    def _next_part(self) -> Coalitions:
        part = self._rows[self._read : self._read + max(1, MAX_BATCH_BYTES // self._rows.shape[1])]
        self._read += len(part)
        return part

    def _add(self) -> None:
        """Give every round its values, up to the first round whose values are incomplete."""
        values = self._answers[0] if len(self._answers) == 1 else np.concatenate(self._answers)
        start = 0
        for each in self._current:
            end = start + len(each.rows)
            each.add(values[start:end])
            if end > len(values):
                break
            start = end
