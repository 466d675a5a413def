"""Scores of a prompt: what a coalition of its parts is worth."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_bool, front_door, refuse
from topshap.games.prompt.answer import log_probs_of_words, word_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.clients.base import AsyncClient, Completion
    from topshap.core.typing import Values
    from topshap.games.prompt.request import Request


class PromptScore(ABC):
    """The value of a prompt with some of its parts, for `topshap.games.PromptGame`."""

    label: str
    """What the value is, for results."""

    @abstractmethod
    async def measure(
        self, client: AsyncClient, requests: Sequence[Request], answer: str, params: Mapping[str, Any]
    ) -> Values:
        """Return one value per request."""

    def is_deterministic(self, params: Mapping[str, Any]) -> bool:
        """Return whether a request always has the same value: if the temperature is 0 and there is a seed."""
        return params.get("temperature") == 0 and params.get("seed") is not None


@front_door
@dataclass(frozen=True)
class AnswerLogProb(PromptScore):
    """The log probability of the original answer, given the prompt with some of its parts.

    It needs a client that returns log probabilities of a given answer. They come per token, so that the spans of an
    answer cost no further requests; see `topshap.Attribution.span`.

    Parameters
    ----------
    per_token
        Whether to divide the log probability by the number of tokens.

    Examples
    --------
    >>> import topshap
    >>> client = topshap.clients.MockClient(log_prob=lambda messages, answer: -9.0 + 5 * ("rain" in str(messages)))
    >>> game = topshap.games.PromptGame(
    ...     client, "Is it wet?", documents=["The rain falls.", "The sun sets."], answer="Yes.", score=AnswerLogProb()
    ... )
    >>> topshap.identify(game, k=1).names
    ('The rain falls.',)
    """

    per_token: bool = False

    def __post_init__(self) -> None:
        check_bool("per_token", self.per_token)

    @property
    def label(self) -> str:  # type: ignore[override]  # fixed for each object
        """What the value is."""
        return f"log probability of the answer{' per token' if self.per_token else ''}"

    async def measure(
        self,
        client: AsyncClient,
        requests: Sequence[Request],
        answer: str,
        params: Mapping[str, Any],  # noqa: ARG002 - of sampling
    ) -> Values:
        """Return the log probability of each word for each request, and the number of tokens as the last column."""
        words = word_spans(answer)
        if hasattr(client, "score_batch"):
            scored = await client.score_batch([request.messages for request in requests], answer)
        else:
            scored = [await client.score(request.messages, answer) for request in requests]
        return np.array([log_probs_of_words(each, words) for each in scored]).reshape(len(requests), len(words) + 1)

    def is_deterministic(self, params: Mapping[str, Any]) -> bool:  # noqa: ARG002 - nothing is sampled
        """Return True."""
        return True


class GeneratedScore(PromptScore):
    """A score of a new answer to the prompt with some of its parts."""

    async def measure(
        self, client: AsyncClient, requests: Sequence[Request], answer: str, params: Mapping[str, Any]
    ) -> Values:
        """Ask for a new answer to each request, and compare it with the original."""
        values = []
        for request in requests:
            tools = {} if request.tools is None else {"tools": request.tools}
            completion = await client.complete(request.messages, **params, **tools)
            values.append(await self.compare(completion, answer, client))
        return np.array(values, dtype=np.float64)

    @abstractmethod
    async def compare(self, completion: Completion, answer: str, client: AsyncClient) -> float:
        """Return the value of a new answer."""


@front_door
@dataclass(frozen=True)
class ExactMatch(GeneratedScore):
    """1 if a new answer equals the original, 0 otherwise.

    Parameters
    ----------
    ignore
        Whether to ignore case, punctuation and repeated white space.

    Examples
    --------
    >>> import topshap
    >>> client = topshap.clients.MockClient(lambda messages: "42" if "forty-two" in str(messages) else "unknown")
    >>> game = topshap.games.PromptGame(
    ...     client,
    ...     "How many?",
    ...     documents=["It is forty-two.", "It is late."],
    ...     answer="42",
    ...     score=ExactMatch(),
    ...     params={"temperature": 0, "seed": 0},
    ... )
    >>> topshap.identify(game, k=1).names
    ('It is forty-two.',)
    """

    ignore: bool = True
    label = "match with the answer"

    def __post_init__(self) -> None:
        check_bool("ignore", self.ignore)

    async def compare(self, completion: Completion, answer: str, client: AsyncClient) -> float:  # noqa: ARG002
        """Return 1 or 0."""
        texts = [completion.text, answer]
        if self.ignore:
            texts = [" ".join(re.findall(r"\w+", text.casefold())) for text in texts]
        return float(texts[0] == texts[1])


@dataclass(frozen=True)
class FunctionScore(GeneratedScore):
    """A user's function of a new answer, or of a new answer and the original; it may be async."""

    function: Callable[..., Any]

    @property
    def label(self) -> str:  # type: ignore[override]  # fixed for each object
        """What the value is."""
        return str(getattr(self.function, "__name__", "score"))

    async def compare(self, completion: Completion, answer: str, client: AsyncClient) -> float:  # noqa: ARG002
        """Return the value of the function."""
        texts = (completion.text, answer)[: _n_arguments(self.function)]
        value = self.function(*texts)
        return float(await value if inspect.isawaitable(value) else value)


def as_score(score: Any) -> PromptScore:
    """Return a score; a function is one of new answers."""
    if score is None:
        return AnswerLogProb()
    if isinstance(score, PromptScore):
        return score
    if isinstance(score, type) or not callable(score):
        must_be = "a score such as AnswerLogProb(), or a function of the new answer, or of the new and the original one"
        refuse("score", score, must_be=must_be)
    return FunctionScore(score)


def _n_arguments(function: Callable[..., Any]) -> int:
    """Return whether a function takes one or two texts: as many as it has arguments without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function
        return 1
    needed = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
    ]
    return min(2, max(1, len(needed)))
