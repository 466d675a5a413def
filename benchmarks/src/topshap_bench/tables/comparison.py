"""topshap next to other packages on whole tables: the CPU time for equal accuracy, and sharing next to row by row.

The error of a row is the root mean square error of its Shapley values divided by their range. It is averaged over the
judged rows, the first of the table, for everyone. Packages that explain rows one after another are measured on these
rows only, and their cost per row is taken for tables of any length. topshap explains the whole table. The CPU time for
equal accuracy is that of topshap's smallest budget whose error is not above the rival's. Set-ups with which constants
were chosen are reported apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.summary import as_text, circumstances, geometric_mean
from topshap_bench.tables.explainers import RIVALS, WITH_GROUPS, K, Measured, installed, measure, topshap_with
from topshap_bench.tables.setups import RECIPES, make

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from topshap_bench.tables.setups import Rows, SetUp

JUDGED = 16
"""The number of rows that errors are measured on."""
BUDGETS = (50, 100, 150, 250, 400, 700, 1000, 2000)
"""topshap's budgets per row; all coalitions are added for up to 12 players."""
EQUAL_BUDGETS = (100, 250, 500)
"""Budgets at which sharing is compared with explaining row by row."""
ROWS = (1, 10, 200, 2000)
MANY = 200
"""From this number of rows on, ratios are averaged."""


class Cell(NamedTuple):
    """One explainer on one set-up with some number of rows."""

    setup: str
    tuned: bool
    n_players: int
    rows: int
    explainer: str
    budget: int | None
    """topshap's budget, None for other packages."""
    error: float
    border_error: float
    """The mean inclusion-exclusion error of the top k, divided by the range."""
    cpu: float
    """CPU milliseconds per row, as the three below."""
    wall: float
    own_cpu: float
    """CPU time without the model's."""
    predictions: float


def compare(
    *,
    setups: Sequence[str] = tuple(RECIPES),
    folder: Path | None = None,
    rows: Sequence[int] = ROWS,
    budgets: Sequence[int] = BUDGETS,
    judged: int = JUDGED,
    rivals: Sequence[str] = tuple(RIVALS),
    progress: Callable[[str], None] = lambda _: None,
) -> list[Cell]:
    """Measure all explainers on all set-ups."""
    cells = []
    for name in setups:
        setup = make(name, folder, rows=max(rows))
        truth = setup.truth(min(judged, len(setup.X)))
        progress(f"{name}: {setup.n_players} players, {len(setup.X)} rows")
        cells += _of_rivals(setup, truth, rivals)
        cells += _of_topshap(setup, truth, rows, budgets)
        cells += _row_by_row(setup, truth)
    return cells


def _of_rivals(setup: SetUp, truth: Rows, rivals: Sequence[str]) -> list[Cell]:
    chosen = [name for name in installed(rivals) if setup.groups is None or name in WITH_GROUPS]
    return [_cell(setup, truth, name, measure(RIVALS[name], setup, len(truth)), rows=len(truth)) for name in chosen]


def _of_topshap(setup: SetUp, truth: Rows, rows: Sequence[int], budgets: Sequence[int]) -> list[Cell]:
    n = setup.n_players
    useful = [budget for budget in budgets if 2 * n + 2 <= budget < 2**n] + ([2**n] if n <= 12 else [])
    counts = dict.fromkeys(min(count, len(setup.X)) for count in rows)
    return [
        _cell(setup, truth, "topshap", measure(topshap_with(budget), setup, count), rows=count, budget=budget)
        for count in counts
        for budget in useful
    ]


def _row_by_row(setup: SetUp, truth: Rows) -> list[Cell]:
    """Measure topshap without sharing, on the judged rows."""
    budgets = [budget for budget in EQUAL_BUDGETS if budget < 2**setup.n_players]
    named = {"row by row": {"share": False}, "shared": {"share": True}}
    return [
        _cell(
            setup,
            truth,
            name,
            measure(topshap_with(budget, **options), setup, len(truth)),
            rows=len(truth),
            budget=budget,
        )
        for name, options in named.items()
        for budget in budgets
    ]


def _cell(setup: SetUp, truth: Rows, name: str, found: Measured, *, rows: int, budget: int | None = None) -> Cell:
    judged = min(len(truth), len(found.values))
    values, truth = found.values[:judged], truth[:judged]
    ranges = np.maximum(np.ptp(truth, axis=1), 1e-300)
    error = float(np.mean(np.sqrt(np.mean((values - truth) ** 2, axis=1)) / ranges))
    k = min(K, setup.n_players - 1)
    top = np.argsort(-values, axis=1, kind="stable")[:, :k]
    border = [inclusion_exclusion_error(true, players) for true, players in zip(truth, top, strict=True)]
    per_row = 1000.0 / rows
    return Cell(
        setup.name,
        setup.tuned,
        setup.n_players,
        rows,
        name,
        budget,
        error,
        float(np.mean(np.array(border) / ranges)),
        per_row * found.cpu,
        per_row * found.wall,
        per_row * (found.cpu - found.model_cpu),
        found.predictions / rows,
    )


