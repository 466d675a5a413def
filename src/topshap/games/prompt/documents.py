"""The texts and names of documents: strings, dicts, and objects of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from topshap.core.validation import refuse
from topshap.games.text import short_label

_TEXTS = ("page_content", "text", "content")
_NAMES = ("name", "title", "source", "file_name", "id")


class Document(NamedTuple):
    """The name and the text of a document."""

    name: str
    text: str


def read_documents(documents: Any) -> list[Document]:
    """Return the names and texts of documents.

    Parameters
    ----------
    documents
        A dict from names to texts, or an iterable of documents: strings; dicts with the key ``text``, ``page_content``
        or ``content``; objects with the attribute ``page_content`` or ``text``, or the method ``get_content``. The name
        of a dict or object is its name, title, source, file_name or id, or that in its ``metadata``; otherwise the
        first words of its text.

    Examples
    --------
    >>> read_documents(["The Danube flows through ten countries.", {"title": "vienna", "text": "Vienna is a city."}])
    [Document(name='The Danube flows through ten countries.', text='The Danube flows through ten countries.'),
     Document(name='vienna', text='Vienna is a city.')]
    """
    if isinstance(documents, Mapping):
        documents = [{"name": name, "text": text} for name, text in documents.items()]
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        refuse("documents", documents, must_be="a list of documents, or a dict from names to texts")
    return [_read(document) for document in documents]


def _read(document: Any) -> Document:
    text = _text_of(document)
    if text is None or not text.strip():
        must_be = (
            "documents with a text: strings, dicts with the key 'text', 'page_content' or 'content', or objects with "
            "'page_content', 'text' or 'get_content()'"
        )
        refuse("documents", document, must_be=must_be)
    return Document(_name_of(document) or short_label(text), text)


def _text_of(document: Any) -> str | None:
    if isinstance(document, str):
        return document
    for name in _TEXTS:
        text = document.get(name) if isinstance(document, Mapping) else getattr(document, name, None)
        if isinstance(text, str):
            return text
    if callable(getattr(document, "get_content", None)):
        text = document.get_content()
        return text if isinstance(text, str) else None
    return None


def _name_of(document: Any) -> str | None:
    if isinstance(document, str):
        return None
    own = document if isinstance(document, Mapping) else getattr(document, "__dict__", {})
    metadata = own.get("metadata") or getattr(document, "metadata", None)
    for fields in (own, metadata):
        for name in _NAMES:
            value = fields.get(name) if isinstance(fields, Mapping) else None
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value)
    return None
