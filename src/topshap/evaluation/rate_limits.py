"""The pace of requests to an endpoint: adaptive concurrency, pauses, and limits per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MINUTE = 60.0
_LONGEST_NAP = 1.0  # so that waiting requests notice changes made by others


class RateLimits:
    """Lets requests start when the endpoint is likely to accept them.

    The number of requests in flight is halved when the endpoint refuses one, and grows by about one per round of
    accepted requests. All requests wait while the endpoint asks for a pause, and while a limit per minute is reached.

    Parameters
    ----------
    concurrency
        The largest number of requests in flight.
    requests_per_minute, tokens_per_minute
        The largest number of requests that start, evenly spaced, and of tokens that are used within any minute; None
        for no limit.
    clock, sleep
        The time in seconds, and an async function that waits.

    Examples
    --------
    >>> limits = RateLimits(8)
    >>> limits.refused(started=limits.clock(), pause=0.0)
    >>> limits.limit
    4.0
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.concurrency = concurrency
        self.limit = float(concurrency)
        """The number of requests that may be in flight now."""
        self.in_flight = 0
        self.clock, self._sleep = clock, sleep
        self._requests_per_minute, self._tokens_per_minute = requests_per_minute, tokens_per_minute
        self._paused_until = self._halved_at = -float("inf")
        self._next_start = -float("inf")
        self._tokens: deque[tuple[float, float]] = deque()
        self._freed = asyncio.Event()

    async def enter(self, tokens: float = 0.0) -> float:
        """Wait until a request that will use about this many tokens may start; return the time of its start."""
        while (wait := self._wait(tokens)) > 0.0:
            await self._nap(wait)
        now = self.clock()
        self.in_flight += 1
        if self._requests_per_minute is not None:
            self._next_start = now + MINUTE / self._requests_per_minute
        if self._tokens_per_minute is not None:
            self._tokens.append((now, tokens))
        return now

    def leave(self, tokens: float = 0.0) -> None:
        """Note that a request has ended; `tokens` are those beyond the estimate it has started with."""
        self.in_flight -= 1
        if self._tokens_per_minute is not None and tokens:
            self._tokens.append((self.clock(), tokens))
        self._freed.set()

    def accepted(self) -> None:
        """Note that a request was accepted."""
        self.limit = min(float(self.concurrency), self.limit + 1.0 / self.limit)

    def refused(self, started: float, pause: float) -> None:
        """Note that the endpoint refused a request, and pause all requests.

        The limit is halved once for all requests that were in flight together.
        """
        now = self.clock()
        if started > self._halved_at:
            self.limit, self._halved_at = max(1.0, self.limit / 2.0), now
        self._paused_until = max(self._paused_until, now + pause)

    def _wait(self, tokens: float) -> float:
        """Return the seconds until a request may start, 0 if it may start now."""
        now = self.clock()
        waits = [self._paused_until - now, self._next_start - now, self._until_tokens(now, tokens)]
        if self.in_flight >= max(1, int(self.limit)):
            waits.append(_LONGEST_NAP)
        return max(0.0, *waits)

    def _until_tokens(self, now: float, tokens: float) -> float:
        most = self._tokens_per_minute
        if most is None:
            return 0.0
        while self._tokens and now - self._tokens[0][0] >= MINUTE:
            self._tokens.popleft()
        used = sum(count for _, count in self._tokens)
        if not self._tokens or used + tokens <= most:
            return 0.0
        return self._tokens[0][0] + MINUTE - now

    async def _nap(self, seconds: float) -> None:
        """Wait for this time, or until a request has ended."""
        if self.in_flight == 0:
            await self._sleep(min(seconds, _LONGEST_NAP))
            return
        self._freed.clear()
        napping = asyncio.ensure_future(self._sleep(min(seconds, _LONGEST_NAP)))
        freed = asyncio.ensure_future(self._freed.wait())
        try:
            await asyncio.wait([napping, freed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            napping.cancel()
            freed.cancel()
