"""The words and sentences of an answer, and the log probability of each word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.text import split_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.clients.base import TokenLogProbs
    from topshap.core.typing import Values

Span = tuple[int, int]
"""The first character of a part of a text, and the one after its last."""
_NO_SPACES = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # each character of these scripts is a word
_WORD = re.compile(rf"\s*(?:[{_NO_SPACES}]|[^\W{_NO_SPACES}]+|[^\w\s]+)|\s+$")


def word_spans(answer: str) -> list[Span]:
    """Return the words and punctuation of an answer, each with the white space before it.

    Examples
    --------
    >>> word_spans("The Danube.")
    [(0, 3), (3, 10), (10, 11)]
    """
    return [match.span() for match in _WORD.finditer(answer)]


def sentence_spans(answer: str) -> list[Span]:
    """Return the sentences of an answer.

    Examples
    --------
    >>> sentence_spans("It rains. It pours.")
    [(0, 9), (10, 19)]
    """
    start = len(answer) - len(answer.lstrip())
    spans = []
    for piece, gap in zip(*split_text(answer, "sentence", ""), strict=True):
        spans.append((start, start + len(piece)))
        start += len(piece) + len(gap)
    return spans


def resolve_span(answer: str, span: Any) -> Span:
    """Return a span that is given by its text, which must occur in the answer, or by its two ends.

    Examples
    --------
    >>> resolve_span("It rains. It pours.", "pours")
    (13, 18)
    """
    if isinstance(span, str) and span and span in answer:
        start = answer.index(span)
        return start, start + len(span)
    ends = tuple(span) if isinstance(span, tuple | list) and len(span) == 2 else (None, None)
    if not all(isinstance(end, int) for end in ends) or not 0 <= ends[0] < ends[1] <= len(answer):
        refuse("span", span, must_be=f"a text that occurs in the answer, or a pair of ints within [0, {len(answer)}]")
    return ends[0], ends[1]


def resolve_spans(answer: str, spans: Any) -> list[Span]:
    """Return the spans of an answer: its sentences, or a list of spans; see `resolve_span`."""
    if spans == "sentence":
        return sentence_spans(answer)
    if isinstance(spans, str) or not hasattr(spans, "__iter__"):
        refuse("spans", spans, must_be="'sentence', or a list of texts or of pairs of ints")
    return [resolve_span(answer, span) for span in spans]


def log_probs_of_words(scored: TokenLogProbs, words: list[Span]) -> Values:
    """Return the log probability of each word, and the number of tokens as the last entry.

    A token belongs to the word in which it starts, so that the result has the same length for any tokens.
    """
    values = np.zeros(len(words) + 1)
    starts = [start for start, _ in words]
    owners = np.clip(np.searchsorted(starts, scored.offsets, side="right") - 1, 0, len(words) - 1)
    np.add.at(values, owners, scored.logprobs)
    values[-1] = len(scored.tokens)
    return values


def words_within(words: list[Span], spans: Iterable[Span]) -> list[list[int]]:
    """Return the words of each span: those that it contains at least half of.

    Examples
    --------
    >>> words_within(word_spans("It rains. It pours."), [(0, 9), (10, 19)])
    [[0, 1, 2], [3, 4, 5]]
    """
    return [[i for i, word in enumerate(words) if 2 * _overlap(word, span) >= word[1] - word[0]] for span in spans]


def _overlap(a: Span, b: Span) -> int:
    return min(a[1], b[1]) - max(a[0], b[0])
