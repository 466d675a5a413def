"""How many coalitions of a large batch are evaluated before the run looks at its limits again."""

from __future__ import annotations

FIRST_ROWS = 100
"""The smallest number of coalitions between two looks, and the number before the first one."""
TARGET_SECONDS = 0.5
"""The time that the coalitions between two looks may take; they may take longer if there are `FIRST_ROWS` of them."""
GROWTH = 128
"""The largest factor between the number of coalitions that were measured and the next one.

After v(empty) and v(N), the batches of up to 256 coalitions that most algorithms ask for are then not divided if the
game is fast."""


def next_rows(rows: int, measured: int, seconds: float) -> int:
    """Return the number of coalitions before the next look: `rows` so far, and `measured` of them took `seconds`.

    Examples
    --------
    >>> next_rows(100, measured=100, seconds=0.001), next_rows(1000, measured=1000, seconds=5.0)
    (12800, 100)
    """
    affordable = int(measured * TARGET_SECONDS / max(seconds, 1e-9))
    return max(FIRST_ROWS, min(affordable, max(rows, GROWTH * measured)))
