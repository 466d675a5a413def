"""What a store keeps about a prompt besides values: the answer, and what was spent."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from topshap.core.errors import StoreError
from topshap.core.usage import Usage

if TYPE_CHECKING:
    from topshap.evaluation import Store

ANSWER, USAGE = "answer", "usage"


class Memory:
    """The answer and the spending in a store; nothing without a store.

    Parameters
    ----------
    store
        The store, or None.
    request
        The fingerprint of the request that asks for the answer; None if it has none.
    """

    def __init__(self, store: Store | None, request: str | None) -> None:
        self._store, self._request = store, request

    def answer(self) -> str | None:
        """Return the answer to the same request that an earlier run has paid for, None if there is none."""
        content = self._read(ANSWER)
        if content is None or self._request is None or content.get("request") != self._request:
            return None
        answer = content.get("answer")
        return answer if isinstance(answer, str) else None

    def usage(self) -> Usage | None:
        """Return what earlier runs have spent, None if that is not known."""
        content = self._read(USAGE)
        with suppress(TypeError):
            return None if content is None else Usage(**content)
        return None

    def keep_answer(self, answer: str) -> None:
        """Keep the answer; the store must be open for its game."""
        content = json.dumps({"request": self._request, "answer": answer})
        if self._store is not None:
            self._store.update_note(ANSWER, lambda _: content)

    def add_usage(self, usage: Usage) -> None:
        """Add to what was spent; the store must be open for its game."""
        if self._store is not None:
            self._store.update_note(USAGE, lambda text: json.dumps(asdict(_usage(text) + usage)))

    def _read(self, name: str) -> Any:
        if self._store is None or not self._store.path.exists():
            return None
        try:
            text = self._store.note(name)
        except StoreError:  # reported when the run opens the store
            return None
        with suppress(ValueError):
            content = None if text is None else json.loads(text)
            return content if isinstance(content, dict) else None
        return None


def _usage(text: str | None) -> Usage:
    with suppress(TypeError, ValueError):
        return Usage(**json.loads(text or "{}"))
    return Usage()
