"""The report on an answer: the answer and the parts of its prompt side by side, in a single HTML file."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from topshap.core.printable import printable, printable_lines
from topshap.core.validation import front_door
from topshap.show.answer_report.content import MOST_TEXT, AnswerContent
from topshap.show.html import html_leaderboard, styles
from topshap.show.labels import name_of
from topshap.show.levels_html import LEVELS_STYLE, html_levels
from topshap.show.page import as_json, clean, part, policy, versions
from topshap.show.report.content import facts

if TYPE_CHECKING:
    import os

__all__ = ["AnswerContent", "answer_to_html", "render_answer"]


@front_door
def answer_to_html(content: AnswerContent, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write the report to a single HTML file: see `topshap.Attribution.to_html`."""
    Path(path).write_text(render_answer(content, title=title), encoding="utf-8")


def render_answer(content: AnswerContent, *, title: str | None = None) -> str:
    """Return the report as text.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([1.0, 0.0]), k=1)
    >>> render_answer(AnswerContent("It is <so>.", top, ["a", "b"], [0, 1])).count("It is &lt;so&gt;.")
    1
    """
    package = "topshap.show.answer_report"
    style = styles() + part("topshap.show.report", "report.css") + LEVELS_STYLE + part(package, "answer.css")
    script = part(package, "answer.js")
    run = {"game": None, "versions": versions()}
    terms = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(printable(text))}</dd>" for term, text in facts(content.top, run)
    )
    board = html_leaderboard(content.top) if content.levels is None else html_levels(content.levels)
    page = Template(part(package, "answer.html")).substitute(
        policy=policy(style, script),
        title=escape(printable(title or "What the answer rests on")),
        headline=escape(content.top.headline),
        promise=escape(content.top.promise),
        answer=_answer(content),
        parts=_parts(content),
        board=board,
        facts=terms,
        styles=style,
        data=as_json(content.data()),
        script=script,
    )
    return clean(page)


def _answer(content: AnswerContent) -> str:
    """Return the answer; each span is a button."""
    texts = []
    for text, span in content.segments():
        shown = escape(printable_lines(text))
        texts.append(
            shown if span is None else f'<button type="button" class="span" data-span="{span + 1}">{shown}</button>'
        )
    return "".join(texts)


def _parts(content: AnswerContent) -> str:
    """Return the parts of the prompt as a list; each part that belongs to a player is a button."""
    items = []
    for text, player in zip(content.parts, content.player_of, strict=True):
        shown = escape(printable_lines(text[:MOST_TEXT])) + ("…" if len(text) > MOST_TEXT else "")
        if not 0 <= player < content.top.n_players:
            items.append(f'<li class="part kept"><p class="text">{shown}</p><p class="note">in every prompt</p></li>')
            continue
        name = escape(printable(name_of(content.top, int(player))))
        items.append(
            f'<li class="part" data-player="{int(player)}"><div class="part-head">'
            f'<button type="button" class="part-name"><bdi>{name}</bdi></button>'
            f'<span class="score" aria-hidden="true"></span></div><p class="text">{shown}</p></li>'
        )
    return "".join(items)
