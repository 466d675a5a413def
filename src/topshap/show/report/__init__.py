"""The report: a single HTML file with everything about a run, which needs no network."""

from __future__ import annotations

import json
import platform
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.printable import printable
from topshap.core.validation import front_door
from topshap.show.html import html_leaderboard, styles
from topshap.show.report.content import content, facts, pairwise_styles, pairwise_table, race_note, what_it_means
from topshap.show.waterfall_html import html_waterfall, waterfall_note, waterfall_title
from topshap.show.wording import board_note, pairwise_note, question

if TYPE_CHECKING:
    import os

    from topshap.core.result import TopK


_ESCAPED = re.compile("[<>&\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Characters that are escaped in JSON: those with a meaning in HTML, and control characters."""


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
    style, script = styles() + _part("report.css") + pairwise_styles(), _part("report.js")
    page = Template(_part("report.html")).substitute(
        policy=_policy(style, script),
        title=escape(printable(title or question(top).capitalize())),
        headline=escape(top.headline),
        board=html_leaderboard(top),
        board_note=escape(board_note(top)),
        steps_title=escape(waterfall_title(top)),
        steps_note=escape(waterfall_note(top)),
        steps=html_waterfall(top),
        race_note=escape(race_note(top, data["race"])),
        pairwise_note=escape(pairwise_note(top, len(data["pairwise"]["ranks"]))),
        ranked="" if data["run"]["learned"] else "hidden",
        pairwise=pairwise_table(top),
        facts=terms,
        promise=escape(top.promise),
        meaning=meaning,
        styles=style,
        data=_as_json(data),
        script=script,
    )
    return _clean(page)


def versions() -> dict[str, str]:
    """Return the versions of topshap, Python and numpy."""
    try:
        own = version("topshap")
    except PackageNotFoundError:  # imported from a directory without being installed
        own = "not installed"
    return {"topshap": own, "python": platform.python_version(), "numpy": np.__version__}


def _policy(style: str, script: str) -> str:
    """Return the content security policy: nothing is loaded, and only this style sheet and this script are used."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """Return the hash of an inline style sheet or script, as a content security policy states it."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _part(name: str) -> str:
    return files("topshap.show.report").joinpath(name).read_text(encoding="utf-8")


def _as_json(data: object) -> str:
    """Return JSON for a script element; escape characters that could end the element or the line, or are invisible."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _ESCAPED.sub(lambda character: f"\\u{ord(character.group()):04x}", text)


def _clean(text: str) -> str:
    """Return a text that can be encoded as UTF-8: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
