"""What a client of a language model is: two methods, and what they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from topshap.core.errors import ClientError
from topshap.core.usage import Usage
from topshap.core.validation import refuse

Message: TypeAlias = "dict[str, Any]"
"""A chat message in the format of OpenAI: a dict with ``role``, ``content`` and further keys."""


@dataclass(frozen=True)
class Completion:
    """The answer of a language model.

    Examples
    --------
    >>> Completion("The Danube.", Usage(requests=1, prompt_tokens=9, completion_tokens=3)).text
    'The Danube.'
    """

    text: str
    """The text of the answer; calls of tools as ``name(arguments)``, one per line, if there is no text."""
    usage: Usage = field(default_factory=lambda: Usage(requests=1))
    """The tokens of the request."""
    finish_reason: str | None = None
    """Why the model stopped, as the endpoint names it."""


@dataclass(frozen=True)
class TokenLogProbs:
    """The log probabilities of the tokens of an answer, given a prompt.

    Examples
    --------
    >>> TokenLogProbs(("The", " Danube"), (-0.5, -1.0), (0, 3)).total
    -1.5
    """

    tokens: tuple[str, ...]
    """The tokens of the answer."""
    logprobs: tuple[float, ...]
    """The log probability of each token."""
    offsets: tuple[int, ...]
    """The position of each token in the answer, in characters."""
    usage: Usage = field(default_factory=lambda: Usage(requests=1))
    """The tokens of the request."""

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.logprobs) == len(self.offsets) or not self.tokens:
            raise ClientError(
                "Log probabilities must have as many tokens as numbers and offsets, at least one. "
                f"Got {len(self.tokens)} tokens, {len(self.logprobs)} numbers and {len(self.offsets)} offsets."
            )

    @property
    def total(self) -> float:
        """The log probability of the whole answer."""
        return float(sum(self.logprobs))


@runtime_checkable
class Client(Protocol):
    """A language model that completes and scores prompts, synchronously.

    A client may have these attributes: ``model``, the name of the model, for prices and fingerprints; ``fingerprint``,
    which identifies everything that its answers depend on, without secrets; ``blocking``, which is False if calls
    return at once and need no thread; ``batch_size`` and ``score_batch(list_of_messages, answer)``, which returns one
    `TokenLogProbs` per prompt.

    Examples
    --------
    >>> class Parrot:
    ...     model = "parrot-v1"
    ...
    ...     def complete(self, messages, **params):
    ...         return Completion(messages[-1]["content"])
    ...
    ...     def score(self, messages, answer):
    ...         return TokenLogProbs((answer,), (-1.0 if answer in messages[-1]["content"] else -9.0,), (0,))
    >>> isinstance(Parrot(), Client)
    True
    """

    def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of `answer`, as the answer to chat messages."""


@runtime_checkable
class AsyncClient(Protocol):
    """A language model that completes and scores prompts, asynchronously; see `Client`."""

    async def complete(self, messages: list[Message], **params: Any) -> Completion:
        """Return the model's answer to chat messages."""

    async def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the log probabilities of the tokens of `answer`, as the answer to chat messages."""


def check_model(model: Any) -> None:
    """Refuse anything but the name of a model."""
    if not isinstance(model, str) or not model:
        refuse("model", model, must_be="the name of a model")


def tool_calls_as_text(calls: Any) -> str:
    """Return calls of tools in the format of OpenAI as text, one per line.

    Examples
    --------
    >>> tool_calls_as_text([{"function": {"name": "weather", "arguments": '{"city": "Vienna"}'}}])
    'weather({"city": "Vienna"})'
    """
    functions = [call.get("function") or {} for call in calls or ()]
    return "\n".join(f"{function.get('name')}({function.get('arguments') or ''})" for function in functions)
