"""Prompts whose answer is copied from known documents among distractors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]
_THINGS = ("code", "price", "owner", "colour", "date", "office", "editor", "origin", "weight", "length")
_FILLERS = (
    "The report says that the office is in",
    "The manager said that the meeting is in",
    "A new bridge was built by the city of",
    "The library of the school is next to",
)
_VERBS = ("was moved to", "belongs to", "is next to", "was sold to", "was named after", "is kept in")


class Prompt(NamedTuple):
    """A question, its answer and the documents it may rest on."""

    documents: tuple[str, ...]
    question: str
    answer: str
    planted: frozenset[int]
    """The positions of the documents that the answer is copied from."""

    def text_of(self, present: Sequence[bool]) -> str:
        """Return the prompt with some of the documents."""
        kept = [document for document, there in zip(self.documents, present, strict=True) if there]
        return "\n".join([*kept, f"Question: {self.question}", "Answer:"])


def copied(distractors: int, *, k: int = 3, seed: int = 0) -> Prompt:
    """Return a prompt whose answer has one sentence from each of k documents.

    Examples
    --------
    >>> prompt = copied(12, seed=1)
    >>> len(prompt.documents), len(prompt.planted)
    (15, 3)
    >>> all(sentence in " ".join(prompt.documents) for sentence in prompt.answer.strip(" .").split(". "))
    True
    """
    rng = np.random.default_rng([seed, distractors, k, 0])
    names = _names(rng)
    facts = [_fact(rng, names) for _ in range(distractors + k)]
    documents = [f"{fact} {_filler(rng, names)}" for fact in facts]
    order = rng.permutation(len(documents))
    planted = frozenset(np.flatnonzero(order < k).tolist())
    return Prompt(
        tuple(documents[i] for i in order),
        "What is known about them?",
        " " + " ".join(facts[i] for i in range(k)),
        planted,
    )


def in_pairs(distractors: int, *, pairs: int = 2, seed: int = 0) -> Prompt:
    """Return a prompt whose answer rests on pairs of documents that are only useful together.

    One of a pair says that a name means another one, and the other what is known of the latter. The answer says this of
    the former. The distractors are documents of both kinds.

    Examples
    --------
    >>> prompt = in_pairs(12, seed=1)
    >>> len(prompt.documents), len(prompt.planted)
    (16, 4)
    """
    rng = np.random.default_rng([seed, distractors, pairs, 1])
    names = _names(rng)
    documents, answers = [], []
    for _ in range(pairs):
        alias, name, thing, value = next(names), next(names), str(rng.choice(_THINGS)), next(names)
        facts = f"{alias} means {name}.", f"the {thing} of {name} is {value}."
        documents += [f"{fact} {_filler(rng, names)}" for fact in facts]
        answers.append(f"the {thing} of {alias} is {value}.")
    for position in range(distractors):
        fact = f"{next(names)} means {next(names)}." if position % 2 else _fact(rng, names)
        documents.append(f"{fact} {_filler(rng, names)}")
    order = rng.permutation(len(documents))
    planted = frozenset(np.flatnonzero(order < 2 * pairs).tolist())
    return Prompt(tuple(documents[i] for i in order), "What is known about them?", " " + " ".join(answers), planted)


def _names(rng: np.random.Generator) -> Iterator[str]:
    """Yield distinct invented names."""
    seen: set[str] = set()
    while True:
        name = "".join(rng.choice(_SYLLABLES, 3)).capitalize()
        if name not in seen:
            seen.add(name)
            yield name


def _fact(rng: np.random.Generator, names: Iterator[str]) -> str:
    """Return a sentence about invented names."""
    if rng.random() < 0.5:
        return f"the {rng.choice(_THINGS)} of {next(names)} is {next(names)}."
    return f"{next(names)} {rng.choice(_VERBS)} {next(names)} and {next(names)}."


def _filler(rng: np.random.Generator, names: Iterator[str]) -> str:
    """Return a sentence that shares its words with many documents."""
    return f"{rng.choice(_FILLERS)} {next(names)}."
