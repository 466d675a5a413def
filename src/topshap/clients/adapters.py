"""Any client as an async one: clients of this package, instances of openai, and a user's own."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.clients.base import AsyncClient, Completion, Message, TokenLogProbs

PARTS = ("model", "fingerprint", "batch_size")
"""Optional attributes that an adapter takes over from its client."""


def as_client(client: Any, model: str | None = None) -> Any:
    """Return a client with the methods `complete` and `score`, sync or async.

    Parameters
    ----------
    client
        A client, or an instance of ``openai.OpenAI`` or ``openai.AsyncOpenAI``.
    model
        The name of the model, for an instance of openai.
    """
    if hasattr(client, "chat") and hasattr(client.chat, "completions"):
        from topshap.clients.openai import OpenAIClient  # noqa: PLC0415 - rarely needed

        if model is None:
            refuse("model", model, must_be="the name of a model, since the client is an instance of openai")
        return OpenAIClient(client, model)
    if not callable(getattr(client, "complete", None)) and not callable(getattr(client, "score", None)):
        must_be = "an instance of openai.OpenAI, or an object with the methods 'complete' and 'score'"
        refuse("client", client, must_be=must_be)
    if model is not None and model != getattr(client, "model", None):
        refuse("model", model, must_be=f"the model of the client, {getattr(client, 'model', None)!r}, or None")
    return client


def is_async_client(client: Any) -> bool:
    """Return whether the methods of a client must be awaited."""
    if getattr(client, "is_async", None) is not None:
        return bool(client.is_async)
    method = getattr(client, "complete", None) or getattr(client, "score", None)
    return inspect.iscoroutinefunction(method)


def as_async(client: Any, threads: int = 8) -> Any:
    """Return a client whose methods are awaited.

    Parameters
    ----------
    client
        A client. Its methods ``acomplete`` and ``ascore`` are used if it has them. A synchronous client is called in
        threads, unless its attribute ``blocking`` is False.
    threads
        The number of threads.

    Examples
    --------
    >>> import asyncio
    >>> from topshap.clients import MockClient
    >>> client = as_async(MockClient(lambda messages: "yes"))
    >>> asyncio.run(client.complete([{"role": "user", "content": "Is it?"}])).text
    'yes'
    """
    if isinstance(client, _Adapter) or (is_async_client(client) and not hasattr(client, "acomplete")):
        return client
    if hasattr(client, "acomplete"):
        return _Adapter(client, client.acomplete, client.ascore)
    if getattr(client, "blocking", True):
        return _Threads(client, threads)
    return _Adapter(client, _immediate(client, "complete"), _immediate(client, "score"))


def in_step(client: Any) -> AsyncClient:
    """Return a synchronous client whose methods can be awaited without an event loop; see `run_now`."""
    return _Adapter(client, _immediate(client, "complete"), _immediate(client, "score"))


def run_now(coroutine: Any) -> Any:
    """Return the result of a coroutine that never waits.

    Examples
    --------
    >>> async def three():
    ...     return 3
    >>> run_now(three())
    3
    """
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return finished.value
    coroutine.close()
    raise RuntimeError("A synchronous client has been awaited.")


class _Adapter:
    """The async methods of a client, with its other attributes."""

    is_async = True

    def __init__(self, client: Any, complete: Callable[..., Any], score: Callable[..., Any]) -> None:
        self.client, self._complete, self._score = client, complete, score
        for name in PARTS:
            if hasattr(client, name):
                setattr(self, name, getattr(client, name))
        if hasattr(client, "score_batch"):
            self.score_batch = self._batch_method()

    async def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""
        completion: Completion = await self._complete(messages, **params)
        return completion

    async def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of an answer."""
        scored: TokenLogProbs = await self._score(messages, answer)
        return scored

    async def aclose(self) -> None:
        """Close the connections of the client that belong to the running event loop."""
        if hasattr(self.client, "aclose"):
            await self.client.aclose()

    def _batch_method(self) -> Callable[..., Any]:
        return _immediate(self.client, "score_batch")


class _Threads(_Adapter):
    """A synchronous client, called in threads."""

    def __init__(self, client: Any, threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - so that importing topshap stays fast

        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="topshap-client")
        super().__init__(client, self._in_thread("complete", client), self._in_thread("score", client))

    async def aclose(self) -> None:
        """End the threads as soon as their calls have finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _in_thread(self, name: str, client: Any) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            import asyncio  # noqa: PLC0415 - so that importing topshap stays fast

            method = partial(getattr(client, name), *args, **kwargs)
            return await asyncio.get_running_loop().run_in_executor(self._pool, method)

        return call

    def _batch_method(self) -> Callable[..., Any]:
        return self._in_thread("score_batch", self.client)


def _immediate(client: Any, name: str) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(client, name)(*args, **kwargs)

    return call
