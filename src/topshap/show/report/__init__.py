"""The report: a single HTML file with everything about a run, which needs no network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from topshap.core.pairs_result import TopPairs
from topshap.core.printable import printable
from topshap.core.validation import front_door
from topshap.show.html import html_leaderboard, styles
from topshap.show.nouns import candidate
from topshap.show.page import as_json, clean, part, policy, versions
from topshap.show.pairs_html import pairs_sections
from topshap.show.report.content import content, facts, pairwise_styles, pairwise_table, race_note, what_it_means
from topshap.show.waterfall_html import html_waterfall, waterfall_note, waterfall_title
from topshap.show.wording import board_note, pairwise_note, question

if TYPE_CHECKING:
    import os

    from topshap.core.result import TopK


@front_door
def to_html(top: TopK, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None) -> None:
    """Write a report on a result to a single HTML file: see `topshap.TopK.to_html`."""
    Path(path).write_text(render(top, title=title, game=game), encoding="utf-8")


def render(top: TopK, *, title: str | None = None, game: str | None = None) -> str:
    """Return the report as text.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)
    >>> render(top, title="Who matters?").startswith("<!doctype html>")
    True
    """
    data = content(top, versions(), title=title, game=game)
    terms = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(printable(text))}</dd>" for term, text in facts(top, data["run"])
    )
    meaning = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in what_it_means(top))
    style, script = (
        styles() + part("topshap.show.report", "report.css") + pairwise_styles(),
        part("topshap.show.report", "report.js"),
    )
    page = Template(part("topshap.show.report", "report.html")).substitute(
        policy=policy(style, script),
        title=escape(printable(title or question(top).capitalize())),
        headline=escape(top.headline),
        board=html_leaderboard(top),
        board_note=escape(board_note(top)),
        sections=_sections(top, data["run"]["learned"]),
        candidates=f"{candidate(top)}s",
        race_note=escape(race_note(top, data["race"])),
        pairwise_note=escape(pairwise_note(top, len(data["pairwise"]["ranks"]))),
        ranked="" if data["run"]["learned"] else "hidden",
        pairwise=pairwise_table(top),
        facts=terms,
        promise=escape(top.promise),
        meaning=meaning,
        styles=style,
        data=as_json(data),
        script=script,
    )
    return clean(page)


def _sections(top: TopK, learned: bool) -> str:
    """Return the sections between the leaderboard and the race: the waterfall of players, or the network of pairs."""
    if isinstance(top, TopPairs):
        return pairs_sections(top) if learned else ""
    hidden = "" if learned else "hidden"
    return (
        f'<section aria-labelledby="h-steps" {hidden}>\n<h2 id="h-steps">{escape(waterfall_title(top))}</h2>\n'
        f'<p class="note">{escape(waterfall_note(top))}</p>\n<div id="steps">{html_waterfall(top)}</div>\n</section>'
    )
