"""Similarity: how close a new answer is to the original one."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError
from topshap.core.validation import front_door, refuse
from topshap.games.prompt.answer import sentence_spans
from topshap.games.prompt.scores import GeneratedScore

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.clients.base import AsyncClient, Completion


@front_door
@dataclass(frozen=True)
class Similarity(GeneratedScore):
    """The cosine similarity of a new answer and the original one, between 0 and 1 for texts without embeddings.

    A new answer is sampled for every coalition, so that values vary, unless `params` of the game has a temperature of 0
    and a seed.

    Parameters
    ----------
    embed
        A function from a list of texts to one vector per text, sync or async, such as ``client.aembed`` of a
        `topshap.clients.HTTPClient`. By default, texts are compared by their words and pairs of words, weighted by
        TF-IDF over the sentences of the original answer.

    Examples
    --------
    >>> import topshap
    >>> client = topshap.clients.MockClient(lambda messages: "It rains." if "wet" in str(messages) else "No idea.")
    >>> game = topshap.games.PromptGame(
    ...     client,
    ...     "What about it?",
    ...     documents=["All is wet.", "All is well."],
    ...     answer="It rains.",
    ...     score=Similarity(),
    ...     params={"temperature": 0, "seed": 0},
    ... )
    >>> topshap.identify(game, k=1).names
    ('All is wet.',)
    """

    embed: Callable[[list[str]], Any] | None = None
    label = "similarity to the answer"

    def __post_init__(self) -> None:
        if self.embed is not None and not callable(self.embed):
            refuse("embed", self.embed, must_be="a function from a list of texts to one vector per text, or None")

    async def compare(self, completion: Completion, answer: str, client: AsyncClient) -> float:  # noqa: ARG002
        """Return the similarity of a new answer."""
        if self.embed is None:
            return tf_idf_similarity(completion.text, answer)
        found = self.embed([completion.text, answer])
        vectors = np.asarray(await found if inspect.isawaitable(found) else found, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != 2:
            raise GameError(f"The 'embed' of Similarity must return one vector per text. Got shape {vectors.shape}.")
        lengths = float(np.linalg.norm(vectors[0]) * np.linalg.norm(vectors[1]))
        return float(vectors[0] @ vectors[1]) / lengths if lengths > 0.0 else 0.0


def tf_idf_similarity(text: str, answer: str) -> float:
    """Return the cosine similarity of the words and pairs of words of two texts, weighted by TF-IDF.

    The weights come from the sentences of `answer`; words that it does not have get the largest weight.

    Examples
    --------
    >>> round(tf_idf_similarity("The Danube.", "the danube"), 6), tf_idf_similarity("Bananas.", "the danube")
    (1.0, 0.0)
    """
    sentences = [set(_terms(answer[start:stop])) for start, stop in sentence_spans(answer)]
    inside = Counter(term for sentence in sentences for term in sentence)
    first, second = (
        {
            term: (1.0 + math.log(count)) * (1.0 + math.log((1.0 + len(sentences)) / (1.0 + inside[term])))
            for term, count in Counter(_terms(each)).items()
        }
        for each in (text, answer)
    )
    product = sum(weight * second.get(term, 0.0) for term, weight in first.items())
    lengths = math.sqrt(sum(w * w for w in first.values()) * sum(w * w for w in second.values()))
    return product / lengths if lengths > 0.0 else 0.0


def _terms(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return words + [" ".join(pair) for pair in pairwise(words)]
