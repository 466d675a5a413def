"""Models of any provider through litellm."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from topshap.clients import wire
from topshap.clients.base import check_model
from topshap.core.errors import ClientError
from topshap.core.extras import import_extra
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import front_door

if TYPE_CHECKING:
    from topshap.clients.base import Completion, Message, TokenLogProbs


@front_door
class LiteLLMClient:
    """A client of a model of any provider that litellm supports. Needs the extra ``topshap[litellm]``.

    It cannot score a given answer, so it needs a score of new answers, such as `topshap.games.Similarity`. The cost of
    each request is the one that litellm computes, unless prices are given.

    Parameters
    ----------
    model
        The name of the model, with its provider, such as ``"anthropic/claude-sonnet-4-5"``.
    **options
        Options of ``litellm.completion``, such as ``api_base`` and ``api_key``. They are not part of fingerprints.

    Examples
    --------
    >>> client = LiteLLMClient("openai/gpt-4o-mini", mock_response="Hello!")  # doctest: +SKIP
    >>> client.complete([{"role": "user", "content": "Hi"}]).text  # doctest: +SKIP
    'Hello!'
    """

    def __init__(self, model: str, **options: Any) -> None:
        check_model(model)
        self._litellm = import_extra("litellm", extra="litellm", needed_by="LiteLLMClient")
        self.model, self._options = model, {"num_retries": 0, **options}

    @property
    def fingerprint(self) -> str | None:
        """The identifier of the model; options such as the API key are not part of it."""
        return fingerprint_of("LiteLLMClient", model=self.model)

    def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""
        return _read(self._litellm.completion(model=self.model, messages=messages, **self._options, **params))

    async def acomplete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages, asynchronously."""
        return _read(await self._litellm.acompletion(model=self.model, messages=messages, **self._options, **params))

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:  # noqa: ARG002 - of the protocol
        """Raise an error: litellm has no log probabilities of a given answer."""
        raise ClientError(_CANNOT_SCORE)

    async def ascore(self, messages: list[Message], answer: str) -> TokenLogProbs:  # noqa: ARG002 - of the protocol
        """Raise an error: litellm has no log probabilities of a given answer."""
        raise ClientError(_CANNOT_SCORE)


_CANNOT_SCORE = (
    "litellm has no log probabilities of a given answer. Use a score of new answers, such as Similarity(), or an "
    "endpoint that echoes log probabilities, with HTTPClient."
)


def _read(answer: Any) -> Completion:
    """Return the completion, with the cost that litellm has computed."""
    completion = wire.read_completion(answer.model_dump())
    cost = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
    return completion if cost is None else replace(completion, usage=replace(completion.usage, cost=float(cost)))
