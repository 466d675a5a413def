"""Generators that are sent values, as rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.algorithm import Round, Rounds

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from topshap.core.typing import Coalitions, Values


def evaluate(parts: Iterable[Coalitions]) -> Generator[Coalitions, Values, Values]:
    """Ask for the coalitions of all parts, a part a batch, until the budget ends; return the values so far."""
    answers: list[Values] = []
    for part in parts:
        values = yield part
        answers.append(values)
        if len(values) < len(part):
            break
    return answers[0] if len(answers) == 1 else np.concatenate([np.empty(0), *answers])


def as_rounds(generator: Generator[Coalitions, Values, None]) -> Rounds:
    """Yield the batches of a generator that is sent values as rounds."""
    rows = next(generator, None)
    while rows is not None:
        following: list[Coalitions | None] = []

        def add(values: Values, following: list[Coalitions | None] = following) -> None:
            try:
                following.append(generator.send(values))
            except StopIteration:
                following.append(None)

        yield Round(rows, add)
        rows = following[0]
