"""Explanations of many rows, and mean magnitudes over them, as plain text, for `print`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.show.board import INTERVAL_NOTE
from topshap.show.labels import shorten, shorten_all, value_text, with_value
from topshap.show.nouns import candidate
from topshap.show.numbers import percent, short_number
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.explanations import Explanations
    from topshap.core.importance import Importance

SHOWN = 10
"""The maximum number of rows and of players in a short table."""
NAMED = 3
"""The maximum number of players of the top k that are named for each row."""


def text_rows(tops: Explanations) -> str:
    """Return a table of the first rows: their names, predictions, top players and confidence.

    Examples
    --------
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0], np.zeros((1, 2)), feature_names=["a", "b"])
    >>> print(text_rows(explainer.explain_many([[1.0, 1.0], [-1.0, -1.0]], k=1)))
    2 explanations of 2 players: the top 1 of each after 8 evaluations in total
    row  prediction  confidence  top 1
    0            -1        >99%  a = 1 (+1)
    1             1        >99%  b = -1 (+2)
    """
    lines = [headline(tops)]
    if len(tops) == 0:
        return lines[0]
    output = ["output"] if tops.n_outputs or _differ(tops) else []
    table = [["row", *output, "prediction", "confidence", f"top {tops.k}"]]
    table += list(first_rows(tops))
    widths = [max(len(line[j]) for line in table) for j in range(len(table[0]) - 1)]
    left = len(widths) - 2  # names are aligned on the left, numbers on the right
    for line in table:
        cells = [f"{cell:<{w}}" if j < left else f"{cell:>{w}}" for j, (cell, w) in enumerate(zip(line, widths))]  # noqa: B905 - the last cell needs no width
        lines.append("  ".join([*cells, line[-1]]).rstrip())
    if len(tops) > SHOWN:
        lines.append(f"... {len(tops) - SHOWN:,} more rows")
    return "\n".join(lines)


def headline(tops: Explanations) -> str:
    """Return the numbers of rows, players, outputs and evaluations in one line."""
    outputs = f" and {tops.n_outputs} outputs" if tops.n_outputs else ""
    return (
        f"{len(tops):,} explanations of {tops.n_players:,} {candidate(tops)}s{outputs}: the top {tops.k} of each after "
        f"{tops.evaluations:,} evaluations in total"
    )


def first_rows(tops: Explanations) -> Iterator[list[str]]:
    """Yield the cells of the first rows as text: name, output if there are several, prediction, confidence, top k."""
    shown = tops[:SHOWN]
    names = shorten_all(shown.row_names or [str(i) for i in range(len(shown))], 24)
    for row, name in enumerate(names):
        if tops.n_outputs is None:
            explained = [shorten(shown.explained[row], 36)] if shown.explained and _differ(tops) else []
            yield [name, *explained, *_cells(shown, row, ())]
            continue
        labels = shown.output_names or [str(i) for i in range(tops.n_outputs)]
        for output, label in enumerate(shorten_all(labels[:SHOWN], 20)):
            yield [name if output == 0 else "", label, *_cells(shown, row, (output,))]


def _differ(tops: Explanations) -> bool:
    """Return whether rows are explained for different outputs."""
    return tops.explained is not None and len(set(tops.explained)) > 1


def _cells(tops: Explanations, row: int, output: tuple[int, ...]) -> list[str]:
    place = (row, *output)
    estimates = tops.estimates[place]
    scale = float(np.abs(estimates).max(initial=0.0))
    values = [None] * tops.n_players if tops.data is None else tops.data[row].tolist()
    players = [
        f"{with_value(shorten(tops.all_names[i], 20), value_text(values[i]))} ({_signed(float(estimates[i]), scale)})"
        for i in tops.players[place].tolist()[:NAMED]
    ]
    more = [f"... {tops.k - NAMED} more"] if tops.k > NAMED else []
    return [f"{tops.grand[place]:.4g}", percent(float(tops.confidence[place])), ", ".join([*players, *more])]


def _signed(value: float, scale: float) -> str:
    text = short_number(value, scale)
    return text if text.startswith("-") or text == "0" else f"+{text}"


def text_importance(importance: Importance) -> str:
    """Return the most important players with their mean magnitudes, for each output."""
    lines = [f"Mean magnitude over {importance.n_rows:,} rows"]
    values, errors = np.atleast_2d(importance.values), np.atleast_2d(importance.std_errors)
    outputs: list[Any] = [None] if importance.values.ndim == 1 else list(importance.output_names or range(len(values)))
    uncertain = False
    for output, mean, error in zip(outputs, values, errors, strict=True):
        if output is not None:
            lines.append(f"{shorten(str(output))}:")
        order = np.argsort(-mean, kind="stable")[:SHOWN]
        names = shorten_all((importance.names[i] for i in order), 40)
        half = two_sided_quantile(0.05) * error[order]
        width, scale = max(10, *map(len, names)), float(mean.max())
        for rank, (name, i, h) in enumerate(zip(names, order.tolist(), half.tolist(), strict=True), start=1):
            sure = not h > 1e-9 * scale
            uncertain |= not sure
            lines.append(
                f"{rank:4d}  {name:<{width}}  {short_number(mean[i], scale)}" + ("" if sure else f" ± {h:.2g}")
            )
        if len(mean) > SHOWN:
            lines.append(f"      ... {len(mean) - SHOWN} more")
    return "\n".join([*lines, f"{INTERVAL_NOTE}."] if uncertain else lines)
