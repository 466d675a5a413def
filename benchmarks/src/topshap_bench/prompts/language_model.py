"""A small causal language model without training: a background bigram model and a copy model over the context.

The copy model is a backoff model over the tokens seen so far, as in prediction by partial matching: where the last two
or more tokens occur earlier in the context, the tokens that followed them there become likely. So the probability of an
answer depends on the documents that contain it. A sentence "A means B." makes the model read B for A when it looks up
the context, so that an answer may need two documents together.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOKEN = re.compile(r"\n+|[^\S\n]*(?:\w+|[^\w\s])|[^\S\n]+")
_VOCABULARY = 2**15
"""The number of tokens over which the background spreads what it does not know."""
_ORDERS = range(2, 7)
"""The context lengths of the copy model."""
_BACKOFF = 0.3
"""The weight of the shorter context, in observations."""
_KNOWN = 0.7
"""The weight of the corpus in the background; the rest is spread evenly."""

CORPUS = (
    "The report says that the office of the city is in the north. The code of the project is in the file. "
    "The manager of the team said that the meeting is on Monday. A new bridge over the river was built by the city. "
    "The museum is open on Sunday and the entrance is free. The library of the school has many books about history. "
    "The price of the ticket is the same as last year. The company said that the results of the year were good."
)
"""The text of the background model."""


class Token(NamedTuple):
    """A token of a text."""

    text: str
    """The token with the white space before it."""
    offset: int
    """Its position in the text."""

    @property
    def key(self) -> str:
        """The token without white space, or one line break."""
        return self.text.strip() or self.text[:1]


def tokenize(text: str) -> list[Token]:
    """Split a text into words, punctuation and line breaks; the tokens together are the text.

    Examples
    --------
    >>> [token.text for token in tokenize("The code is 47.")]
    ['The', ' code', ' is', ' 47', '.']
    """
    return [Token(match.group(), match.start()) for match in _TOKEN.finditer(text)]


def keys_of(text: str) -> list[str]:
    r"""Return the keys of the tokens of a text.

    Examples
    --------
    >>> keys_of("The code\n\nis 47.")
    ['The', 'code', '\n', 'is', '47', '.']
    """
    keys: list[str] = []
    for part in re.split(r"(\n+)", text):
        keys += ["\n"] if part.startswith("\n") else _keys_of_line(part)
    return keys


@lru_cache(4096)
def _keys_of_line(line: str) -> tuple[str, ...]:
    return tuple(token.key for token in tokenize(line))


class LanguageModel:
    r"""A background bigram model and a copy model over the context.

    Parameters
    ----------
    corpus
        The text of the background model.

    Examples
    --------
    >>> model = LanguageModel()
    >>> known = "Ada keeps the blue lamp.\nQuestion: Who?\nAnswer:"
    >>> answer = " Ada keeps the blue lamp."
    >>> round(model.log_prob(known, answer) - model.log_prob("Question: Who?\nAnswer:", answer), 1)
    28.0
    >>> model.generate(known + " Ada keeps", max_tokens=8)
    ' the blue lamp.'
    """

    def __init__(self, corpus: str = CORPUS) -> None:
        words = keys_of(corpus)
        self._followers: Mapping[str, Counter[str]] = _followers(words)
        self._words = Counter(words)

    def token_log_probs(self, text: str, start: int = 0) -> list[float]:
        """Return the log probability of each token of a text from position `start` in characters on.

        The first token has no context; its probability is that of the background.
        """
        tokens = tokenize(text)
        before = [token.key for token in tokens if token.offset < start]
        return self._scored(Context(self, before), [token.key for token in tokens[len(before) :]])

    def log_prob(self, prompt: str, answer: str) -> float:
        """Return the log probability of an answer after a prompt; the answer starts with a new token."""
        return sum(self._scored(Context(self, keys_of(prompt)), keys_of(answer)))

    def _scored(self, context: Context, tokens: Sequence[str]) -> list[float]:
        log_probs = []
        for token in tokens:
            log_probs.append(math.log(context.probability(token)))
            context.append(token)
        return log_probs

    def generate(self, prompt: str, *, max_tokens: int, temperature: float = 0.0, seed: int = 0) -> str:
        """Return a continuation up to the end of its line."""
        rng = np.random.default_rng([seed, zlib.crc32(prompt.encode())])
        context = Context(self, keys_of(prompt))
        written: list[str] = []
        while len(written) < max_tokens:
            token = _drawn(context.likely(), temperature, rng)
            if token in {"\n", ""}:
                break
            written.append(" " + token if token[0].isalnum() else token)
            context.append(token)
        return "".join(written)

    def background(self, last: str | None) -> Counter[str]:
        """Return how often tokens follow a token in the corpus, or how often they occur if the token is unknown."""
        return self._followers.get(last, self._words) if last is not None else self._words

    def background_probability(self, last: str | None, token: str) -> float:
        """Return the probability of a token by the background model."""
        counts = self.background(last)
        return _KNOWN * counts[token] / counts.total() + (1.0 - _KNOWN) / _VOCABULARY


class Context:
    """The tokens read so far, with the positions of each token and the aliases of "A means B."."""

    def __init__(self, model: LanguageModel, tokens: Sequence[str]) -> None:
        self._model = model
        self._tokens = [*tokens]
        self._positions: dict[str, list[int]] = defaultdict(list)
        for position, token in enumerate(tokens):
            self._positions[token].append(position)
        means = [position for position in self._positions["means"] if 0 < position < len(tokens) - 1]
        self._aliases = {tokens[position - 1]: tokens[position + 1] for position in means}

    def append(self, token: str) -> None:
        """Add a token at the end."""
        tokens = self._tokens
        if len(tokens) >= 2 and tokens[-1] == "means":
            self._aliases[tokens[-2]] = token
        self._positions[token].append(len(tokens))
        tokens.append(token)

    def probability(self, token: str) -> float:
        """Return the probability that a token comes next."""
        probability = self._model.background_probability(self._tokens[-1] if self._tokens else None, token)
        for counts in self._copied():
            probability = (counts[token] + _BACKOFF * probability) / (counts.total() + _BACKOFF)
        return probability

    def likely(self) -> dict[str, float]:
        """Return the probabilities of the tokens that the model has seen after this context."""
        copied = self._copied()
        known = self._model.background(self._tokens[-1] if self._tokens else None)
        seen = dict.fromkeys([*known, *(token for counts in copied for token in counts)])
        return {token: self.probability(token) for token in seen}

    def _copied(self) -> list[Counter[str]]:
        """Return the tokens that followed earlier occurrences of the last 2, 3, ... tokens of the context."""
        suffix = self._suffix
        if len(suffix) < _ORDERS[0]:
            return []
        ends = [end for end in self._positions[suffix[-1]] if end + 1 < len(self._tokens)]
        found = []
        for order in range(2, min(len(suffix), _ORDERS[-1]) + 1):
            ends = [end for end in ends if end + 1 >= order and self._tokens[end + 1 - order] == suffix[-order]]
            if not ends:
                break
            if order in _ORDERS:
                found.append(Counter(self._tokens[end + 1] for end in ends))
        return found

    @property
    def _suffix(self) -> list[str]:
        """The last tokens, with aliases replaced."""
        tokens = self._tokens[-_ORDERS[-1] :]
        return [self._aliases.get(token, token) for token in tokens]


def _followers(words: Sequence[str]) -> dict[str, Counter[str]]:
    followers: dict[str, Counter[str]] = defaultdict(Counter)
    for first, second in pairwise(words):
        followers[first][second] += 1
    return dict(followers)


def _drawn(likely: Mapping[str, float], temperature: float, rng: np.random.Generator) -> str:
    """Return the most likely token, or one drawn at a temperature; an empty text if none is known."""
    if not likely:
        return ""
    if temperature <= 0.0:
        return max(likely, key=lambda token: likely[token])
    weights = np.array(list(likely.values())) ** (1.0 / temperature)
    return str(rng.choice(list(likely), p=weights / weights.sum()))
