"""PromptGame: the parts of a prompt are the players, and a language model gives the values."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.clients.adapters import as_async, as_client, in_step, is_async_client, run_now
from topshap.core.validation import check_bool, front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, distinct_names
from topshap.games.prompt.answer import Span, resolve_spans, word_spans, words_within
from topshap.games.prompt.request import PartKind, Prompt, PromptUnit, Request
from topshap.games.prompt.scores import AnswerLogProb, PromptScore, as_score
from topshap.games.text import short_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from topshap.core.typing import Coalitions, Values


@front_door
class PromptGame(GroupedGame):
    """Parts of a prompt as players: v(S) is the score of the prompt that consists of the parts in S.

    `topshap.attribute` builds this game and finds its top players. Use the game itself for a race of your own.

    Parameters
    ----------
    client
        A client of `topshap.clients`, an instance of ``openai.OpenAI`` or ``openai.AsyncOpenAI``, or any object with
        the methods of `topshap.clients.Client`. With an asynchronous client, calling the game returns an awaitable;
        see `topshap.aidentify`.
    messages
        The chat messages, or the text of a single message of the user. The text ``{documents}`` in a message is
        replaced by the documents; without it, they come before the text of the last message of the user.
    answer
        The answer that is attributed.
    documents
        A list of documents: strings, dicts with a ``text``, or objects with ``page_content``, ``text`` or
        ``get_content()``; or a dict from names to texts.
    tools
        The tools offered to the model, in the format of OpenAI.
    examples
        Few-shot examples, each a pair of texts (question, answer) or a list of messages. They come before the messages,
        after system messages.
    players
        The kinds of parts that are players: ``"documents"``, ``"examples"``, ``"messages"``, ``"tools"``, or several of
        them. By default all of documents, examples and tools that are given; otherwise the messages. Other parts are in
        every prompt, and so is the last message.
    unit
        ``"document"`` or ``"sentence"``: the part of a document that is a player.
    score
        The value of a prompt: `AnswerLogProb` (the default), `Similarity`, `Judge`, `ExactMatch`, or a function of the
        text of a new answer, or of the new and the original one.
    spans
        ``"sentence"``, or a list of spans of the answer, each a text or a pair of positions: the game then has one
        output for the answer and one per span. Only with `AnswerLogProb`.
    groups
        A dict from a player's name to its parts, given by name, text or position.
    always
        Parts or groups that are in every prompt.
    separator
        The text between two documents.
    template
        The format of a document: a text with ``{text}`` and optionally ``{name}`` and ``{number}``.
    params
        Parameters of completions, such as ``{"temperature": 0, "seed": 0, "max_tokens": 200}``.
    model
        The name of the model, if the client is an instance of openai.
    deterministic
        Whether a prompt always has the same value. By default True for `AnswerLogProb`, and for other scores if
        `params` has a temperature of 0 and a seed.
    fingerprint
        A name for the client in stores, if it has no ``fingerprint`` and no ``model``.

    Attributes
    ----------
    answer : str
        The answer.
    parts : list of Part
        The parts of the prompt that may be left out, in order.
    words : list of tuple
        The first and last position of each word of the answer.

    Examples
    --------
    >>> import topshap
    >>> def log_prob(messages, answer):
    ...     return -10.0 + 8.0 * ("on the Danube" in messages[-1]["content"])
    >>> client = topshap.clients.MockClient(log_prob=log_prob)
    >>> documents = ["Bananas grow in the tropics.", "Vienna lies on the Danube."]
    >>> game = PromptGame(client, "Where is Vienna?", documents=documents, answer="On the Danube.")
    >>> topshap.identify(game, k=1).names
    ('Vienna lies on the Danube.',)
    """

    _functions = ("client",)

    def __init__(
        self,
        client: Any,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        answer: str,
        documents: Any = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        examples: Sequence[Any] | None = None,
        players: PartKind | Iterable[PartKind] | None = None,
        unit: PromptUnit = "document",
        score: PromptScore | Callable[..., Any] | None = None,
        spans: Any = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        separator: str = "\n\n",
        template: str = "{text}",
        params: Mapping[str, Any] | None = None,
        model: str | None = None,
        deterministic: bool | None = None,
        fingerprint: str | None = None,
    ) -> None:
        given: Any = answer
        if not isinstance(given, str) or not given.strip():
            refuse("answer", answer, must_be="a non-empty str, the answer to attribute")
        self.client = as_client(client, model)
        self.prompt = Prompt(
            messages,
            documents=documents,
            tools=tools,
            examples=examples,
            players=players,
            unit=unit,
            separator=separator,
            template=template,
        )
        self.answer, self.score, self.params = answer, as_score(score), dict(params or {})
        self.words = word_spans(answer)
        self.spans: list[Span] = [] if spans is None else resolve_spans(answer, spans)
        self.unit, self._detailed = unit, False
        self._check_score()
        varies = not self.score.is_deterministic(self.params)
        self.deterministic = not varies if deterministic is None else check_bool("deterministic", deterministic)
        names = distinct_names(part.name for part in self.parts)
        aliases = [part.text for part in self.parts]
        super().__init__(PlayerGroups(names, groups, always, aliases=aliases, element="part"), fingerprint)

    @property
    def parts(self) -> Any:
        """The parts of the prompt that may be left out, in order."""
        return self.prompt.parts

    @property
    def pieces(self) -> list[str]:
        """The texts of the parts, in order, for `topshap.show.text_map`."""
        return [part.text for part in self.parts]

    @property
    def is_async(self) -> bool:
        """Whether the values must be awaited."""
        return is_async_client(self.client)

    @property
    def batch_size(self) -> int:
        """The number of prompts that the client takes at a time."""
        return int(getattr(self.client, "batch_size", 1) or 1)

    @property
    def output_name(self) -> str:
        """What the value of a coalition is."""
        return self.score.label

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """The answer and its spans, None without spans."""
        if not self.spans or self._detailed:
            return None
        return tuple(distinct_names(["answer", *(short_label(self.answer[a:b]) for a, b in self.spans)]))

    def request_of(self, coalition: Any) -> Request:
        r"""Return the messages and tools of the request for a coalition of players, a bool array of shape (n,).

        Examples
        --------
        >>> from topshap.clients import MockClient
        >>> game = PromptGame(MockClient(), "Why?", documents=["Since.", "Though."], answer="So.")
        >>> game.request_of(np.array([False, True])).messages
        [{'role': 'user', 'content': 'Though.\n\nWhy?'}]
        """
        return self.prompt.build(self._groups.present(np.asarray(coalition)[None, :])[0])

    def with_client(self, client: Any) -> Self:
        """Return the same game with another client, such as one that counts its calls."""
        game = copy.copy(self)
        game.client = client
        return game

    def detailed(self) -> Self:
        """Return the game with all numbers of a coalition as outputs, which `summary` turns into values.

        For `AnswerLogProb` these are the log probability of each word of the answer, and the number of tokens.
        """
        game = copy.copy(self)
        game._detailed = True  # noqa: SLF001 - of the same class
        return game

    def summary(self, details: Values, spans: Sequence[Span] | None = None) -> Values:
        """Return the values of coalitions from their details: one number each, or one for the answer and for each span.

        Parameters
        ----------
        details
            The values of `detailed`, one row per coalition.
        spans
            The spans of the answer; by default those of the game.
        """
        if not isinstance(self.score, AnswerLogProb):
            return details
        log_probs, n_tokens = details[:, :-1], details[:, -1]
        scale = n_tokens if self.score.per_token else np.ones(len(details))
        whole = log_probs.sum(axis=1) / scale
        chosen = self.spans if spans is None else spans
        if not chosen:
            return whole
        columns = [log_probs[:, words].sum(axis=1) / scale for words in words_within(self.words, chosen)]
        return np.stack([whole, *columns], axis=1)

    def _values(self, present: Coalitions) -> Any:
        requests = [self.prompt.build(row) for row in present]
        if self.is_async:
            return self._measure(as_async(self.client), requests)
        return run_now(self._measure(in_step(self.client), requests))

    async def _measure(self, client: Any, requests: list[Request]) -> Values:
        details = await self.score.measure(client, requests, self.answer, self.params)
        return details if self._detailed else self.summary(details)

    def _check_score(self) -> None:
        if not isinstance(self.score, AnswerLogProb):
            if self.spans:
                refuse("spans", self.spans, must_be="None, unless the score is AnswerLogProb()")
        elif self.prompt.tools:
            must_be = "a score of new answers, such as ExactMatch(), since log probabilities are scored without tools"
            refuse("score", self.score, must_be=must_be)

    def _parts(self) -> dict[str, Any]:
        return self.fingerprint_parts()

    def fingerprint_parts(self) -> dict[str, Any]:
        """Return everything that the values depend on, by name; never an API key."""
        prompt = self.prompt
        asked = [prompt.messages, prompt.documents, prompt.tools, prompt.examples, prompt.separator, prompt.template]
        return {
            "client": _Identity(self.client),
            "prompt": asked,
            "parts": [tuple(part) for part in prompt.parts],
            "answer": self.answer,
            "score": self.score,
            "params": self.params,
            "spans": None if self._detailed else self.spans,
            "detailed": self._detailed,
        }

    def __repr__(self) -> str:
        return f"PromptGame(n_players={self.n_players}, answer={short_label(self.answer)!r})"


class _Identity:
    """What a client is in fingerprints: its fingerprint, or else the name of its model; never its API key."""

    def __init__(self, client: Any) -> None:
        model = getattr(client, "model", None)
        named = f"model {model}" if isinstance(model, str) else None
        self.fingerprint: str | None = getattr(client, "fingerprint", None) or named
