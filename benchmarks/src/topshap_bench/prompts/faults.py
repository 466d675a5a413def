"""Faults of a server on demand: which requests fail and how, and a limit on requests per second."""

from __future__ import annotations

import threading
import time
import zlib
from collections import Counter, deque
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

Fault = Literal["429", "500", "drop", "truncated", "hang"]
"""A status, a connection that is closed without an answer, half of the answer, or no answer for a long time."""
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass(frozen=True)
class Trouble:
    """The faults of a server.

    Examples
    --------
    >>> Trouble(rate=0.0).fault(b"body", attempt=0) is None
    True
    >>> [Trouble(rate=1.0, kinds=("500",), most=1).fault(b"body", attempt) for attempt in range(2)]
    ['500', None]
    """

    rate: float = 0.0
    """The share of requests that fail."""
    kinds: tuple[Fault, ...] = FAULTS
    """How they fail, each equally often."""
    most: int = 3
    """The largest number of failures of the same request."""
    seed: int = 0
    latency: float = 0.0
    """The seconds before an answer."""
    hang: float = 5.0
    """The seconds of a hang, after which the connection is closed."""
    retry_after: str = "1"
    """The header Retry-After of a status 429."""
    per_second: int | None = None
    """The largest number of requests in a second, None without a limit."""

    def fault(self, body: bytes, attempt: int) -> Fault | None:
        """Return how an attempt of a request fails; it does not depend on the order of requests."""
        rng = np.random.default_rng([self.seed, zlib.crc32(body), attempt])
        if attempt >= self.most or rng.random() >= self.rate:
            return None
        return self.kinds[int(rng.integers(len(self.kinds)))]


class RateLimit:
    """A limit on the requests in any second.

    Examples
    --------
    >>> limit = RateLimit(2)
    >>> [limit.admits() for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, per_second: int | None) -> None:
        self._per_second, self._admitted = per_second, deque[float]()
        self._lock = threading.Lock()

    def admits(self) -> bool:
        """Return whether a request is within the limit, and count it if so."""
        if self._per_second is None:
            return True
        with self._lock:
            now = time.monotonic()
            while self._admitted and self._admitted[0] <= now - 1.0:
                self._admitted.popleft()
            if len(self._admitted) >= self._per_second:
                return False
            self._admitted.append(now)
            return True


class Bill:
    """The counts of a server: requests, complete answers, tokens and faults."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._attempts: Counter[bytes] = Counter()
        self._answered: Counter[bytes] = Counter()
        self._faults: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._open = self._most_open = 0

    def attempt(self, body: bytes) -> int:
        """Count a request; return how often it was made before."""
        with self._lock:
            self._attempts[body] += 1
            self._open += 1
            self._most_open = max(self._most_open, self._open)
            return self._attempts[body] - 1

    def close(self) -> None:
        """Count the end of a request."""
        with self._lock:
            self._open -= 1

    def failed(self, fault: str) -> None:
        """Count a fault."""
        with self._lock:
            self._faults[fault] += 1

    def answered(self, body: bytes, usage: dict[str, int]) -> None:
        """Count a complete answer with its tokens."""
        with self._lock:
            self._answered[body] += 1
            self._tokens.update(usage)

    def statement(self) -> dict[str, object]:
        """Return all counts."""
        with self._lock:
            return {
                "requests": self._attempts.total(),
                "answered": self._answered.total(),
                "distinct_answered": len(self._answered),
                "faults": dict(self._faults),
                "tokens": dict(self._tokens),
                "open": self._open,
                "most_open": self._most_open,
            }
