"""A client for tests: a function in place of a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from topshap.clients.base import Completion, Message, TokenLogProbs
from topshap.core.errors import ClientError
from topshap.core.fingerprints import fingerprint_of
from topshap.core.usage import Usage
from topshap.core.validation import front_door, refuse

Respond: TypeAlias = Callable[[list[Message]], str | Completion]
LogProb: TypeAlias = Callable[[list[Message], str], float | Iterable[float] | TokenLogProbs]


@front_door
class MockClient:
    """A client that calls functions instead of a language model, for tests without a network.

    Parameters
    ----------
    respond
        A function from the chat messages to the text of the answer, or to a `Completion`.
    log_prob
        A function from the chat messages and an answer to its log probability, to one number per word of the answer,
        or to `TokenLogProbs`. None for a client that cannot score.
    model
        The name of the model, for prices.

    Attributes
    ----------
    requests : list
        The messages of every call so far.

    Examples
    --------
    >>> client = MockClient(lambda messages: messages[-1]["content"].upper())
    >>> client.complete([{"role": "user", "content": "which river?"}]).text
    'WHICH RIVER?'
    """

    blocking = False
    """Calls return at once."""

    def __init__(self, respond: Respond | None = None, log_prob: LogProb | None = None, *, model: str = "mock") -> None:
        for name, function in (("respond", respond), ("log_prob", log_prob)):
            if function is not None and not callable(function):
                refuse(name, function, must_be="a function or None")
        self._respond, self._log_prob = respond, log_prob
        self.model = model
        self.requests: list[list[Message]] = []

    @property
    def fingerprint(self) -> str | None:
        """The identifier of the functions in stores, None if they cannot be fingerprinted."""
        return fingerprint_of("MockClient", respond=self._respond, log_prob=self._log_prob, model=self.model)

    def complete(self, messages: list[Message], **params: Any) -> Completion:  # noqa: ARG002 - of the protocol
        """Return the answer of `respond`."""
        if self._respond is None:
            raise ClientError("This MockClient cannot complete: pass a function as 'respond'.")
        self.requests.append(messages)
        answer = self._respond(messages)
        if isinstance(answer, Completion):
            return answer
        return Completion(answer, Usage(1, _count(messages), len(words_of(answer))), "stop")

    def score(self, messages: list[Message], answer: str) -> TokenLogProbs:
        """Return the answer of `log_prob`."""
        if self._log_prob is None:
            raise ClientError("This MockClient cannot score: pass a function as 'log_prob'.")
        self.requests.append(messages)
        found = self._log_prob(messages, answer)
        if isinstance(found, TokenLogProbs):
            return found
        words = words_of(answer)
        numbers = np.atleast_1d(np.asarray(found, dtype=np.float64))
        if len(numbers) == 1:
            numbers = np.full(len(words), numbers[0] / len(words))
        offsets = np.cumsum([0, *map(len, words)])[:-1]
        usage = Usage(1, _count(messages) + len(words))
        return TokenLogProbs(tuple(words), tuple(numbers.tolist()), tuple(offsets.tolist()), usage)


def words_of(text: str) -> list[str]:
    """Return the words of a text, with the white space before them.

    Examples
    --------
    >>> words_of("The Danube.")
    ['The', ' Danube.']
    """
    return re.findall(r"\s*\S+|\s+$", text) or [text]


def _count(messages: list[Message]) -> int:
    return sum(len(str(message.get("content") or "").split()) for message in messages)
