"""Attribution: the parts of a prompt that an answer rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.results import TopKs
from topshap.games.prompt.answer import resolve_span, sentence_spans
from topshap.games.prompt.scores import AnswerLogProb
from topshap.games.text import short_label

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from topshap.core.result import TopK
    from topshap.core.typing import Coalitions, Players, Values
    from topshap.core.usage import Usage
    from topshap.games.prompt import PromptGame
    from topshap.games.prompt.answer import Span


@dataclass(frozen=True, eq=False)
class Attribution:
    """The parts of a prompt that an answer rests on: the result of `topshap.attribute`.

    Examples
    --------
    >>> import topshap
    >>> def log_prob(messages, answer):  # of the words of the answer
    ...     prompt = messages[-1]["content"]
    ...     return [-1.0, -5.0 + 4.0 * ("Danube" in prompt), -1.0, -5.0 + 4.0 * ("tram" in prompt)]
    >>> client = topshap.clients.MockClient(lambda messages: "See Danube. Take tram.", log_prob)
    >>> documents = ["Vienna lies on the Danube.", "Bananas are yellow.", "The tram stops here."]
    >>> found = topshap.attribute(client, "What to do in Vienna?", documents=documents, k=1)
    >>> found.answer
    'See Danube. Take tram.'
    >>> found.sentences.names
    [('Vienna lies on the Danube.',), ('The tram stops here.',)]
    >>> found.span("tram").names
    ('The tram stops here.',)
    """

    top: TopK
    """The top k parts for the whole answer."""
    answer: str
    """The answer that was attributed."""
    game: PromptGame = field(repr=False)
    """The game, whose values are the scores of prompts with some of the parts."""
    coalitions: Coalitions = field(repr=False)
    """The coalitions that were evaluated, shape (m, n)."""
    details: Values = field(repr=False)
    """For each of them, the log probability of each word of the answer and the number of tokens; or its value, if the
    score is not `topshap.games.AnswerLogProb`."""
    spans: TopKs | None = None
    """The results for the `spans` of the run, None if it had none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the top k parts, best first."""
        return self.top.names

    @property
    def players(self) -> Players:
        """The positions of the top k players, best first."""
        return self.top.players

    @property
    def confidence(self) -> float:
        """The estimated probability that these are the top k; see `TopK.confidence`."""
        return self.top.confidence

    @property
    def usage(self) -> Usage:
        """The requests, tokens and cost of the run, including those of earlier runs with the same store."""
        usage = self.top.usage
        if usage is None:
            raise RaceError("This result has no usage.")
        return usage

    @cached_property
    def sentences(self) -> TopKs:
        """The results for each sentence of the answer, from the same evaluations."""
        return self.for_spans(sentence_spans(self.answer))

    def span(self, span: str | Span) -> TopK:
        """Return the result for a span of the answer, from the same evaluations.

        Parameters
        ----------
        span
            A text that occurs in the answer, or the positions of its first character and after its last.
        """
        return self.for_spans([resolve_span(self.answer, span)])[0]

    def for_spans(self, spans: Sequence[Span]) -> TopKs:
        """Return the results for several spans of the answer, from the same evaluations.

        They are fitted to the coalitions of the run, whose choice was made for the whole answer or for its own spans.
        The words of a span are those that it contains at least half of.

        Parameters
        ----------
        spans
            The positions of the first character of each span, and after its last.
        """
        from topshap.attribution.spans import results_for  # noqa: PLC0415 - it imports most of scipy

        if not isinstance(self.game.score, AnswerLogProb):
            raise RaceError("Only log probabilities can be attributed by span: use score=AnswerLogProb().")
        if self.top.order != 1:
            raise RaceError("Spans chosen after a run have results for players, not for pairs: use order=1.")
        names = tuple(short_label(self.answer[start:stop]) for start, stop in spans)
        values = self.game.summary(self.details, spans)[:, 1:]
        return replace(results_for(self.top, self.coalitions, values, names), usage=self.top.usage)

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report to a single HTML file that needs no network; see `TopK.to_html`."""
        self.top.to_html(path, title=title or f"What the answer rests on: {short_label(self.answer)}", game=self.answer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `top` to a JSON file; `topshap.load` restores it."""
        self.top.save(path)

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return self.top._repr_html_()

    def __str__(self) -> str:
        """Return the answer, and the top k as text."""
        return f"Answer: {short_label(self.answer, 300)}\n{self.top}"


def attribution_of(result: Any, game: PromptGame, coalitions: list[Coalitions], details: list[Values]) -> Attribution:
    """Return the attribution from the result of a race and what it has kept."""
    several = isinstance(result, TopKs)
    return Attribution(
        top=result[0] if several else result,
        answer=game.answer,
        game=game,
        coalitions=np.concatenate(coalitions),
        details=np.concatenate(details),
        spans=result[1:] if several else None,
    )
