"""Random changes of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the data with bits flipped, bytes overwritten, parts removed, repeated or zeroed, or an end cut off."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        start = int(rng.integers(len(changed) + 1))
        end = start + int(rng.choice([1, 4, 16, 100, 4096]))
        size = len(changed[start:end])
        kind = int(rng.integers(7))
        if kind == 0 and start < len(changed):
            changed[start] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[start:end] = rng.bytes(size)
        elif kind == 2:
            changed[start:end] = bytes(size)
        elif kind == 3:
            del changed[start:]
        elif kind == 4:
            del changed[start:end]
        elif kind == 5:
            changed[start:start] = changed[start:end]
        else:
            changed += rng.bytes(int(rng.integers(1, 100)))
    return bytes(changed)