class Speed(NamedTuple):
    """The CPU time of a rival, divided by topshap's for the same accuracy; nan if no budget reaches it."""

    setup: str
    tuned: bool
    rows: int
    rival: str
    ratio: float


def speeds(cells: Sequence[Cell]) -> list[Speed]:
    """Compare every rival with topshap's smallest sufficient budget, for every number of rows."""
    found = []
    for rival in (cell for cell in cells if cell.explainer in RIVALS):
        ours = [cell for cell in cells if cell.setup == rival.setup and cell.explainer == "topshap"]
        for rows in dict.fromkeys(cell.rows for cell in ours):
            # With a single row the judged errors are those of one row: budgets are chosen by the longest table.
            errors = {cell.budget: cell.error for cell in ours if cell.rows == max(each.rows for each in ours)}
            enough = [c.cpu for c in ours if c.rows == rows and errors[c.budget] <= max(rival.error, 1e-9)]
            ratio = rival.cpu / min(enough) if enough else float("nan")
            found.append(Speed(rival.setup, rival.tuned, rows, rival.explainer, ratio))
    return found


def report(cells: Sequence[Cell]) -> str:
    """Return the tables of all cells, of the CPU time for equal accuracy, and of sharing next to row by row."""
    columns = [
        "set-up",
        "n",
        "rows",
        "explainer",
        "budget",
        "error",
        "border error",
        "CPU",
        "wall",
        "own CPU",
        "predictions",
    ]
    lines = [
        [
            cell.setup, cell.n_players, cell.rows, cell.explainer, cell.budget or "",
            f"{1000 * cell.error:.3g}", f"{1000 * cell.border_error:.3g}",
            f"{cell.cpu:.3g}", f"{cell.wall:.3g}", f"{cell.own_cpu:.3g}", f"{cell.predictions:.0f}",
        ]
        for cell in cells
    ]  # fmt: skip
    about = "errors as a fraction of the range, times 1000; CPU, wall and own CPU (without the model) in ms per row"
    missing = [name for name in RIVALS if name not in installed([name])]
    if missing:
        about += f"\nnot installed: {', '.join(missing)}"
    parts = [circumstances(), about, as_text(columns, lines, left=1), _speed_table(speeds(cells)), _sharing(cells)]
    return "\n\n".join(parts)


def _speed_table(found: Sequence[Speed]) -> str:
    """Return the ratios of CPU time for equal accuracy, set-ups that constants were chosen with apart."""
    rivals, lines = list(dict.fromkeys(speed.rival for speed in found)), []
    for setup, rows in dict.fromkeys((speed.setup, speed.rows) for speed in found):
        own = {speed.rival: speed.ratio for speed in found if (speed.setup, speed.rows) == (setup, rows)}
        lines.append([setup, rows, *(_ratio(own.get(rival)) for rival in rivals)])
    for tuned, label in ((False, "judged"), (True, "tuned")):
        for many, what in ((True, f"{label}, {MANY} rows or more"), (False, f"{label}, 1 row")):
            chosen = [s for s in found if s.tuned == tuned and (s.rows >= MANY if many else s.rows == 1)]
            means = []
            for rival in rivals:
                ratios = [speed.ratio for speed in chosen if speed.rival == rival]
                reached = [ratio for ratio in ratios if np.isfinite(ratio)]
                mean = geometric_mean(np.log(reached).tolist()).ratio if reached else float("nan")
                means.append(f"{_ratio(mean)} ({len(reached)} of {len(ratios)})")
            lines.append([what, "", *means])
    about = (
        "CPU time of others divided by topshap's for the same accuracy (in brackets, set-ups in which it is reached)"
    )
    return about + "\n\n" + as_text(["set-up", "rows", *rivals], lines, left=1)


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else "not reached" if np.isnan(ratio) else f"{ratio:.2f}"


def _sharing(cells: Sequence[Cell]) -> str:
    """Return errors and CPU time of sharing divided by those of explaining row by row with the same budget."""
    by_name: Mapping[tuple[str, str, int | None], Cell] = {(c.setup, c.explainer, c.budget): c for c in cells}
    lines = []
    for (setup, explainer, budget), alone in by_name.items():
        shared = by_name.get((setup, "shared", budget))
        if explainer != "row by row" or shared is None:
            continue
        ratio = shared.error / max(alone.error, 1e-12)
        difference = f"{1000 * (shared.border_error - alone.border_error):+.3g}"
        lines.append([setup, budget, f"{ratio:.2f}", difference, f"{alone.cpu / shared.cpu:.1f}"])
    columns = ["set-up", "budget", "error", "border error", "times less CPU"]
    about = "sharing next to row by row with the same budget: ratio of errors, difference of border errors times 1000"
    return about + "\n\n" + as_text(columns, lines, left=1)
