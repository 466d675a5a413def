"""Results of several outputs as text: one line per output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.show.board import has_learned
from topshap.show.labels import shorten, shorten_all
from topshap.show.numbers import percent
from topshap.show.wording import NOTHING_LEARNED, why_it_ended
from topshap.statistics.ranking import order_phrase

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.core.results import TopKs

MOST_OUTPUTS, MOST_PLAYERS = 20, 10
"""The maximum number of lines, and of players in a line."""


def outputs_headline(tops: TopKs) -> str:
    """Return the result in one line: how many players and outputs, and after how many evaluations."""
    each = "1 output" if len(tops) == 1 else f"each of {len(tops):,} outputs"
    found = f"Top {tops.k} of {tops.n_players:,} players{order_phrase(tops.rank_by)} for {each}"
    noisy = "" if tops.deterministic else ", values vary"
    return f"{found} after {tops.evaluations:,} evaluations ({why_it_ended(tops[0])}{noisy})"


def outputs_promise(tops: TopKs) -> str:
    """Return what is guaranteed, under which assumptions, and what was spent."""
    about_each = " This is about each output by itself." if tops.stopped == "confident" and len(tops) > 1 else ""
    return f"{tops[0].promise}{about_each}"


def text_outputs(tops: TopKs) -> str:
    """Return the headline, the top k of at most 20 outputs in one line each, and the promise.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> tops = topshap.identify(lambda coalitions: coalitions @ np.array([[3.0, 0.0], [1.0, 1.0]]), 2, k=1)
    >>> print(text_outputs(tops).splitlines()[1])
    0: 0
    """
    shown = tops[:MOST_OUTPUTS]
    labels = shorten_all(shown.output_name(i) for i in range(len(shown)))
    width = max(map(len, labels))
    lines = [f"{label + ':':<{width + 1}} {line_of(top)}" for label, top in zip(labels, shown, strict=True)]
    more = [f"... {len(tops) - len(shown):,} more outputs"] if len(shown) < len(tops) else []
    return "\n".join([outputs_headline(tops), *lines, *more, outputs_promise(tops)])


def line_of(top: TopK) -> str:
    """Return the top k of one output in a line, with the confidence unless the result is exact."""
    if not has_learned(top):
        return f"no ranking: {NOTHING_LEARNED}"
    names = ", ".join(shorten(name) for name in top.names[:MOST_PLAYERS])
    more = f" and {top.k - MOST_PLAYERS} more" if top.k > MOST_PLAYERS else ""
    sure = "" if top.stopped == "exact" else f" ({percent(top.confidence)} sure)"
    return f"{names}{more}{sure}"
