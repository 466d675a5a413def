"""The parts of a prompt that can be left out, and the request that the others make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from topshap.core.validation import check_choice, refuse
from topshap.games.prompt.documents import Document, read_documents
from topshap.games.text import short_label, split_text

PartKind: TypeAlias = Literal["documents", "examples", "messages", "tools"]
PromptUnit: TypeAlias = Literal["document", "sentence"]
PLACEHOLDER = "{documents}"
"""The text in a message that the documents replace."""


class Part(NamedTuple):
    """A part of a prompt that can be left out."""

    kind: PartKind
    """The kind of the part."""
    owner: int
    """The position of its document, example, message or tool."""
    name: str
    """Its name."""
    text: str
    """Its text."""
    after: str = ""
    """The text between it and the next part of the same document."""


class Request(NamedTuple):
    """The messages and tools of a request."""

    messages: list[dict[str, Any]]
    """The chat messages."""
    tools: list[dict[str, Any]] | None
    """The tools offered to the model, None if there are none."""


class Prompt:
    r"""A prompt whose parts can be left out.

    Parameters
    ----------
    messages
        The chat messages, or the text of a single message of the user. The text ``{documents}`` in a message is
        replaced by the documents; otherwise they come before the text of the last message of the user.
    documents, tools, examples
        Further parts; see `topshap.games.PromptGame`.
    players
        The kinds of parts that can be left out; by default all kinds that are given, or the messages.
    unit
        Whether documents are left out as a whole or sentence by sentence.
    separator, template
        The text between two documents, and the format of a document.

    Examples
    --------
    >>> prompt = Prompt("Where is Vienna?", documents=["Vienna is in Austria.", "Bananas are yellow."])
    >>> prompt.build([True, False]).messages
    [{'role': 'user', 'content': 'Vienna is in Austria.\n\nWhere is Vienna?'}]
    """

    def __init__(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        documents: Any = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        examples: Sequence[Any] | None = None,
        players: PartKind | Iterable[PartKind] | None = None,
        unit: PromptUnit = "document",
        separator: str = "\n\n",
        template: str = "{text}",
    ) -> None:
        check_choice("unit", unit, get_args(PromptUnit))
        if "{text}" not in str(template):
            refuse("template", template, must_be="a str that contains '{text}', such as '[{number}] {text}'")
        self.messages = _check_messages(messages)
        self.documents: list[Document] = [] if documents is None else read_documents(documents)
        self.tools = [dict(tool) for tool in tools or ()]
        self.examples = [_check_example(example) for example in examples or ()]
        self.separator, self.template = separator, template
        self.kinds = self._kinds(players)
        self.parts: list[Part] = [part for kind in self.kinds for part in self._parts_of(kind, unit)]
        """The parts that can be left out, in order."""
        if not self.parts:
            refuse("players", players, must_be="kinds of parts that the prompt has")

    def build(self, present: Sequence[bool] | Any) -> Request:
        """Return the request that consists of the present parts and all that cannot be left out."""
        kept: dict[PartKind, dict[int, list[Part]]] = {kind: {} for kind in self.kinds}
        for part, there in zip(self.parts, present, strict=True):
            if there:
                kept[part.kind].setdefault(part.owner, []).append(part)
        messages = [message.copy() for i, message in enumerate(self.messages) if self._has(kept, "messages", i)]
        documents = [self._document(i, kept) for i in range(len(self.documents)) if self._has(kept, "documents", i)]
        _insert_documents(messages, self.separator.join(documents), self.separator)
        examples = [
            message.copy()
            for i, example in enumerate(self.examples)
            if self._has(kept, "examples", i)
            for message in example
        ]
        start = sum(1 for _ in takewhile(lambda message: message.get("role") in ("system", "developer"), messages))
        tools = [tool for i, tool in enumerate(self.tools) if self._has(kept, "tools", i)]
        return Request(messages[:start] + examples + messages[start:], tools or None)

    def _has(self, kept: dict[PartKind, dict[int, list[Part]]], kind: PartKind, i: int) -> bool:
        """Return whether the i-th document, example, message or tool is present."""
        last_message = kind == "messages" and i == len(self.messages) - 1
        return kind not in kept or last_message or i in kept[kind]

    def _document(self, i: int, kept: dict[PartKind, dict[int, list[Part]]]) -> str:
        name, text = self.documents[i]
        if "documents" in kept:
            parts = kept["documents"][i]
            text = "".join(part.text + part.after for part in parts[:-1]) + parts[-1].text
        filled = self.template.replace("{name}", name).replace("{number}", str(i + 1))
        return filled.replace("{text}", text)

    def _kinds(self, players: Any) -> tuple[PartKind, ...]:
        """Return the kinds of parts that can be left out."""
        given = {"documents": self.documents, "examples": self.examples, "tools": self.tools}
        if players is None:
            return tuple(kind for kind in get_args(PartKind) if given.get(kind)) or ("messages",)
        chosen = (players,) if isinstance(players, str) else tuple(players)
        for kind in chosen:
            check_choice("players", kind, get_args(PartKind))
            if kind != "messages" and not given[kind]:
                refuse("players", players, must_be=f"kinds of parts that the prompt has; it has no {kind}")
        return tuple(kind for kind in get_args(PartKind) if kind in chosen)

    def _parts_of(self, kind: PartKind, unit: PromptUnit) -> list[Part]:
        if kind == "documents":
            return _document_parts(self.documents, unit)
        if kind == "examples":
            texts = [str(example[0].get("content")) for example in self.examples]
            return [Part(kind, i, f"example {i + 1}: {short_label(text)}", text) for i, text in enumerate(texts)]
        if kind == "tools":
            return [Part(kind, i, _tool_name(tool), str(tool)) for i, tool in enumerate(self.tools)]
        return [
            Part(kind, i, f"{message.get('role')} {i + 1}: {short_label(text_of(message))}", text_of(message))
            for i, message in enumerate(self.messages[:-1])
        ]


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message; of a list of contents, those that are texts.

    Examples
    --------
    >>> text_of({"role": "user", "content": [{"type": "text", "text": "Which river?"}]})
    'Which river?'
    """
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(each.get("text")) for each in content if isinstance(each, Mapping) and "text" in each)
    return "" if content is None else str(content)


