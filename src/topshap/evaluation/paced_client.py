"""A client that keeps to rate limits, retries, and counts tokens and cost."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from topshap.core.errors import ClientError, CostLimitError, describe
from topshap.core.usage import Usage
from topshap.evaluation.call import MAX_WAIT, is_retryable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from topshap.clients.base import AsyncClient, Completion, Message, TokenLogProbs
    from topshap.evaluation.rate_limits import RateLimits
    from topshap.evaluation.spending import Spending

logger = logging.getLogger("topshap")

TOO_MANY_REQUESTS = 429
PATIENCE = 300.0
"""Refusals by a rate limit are retried for as long as some request has been answered within this many seconds."""
_jitter = random.Random()  # noqa: S311 - spreads retries, nothing else


class PacedClient:
    """A client around another one that keeps to rate limits, retries, and counts tokens and cost.

    Parameters
    ----------
    client
        An async client.
    limits
        The rate limits, which may be shared by several clients.
    spending
        The tokens and cost so far, which may be shared by several clients.
    retries
        The number of retries of a request that failed, with exponentially growing waits. Refusals by a rate limit are
        not counted.
    timeout
        The time limit of a request in seconds, None for no limit.
    backoff
        The approximate wait before the first retry in seconds.
    advice
        The end of the message if a request fails for good: what to do.
    """

    is_async = True

    def __init__(
        self,
        client: AsyncClient,
        limits: RateLimits,
        spending: Spending,
        *,
        retries: int = 5,
        timeout: float | None = 120.0,
        backoff: float = 0.5,
        advice: str = "",
    ) -> None:
        self.client, self.limits, self.spending = client, limits, spending
        self.retries, self.timeout, self.backoff, self.advice = retries, timeout, backoff, advice
        self.failure: ClientError | None = None
        """The error of a request that failed for good; further requests are not made."""
        self._answered_at, self._calls = limits.clock(), 0
        for name in ("model", "fingerprint", "batch_size"):
            if hasattr(client, name):
                setattr(self, name, getattr(client, name))
        if hasattr(client, "score_batch"):
            self.score_batch = self._score_batch

    async def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""
        completion: Completion = await self._call(partial(self.client.complete, messages, **params))
        return completion

    async def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer."""
        scored: TokenLogProbs = await self._call(partial(self.client.score, messages, answer))
        return scored

    async def _score_batch(self, prompts: Sequence[list[Message]], answer: str) -> list[TokenLogProbs]:
        batch: Any = self.client
        scored: list[TokenLogProbs] = await self._call(partial(batch.score_batch, prompts, answer))
        return scored

    async def _call(self, request: Callable[[], Awaitable[Any]]) -> Any:
        """Return the answer to a request, with retries, and count the call while it lasts."""
        self._calls += 1
        try:
            return await self._attempts(request)
        finally:
            self._calls -= 1

    async def _attempts(self, request: Callable[[], Awaitable[Any]]) -> Any:
        failed = 0
        while True:
            if self.failure is not None:
                raise self.failure
            estimate = self.spending.tokens_per_call
            started = await self.limits.enter(estimate)
            used = estimate
            try:
                async with asyncio.timeout(self.timeout):
                    answer = await request()
                usage = usage_of(answer)
                used = usage.tokens
            except Exception as error:  # noqa: BLE001 - raised below unless there is a retry
                reason = error
            else:
                self._answered_at = self.limits.clock()
                self.limits.accepted()
                self.spending.add(usage)
                return answer
            finally:
                self.limits.leave(used - estimate)
            if status_of(reason) == TOO_MANY_REQUESTS and not self._is_final(reason):
                wait = retry_after(reason)
                self.limits.refused(started, self._backoff(1) if wait is None else wait)
                logger.info("the endpoint refused a request (429), %g requests in flight", int(self.limits.limit))
                continue
            failed += 1
            if may_be_charged(reason):
                self.spending.lose()
            if failed > self.retries or self._is_final(reason):
                raise self._give_up(reason, failed) from reason
            if not self.spending.allows(self._calls - 1):
                raise CostLimitError("A further attempt might exceed 'max_cost'.") from reason
            logger.warning("attempt %d of %d failed: %s", failed, self.retries + 1, describe(reason))
            await asyncio.sleep(retry_after(reason) or self._backoff(failed))

    def _is_final(self, error: Exception) -> bool:
        """Return whether a retry cannot help."""
        if status_of(error) == TOO_MANY_REQUESTS:
            patient = self.limits.clock() - self._answered_at < PATIENCE
            return not patient or "insufficient_quota" in describe(error)
        return not is_transient(error)

    def _give_up(self, error: Exception, attempts: int) -> ClientError:
        """Return the error that ends the run."""
        times = "once" if attempts == 1 else f"{attempts} times"
        message = (
            f"A request to the model {getattr(self, 'model', None)!r} failed {times}, the last time with "
            f"{describe(error).rstrip('.')}. It was made with retries={self.retries}, timeout={self.timeout} and "
            f"concurrency={self.limits.concurrency}.{self.advice}"
        )
        self.failure = ClientError(message, status=status_of(error))
        return self.failure

    def _backoff(self, attempt: int) -> float:
        """Return the wait after a failed attempt, with jitter."""
        return min(MAX_WAIT, self.backoff * 2.0 ** min(attempt - 1, 20)) * (0.5 + _jitter.random())


def usage_of(answer: Any) -> Usage:
    """Return the usage of an answer, or of a list of answers."""
    if isinstance(answer, list | tuple):
        return sum((usage_of(each) for each in answer), Usage())
    usage = getattr(answer, "usage", None)
    if not isinstance(usage, Usage):
        raise ClientError(
            "A client must return Completion or TokenLogProbs of topshap.clients. "
            f"Got an object of type {type(answer).__name__} instead."
        )
    return usage


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of an error of this package, of openai or of litellm; None if it has none."""
    for name in ("status", "status_code"):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    return None


def is_transient(error: Exception) -> bool:
    """Return whether a request may succeed if it is made again.

    Examples
    --------
    >>> is_transient(TimeoutError()), is_transient(ClientError("bad request", status=400)), is_transient(KeyError())
    (True, False, False)
    """
    status = status_of(error)
    if status is not None:
        return status in (408, 409, 425, TOO_MANY_REQUESTS) or status >= 500
    return error.transient if isinstance(error, ClientError) else is_retryable(error)


def may_be_charged(error: Exception) -> bool:
    """Return whether an endpoint may charge for a request that failed in this way: if its answer was lost."""
    if isinstance(error, ClientError):
        return error.may_be_charged
    return status_of(error) is None and is_retryable(error) and not isinstance(error, ConnectionRefusedError)


def retry_after(error: Exception) -> float | None:
    """Return the seconds that an endpoint asks to wait, None if it does not say."""
    own = getattr(error, "retry_after", None)
    if isinstance(own, int | float):
        return float(own)
    headers = getattr(getattr(error, "response", None), "headers", None)
    with suppress(AttributeError, TypeError, ValueError):
        return max(0.0, float(headers["retry-after"])) if headers is not None and "retry-after" in headers else None
    return None
