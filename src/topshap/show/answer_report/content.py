"""The content of the report on an answer: its spans, the parts of the prompt, and how much each span rests on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.printable import printable
from topshap.show.board import Leaderboard
from topshap.show.labels import name_of
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topshap.core.levels import Levels
    from topshap.core.result import TopK
    from topshap.core.results import TopKs
    from topshap.core.typing import Players

MOST_SPANS, MOST_TEXT = 200, 20_000
"""The maximum number of spans with results of their own, and of characters of a part."""


@dataclass(frozen=True)
class AnswerContent:
    """What the report on an answer shows.

    Parameters
    ----------
    answer
        The answer.
    top
        The result for the whole answer.
    parts
        The texts of the parts of the prompt, in order.
    player_of
        The player that each part belongs to; a number that is not a player for parts that are in every prompt.
    spans
        The first character of each span of the answer, and the one after its last.
    tops
        The results for the spans, None if only the whole answer has a result.
    levels
        Both levels of a zoomed result, None if there is one level.
    """

    answer: str
    top: TopK
    parts: Sequence[str]
    player_of: Players
    spans: Sequence[tuple[int, int]] = ()
    tops: TopKs | None = None
    levels: Levels | None = None

    def segments(self) -> Iterable[tuple[str, int | None]]:
        """Yield the texts that the answer consists of, each with the number of its span, None between spans.

        Examples
        --------
        >>> import topshap
        >>> top = topshap.identify(topshap.games.AdditiveGame([1.0, 0.0]), k=1)
        >>> tops = [top, top]  # usually a TopKs
        >>> list(AnswerContent("It is. So.", top, ["a", "b"], [0, 1], [(0, 6), (7, 10)], tops).segments())
        [('It is.', 0), (' ', None), ('So.', 1)]
        """
        end = 0
        for i, (start, stop) in enumerate(self.shown_spans):
            if start < end:
                continue  # spans that overlap are in the list below the answer only
            if start > end:
                yield self.answer[end:start], None
            yield self.answer[start:stop], i
            end = stop
        if end < len(self.answer):
            yield self.answer[end:], None

    @property
    def shown_spans(self) -> list[tuple[int, int]]:
        """The spans with results of their own."""
        return [] if self.tops is None else sorted(self.spans)[:MOST_SPANS]

    def results(self) -> list[TopK]:
        """Return the result of the whole answer, followed by those of the spans in order."""
        if self.tops is None:
            return [self.top]
        order = sorted(range(len(self.spans)), key=lambda i: self.spans[i])[:MOST_SPANS]
        return [self.top, *(self.tops[i] for i in order)]

    def data(self) -> dict[str, Any]:
        """Return what the script of the report needs, as plain lists, numbers and texts."""
        return {
            "format": "topshap.answer",
            "version": 1,
            "answer": self.answer,
            "players": [printable(name_of(self.top, i)) for i in range(self.top.n_players)],
            "spans": [None, *(list(span) for span in self.shown_spans)],
            "results": [_result(top) for top in self.results()],
        }


def _result(top: TopK) -> dict[str, Any]:
    """Return a result: for each player a strength between 0 and 1, its value and certainty as text, and the top k."""
    board = Leaderboard.of(top, np.arange(top.n_players), with_inclusion=True)
    by_player = sorted(board.rows, key=lambda row: row.player)
    keys = np.maximum(rank_key(top.estimates, top.rank_by), 0.0)
    largest = float(keys.max()) or 1.0
    certainty = [board.inclusion(row) for row in by_player]
    return {
        "top": top.players.tolist() if board.learned else [],
        "ranking": top.ranking.tolist() if board.learned else [],
        "strength": [round(float(key) / largest, 3) for key in keys],
        "value": [board.estimate(row) + board.uncertainty(row) for row in by_player],
        "certainty": [f"{board.inclusion_heading} {text}" if text and text != "tied" else text for text in certainty],
    }