def _document_parts(documents: list[Document], unit: PromptUnit) -> list[Part]:
    if unit == "document":
        return [Part("documents", i, name, text) for i, (name, text) in enumerate(documents)]
    parts = []
    for i, (_, text) in enumerate(documents):
        for piece, after in zip(*split_text(text, "sentence", ""), strict=True):
            parts.append(Part("documents", i, short_label(piece), piece, after))
    return parts


def _insert_documents(messages: list[dict[str, Any]], documents: str, separator: str) -> None:
    """Put the documents in place of the placeholder, or before the text of the last message of the user."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, str) and PLACEHOLDER in content:
            message["content"] = content.replace(PLACEHOLDER, documents)
            return
    asked = [i for i, message in enumerate(messages) if message.get("role") == "user"]
    if not documents or not asked:
        return
    content = messages[asked[-1]].get("content")
    if isinstance(content, list):
        messages[asked[-1]]["content"] = [{"type": "text", "text": documents}, *content]
    else:
        messages[asked[-1]]["content"] = documents + separator + str(content or "")


def _check_messages(messages: Any) -> list[dict[str, Any]]:
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    valid = isinstance(messages, Sequence) and len(messages) > 0
    if not valid or not all(isinstance(message, Mapping) and "role" in message for message in messages):
        refuse("messages", messages, must_be="a str, or a non-empty list of dicts with 'role' and 'content'")
    return [dict(message) for message in messages]


def _check_example(example: Any) -> list[dict[str, Any]]:
    """Return the messages of an example: a pair of texts, or a list of messages."""
    if isinstance(example, Sequence) and len(example) == 2 and all(isinstance(text, str) for text in example):
        return [{"role": "user", "content": example[0]}, {"role": "assistant", "content": example[1]}]
    if isinstance(example, str) or not isinstance(example, Sequence):
        refuse("examples", example, must_be="pairs of texts (question, answer), or lists of messages")
    return _check_messages(example)


def _tool_name(tool: Mapping[str, Any]) -> str:
    function = tool.get("function")
    name = function.get("name") if isinstance(function, Mapping) else tool.get("name")
    if not isinstance(name, str):
        refuse("tools", tool, must_be="dicts in the format of OpenAI, with a function that has a name")
    return name
