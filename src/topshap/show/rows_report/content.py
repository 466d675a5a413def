"""The content of a report on many rows: the data that its script draws, and notes in words."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.cells import numeric_cells
from topshap.show.labels import VALUE_LENGTH, on_one_line, shorten, shorten_all
from topshap.show.nouns import candidate
from topshap.show.page import versions
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from topshap.core.explanations import Explanations
    from topshap.core.typing import Values

MOST_NUMBERS = 330_000
"""The maximum number of estimates in a report: 10,000 rows of 30 players take about 8 MB."""
OUTPUTS = 50
"""The maximum number of outputs."""
NAME_LENGTH, ROW_NAME_LENGTH = 60, 48
"""Names of players and rows are cut to this many characters."""
NEGLIGIBLE = 1e-6
"""Estimates below this fraction of the largest one are written as 0."""


def content(tops: Explanations, *, title: str | None, game: str | None) -> dict[str, Any]:
    """Return the data as plain lists and numbers with few digits; unknown numbers are None."""
    outputs = [tops] if tops.n_outputs is None else [tops.output(i) for i in range(min(tops.n_outputs, OUTPUTS))]
    most = max(1, MOST_NUMBERS // max(1, len(outputs) * tops.n_players))
    shown = tops[:most]
    names = shown.row_names
    return {
        "format": "topshap.rows-report",
        "version": 1,
        "title": title,
        "run": {
            "game": game,
            "n_rows": len(tops),
            "n_players": tops.n_players,
            "k": tops.k,
            "rank_by": tops.rank_by,
            "evaluations": tops.evaluations,
            "interval_width": two_sided_quantile(0.05),
            "versions": versions(),
        },
        "rows": None if names is None else [shorten(name, ROW_NAME_LENGTH) for name in names],
        "explained": _explained(shown),
        "players": shorten_all(tops.all_names, NAME_LENGTH),
        "values": None if shown.data is None else [_values(shown.data[:, j]) for j in range(tops.n_players)],
        "outputs": [_output(of_output, most, f"output {i}") for i, of_output in enumerate(outputs)],
    }


def facts(tops: Explanations, data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the settings and the cost, as terms and descriptions."""
    run = data["run"]
    if run["game"] is not None:
        yield "Model", run["game"]
    yield "Rows", f"{len(tops):,}, with {tops.n_players:,} {candidate(tops)}s each"
    if tops.output_names is not None:
        names = [shorten(name) for name in tops.output_names[:10]]
        more = f" and {len(tops.output_names) - 10:,} more" if len(tops.output_names) > 10 else ""
        yield "Outputs" if len(tops.output_names) > 1 else "Output", ", ".join(names) + more
    yield "Ranked by", tops.rank_by
    yield "Evaluations", f"{tops.evaluations:,} in total"
    if len(tops):
        first = tops[0] if tops.n_outputs is None else tops[0][0]
        yield "Algorithm", on_one_line(first.algorithm)
    yield "Versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items())


def notes(tops: Explanations, data: dict[str, Any]) -> tuple[str, str]:
    """Return the notes on the overview and on the table: what is shown of what."""
    listed = len(data["outputs"][0]["grand"])
    part = "" if listed == len(tops) else f" Listed are the first {listed:,} of {len(tops):,} rows."
    outputs = ""
    if tops.n_outputs is not None and tops.n_outputs > OUTPUTS:
        outputs = f" The report has the first {OUTPUTS} of {tops.n_outputs:,} outputs."
    overview = (
        "Bars are mean magnitudes of the Shapley values over all rows, with 95% intervals. Each point below is one "
        f"row: how much the player raises or lowers the prediction.{outputs}"
    )
    table = (
        "Select a row to see its leaderboard; the arrow keys move between rows. The confidence is the estimated "
        f"probability that the top {tops.k} is correct; it assumes normal errors and is not a guarantee.{part}"
    )
    return overview, table


def _output(tops: Explanations, most: int, default: str) -> dict[str, Any]:
    """Return the numbers of one output: all rows for the mean magnitudes, the rows that are listed for the rest."""
    importance, shown = tops.importance(), tops[:most]
    scale = float(np.abs(shown.estimates).max(initial=0.0))
    estimates = np.where(np.abs(shown.estimates) <= NEGLIGIBLE * scale, 0.0, shown.estimates)
    errors = np.where(shown.std_errors <= NEGLIGIBLE * scale, 0.0, shown.std_errors)
    return {
        "name": shorten(tops.output_names[0], NAME_LENGTH) if tops.output_names else default,
        "empty": _numbers(shown.empty, 6),
        "grand": _numbers(shown.grand, 6),
        "confidence": _numbers(shown.confidence, 3),
        "estimates": _numbers(estimates.ravel(), 4),
        "std_errors": _numbers(errors.ravel(), 2),
        "top": shown.players.ravel().tolist(),
        "importance": _numbers(importance.values, 4),
        "importance_error": _numbers(importance.std_errors, 3),
    }


def _explained(tops: Explanations) -> dict[str, Any] | None:
    """Return the outputs that rows are explained for, as positions in a list of names; None if all have the same."""
    names = tops.explained
    if names is None or len(set(names)) < 2:
        return None
    labels = sorted(set(names))
    code = {label: i for i, label in enumerate(labels)}
    return {"labels": [shorten(label, NAME_LENGTH) for label in labels], "codes": [code[name] for name in names]}


def _values(cells: NDArray[Any]) -> dict[str, Any]:
    """Return the values of one player: numbers, or positions in a list of labels."""
    numbers, labels = numeric_cells(cells)
    if labels is None:
        return {"numbers": _numbers(numbers, 6)}
    return {"labels": [shorten(label, VALUE_LENGTH) for label in labels], "numbers": _numbers(numbers, 6)}


def _numbers(values: Values, digits: int) -> list[float | int | None]:
    return list(_rounded(values.tolist(), digits))


def _rounded(values: Iterable[float], digits: int) -> Iterator[float | int | None]:
    """Yield numbers with few digits, integers with all of them, and None for unknown numbers."""
    for value in values:
        if not isfinite(value):
            yield None
        elif value.is_integer() and abs(value) < 1e12:
            yield int(value)
        else:
            yield float(f"{value:.{digits}g}")
