"""Attribution: the parts of a prompt that an answer rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import RaceError
from topshap.core.levels import Levels
from topshap.core.results import TopKs
from topshap.games.prompt.answer import resolve_span, sentence_spans
from topshap.games.prompt.scores import AnswerLogProb
from topshap.games.text import short_label

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from topshap.attribution.run import PromptRun
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
    inner: Attribution | None = None
    """The result for the sentences of some of the documents, None unless there is a second level."""
    parents: Players | None = field(default=None, repr=False)
    """The document that each player of `inner` belongs to."""
    run: PromptRun | None = field(default=None, repr=False)
    """The run, with all its settings, for `zoom`."""

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
    def levels(self) -> Levels | None:
        """Both levels as one leaderboard, None unless there is a second one."""
        if self.inner is None or self.parents is None:
            return None
        return Levels(self.top, self.inner.top, self.parents)

    def zoom(self, into: Any = None, *, unit: str = "sentence", k: int | None = None, **options: Any) -> Attribution:
        """Find the k sentences that the answer rests on, within some of the documents.

        All other documents are in every prompt, so the values of the sentences add up to what their documents add to
        all others. The run has the client, the store and the other settings of this one.

        Parameters
        ----------
        into
            The documents, by name or index; by default the top k.
        unit
            ``"sentence"``.
        k
            The number of sentences; by default as many as documents.
        **options
            The options of a race in place of those of this run, such as ``budget``.

        Returns
        -------
        Attribution
            This result with the result for the sentences as `inner`, and both together as `levels`.

        Examples
        --------
        >>> import topshap
        >>> def log_prob(messages, answer):
        ...     return -10.0 + 8.0 * ("on the Danube" in messages[-1]["content"])
        >>> client = topshap.clients.MockClient(lambda messages: "On the Danube.", log_prob)
        >>> documents = {"fruit": "Bananas are yellow.", "cities": "Paris is old. Vienna lies on the Danube. It rains."}
        >>> found = topshap.attribute(client, "Where is Vienna?", documents=documents, k=1)
        >>> found.zoom().inner.names
        ('Vienna lies on the Danube.',)
        """
        from topshap.attribution.driving import run_until_complete  # noqa: PLC0415 - not needed without a second level
        from topshap.attribution.zoomed import zoom_run  # noqa: PLC0415 - not needed without a second level

        run, parents = zoom_run(self, into, unit, k, options)
        return replace(self, inner=run_until_complete(run), parents=parents)

    async def azoom(
        self, into: Any = None, *, unit: str = "sentence", k: int | None = None, **options: Any
    ) -> Attribution:
        """Find the k sentences that the answer rests on; `zoom` in an event loop."""
        from topshap.attribution.driving import warned  # noqa: PLC0415 - as in `zoom`
        from topshap.attribution.zoomed import zoom_run  # noqa: PLC0415 - not needed without a second level

        run, parents = zoom_run(self, into, unit, k, options)
        return replace(self, inner=warned(await run.play()), parents=parents)

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

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the leaderboard, of both levels if there are two. Needs the extra ``topshap[plots]``."""
        return (self.levels or self.top).plot(ax)

    def text_map(self, ax: Axes | None = None, *, span: str | Span | None = None) -> Axes:
        """Write the parts of the prompt with those of the top k highlighted; see `topshap.show.text_map`.

        Parameters
        ----------
        ax
            The axes to write on; by default those of a new figure. Needs the extra ``topshap[plots]``.
        span
            A span of the answer, as in `span`; by default the whole answer.
        """
        from topshap.show import text_map  # noqa: PLC0415 - not needed by most runs

        top = self.top if span is None else self.span(span)
        return text_map(top, ax, pieces=self.game.pieces, player_of=self.game.player_of)

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report to a single HTML file that needs no network.

        It shows the answer and the parts of the prompt side by side. Pointing at a sentence of the answer, or moving to
        it with the keyboard, highlights the parts behind it with their values and certainty, and the other way round.

        Parameters
        ----------
        path
            The file to write.
        title
            The title of the report.
        """
        from topshap.show.answer_report import AnswerContent, answer_to_html  # noqa: PLC0415 - not needed by most runs

        spans = sentence_spans(self.answer)
        by_span = isinstance(self.game.score, AnswerLogProb) and self.top.order == 1 and bool(spans)
        content = AnswerContent(
            self.answer,
            self.top,
            self.game.pieces,
            self.game.player_of,
            spans if by_span else (),
            self.sentences if by_span else None,
            self.levels,
        )
        answer_to_html(content, path, title=title or f"What the answer rests on: {short_label(self.answer)}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `top` to a JSON file; `topshap.load` restores it."""
        self.top.save(path)

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return (self.levels or self.top)._repr_html_()

    def __str__(self) -> str:
        """Return the answer, and the top k as text."""
        return f"Answer: {short_label(self.answer, 300)}\n{self.levels or self.top}"


def attribution_of(result: Any, run: PromptRun, coalitions: list[Coalitions], details: list[Values]) -> Attribution:
    """Return the attribution from the result of a race and what it has kept."""
    several = isinstance(result, TopKs)
    return Attribution(
        top=result[0] if several else result,
        answer=run.game.answer,
        game=run.game,
        coalitions=np.concatenate(coalitions),
        details=np.concatenate(details),
        spans=result[1:] if several else None,
        run=run,
    )
