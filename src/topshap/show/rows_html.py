"""The first of many rows as an HTML table without any script, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from topshap.show.html import styles
from topshap.show.rows_text import SHOWN, first_rows, headline

if TYPE_CHECKING:
    from topshap.core.explanations import Explanations


def html_rows(tops: Explanations) -> str:
    """Return a table of the first rows: their names, predictions, confidence and top players.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0], np.zeros((1, 2)), feature_names=["<b>", "b"])
    >>> html = html_rows(explainer.explain_many([[1.0, 1.0], [-1.0, -1.0]], k=1))
    >>> "&lt;b&gt; = 1 (+1)" in html, "<b>" in html
    (True, False)
    """
    titles = ["row", *(["output"] if tops.n_outputs else []), "prediction", "confidence", f"top {tops.k}"]
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in cells) + "</tr>"
        for cells in first_rows(tops)
    )
    more = f'<p class="ts-note">{len(tops) - SHOWN:,} more rows</p>' if len(tops) > SHOWN else ""
    return (
        f'<div class="topshap"><style>{styles()}</style><p><strong>{escape(headline(tops))}</strong></p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )
