"""topshap next to other packages on whole tables: the CPU time for equal accuracy, and sharing next to row by row.

The error of a row is the root mean square error of its Shapley values divided by their range. It is averaged over the
judged rows, the first of the table, for everyone. Packages that explain rows one after another are measured on these
rows, and their cost per row is taken for tables of any length; so is topshap's for tables of one row. Otherwise topshap
explains the whole table. The CPU time for equal accuracy is that of topshap's smallest budget whose error is not above
the rival's; larger budgets are not measured once every rival is reached. Tables of more than `MANY` rows are explained
with the budgets that reached the rivals with `MANY` rows. Set-ups with which constants were chosen are reported apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.summary import as_text, circumstances, geometric_mean
from topshap_bench.tables.cells import About, Cell, keep_cells, kept_cells
from topshap_bench.tables.explainers import RIVALS, WITH_GROUPS, K, Measured, installed, measure, topshap_with
from topshap_bench.tables.setups import RECIPES, make

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from topshap_bench.tables.explainers import Explain
    from topshap_bench.tables.setups import Rows, SetUp

JUDGED = 16
"""The number of rows that errors are measured on."""
MORE_WITH_ONE = 3
"""This many times as many rows are judged with one background row, where errors of rows differ by orders of magnitude:
ratios of mean errors of 16 rows of adult-xgb-mean were between 0.9 and 6 in equal runs with different seeds."""
BUDGETS = (50, 70, 100, 150, 250, 350, 500, 700, 1000, 1400, 2000)
"""topshap's budgets per row; all coalitions are added for up to 12 players."""
EQUAL_BUDGETS = (100, 250, 500)
"""Budgets at which sharing is compared with explaining row by row."""
ROWS = (1, 10, 200, 2000)
MANY = 200
"""The number of rows with which sharing is compared with explaining row by row, and with refined rows. Longer tables
are measured where the data have as many rows."""
OURS, REFINED = "topshap", "topshap, refined"
_EXACT = 1e-9


def compare(
    *,
    setups: Sequence[str] = tuple(RECIPES),
    folder: Path | None = None,
    rows: Sequence[int] = ROWS,
    budgets: Sequence[int] = BUDGETS,
    equal_budgets: Sequence[int] = EQUAL_BUDGETS,
    judged: int = JUDGED,
    rivals: Sequence[str] = tuple(RIVALS),
    keep: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Cell]:
    """Measure all explainers on all set-ups; those whose cells are in the file `keep` are not measured again."""
    cells = [] if keep is None else kept_cells(keep)
    done = {cell.setup.name for cell in cells}
    order = list(RECIPES)
    for name in [name for name in setups if name not in done]:
        setup = make(name, folder, rows=max(*rows, judged))
        wanted = judged * MORE_WITH_ONE if len(setup.background) == 1 else judged
        truth = setup.truth(min(wanted, len(setup.X)))
        progress(f"{name}: {setup.n_players} players, {len(setup.X)} rows")
        for explain in (*map(RIVALS.get, installed(rivals)), topshap_with(50)):
            if explain is not None and setup.groups is None:
                measure(explain, setup, 1)  # not counted: it imports packages and fills caches
        of_rivals = _of_rivals(setup, truth, rivals)
        found, useful = list(of_rivals), _useful(setup, budgets)
        for count in dict.fromkeys(min(count, len(setup.X)) for count in rows if count <= max(MANY, len(setup.X))):
            if count > MANY:
                found += _of_long_table(setup, truth, count, useful, found)
            else:
                compared = [budget for budget in equal_budgets if budget in useful] if count in (1, MANY) else []
                found += _of_topshap(setup, truth, count, useful, found, compared=compared)
        if keep is not None:
            keep_cells(keep, found)
        cells += found
    return sorted(cells, key=lambda cell: order.index(cell.setup.name))


def _useful(setup: SetUp, budgets: Sequence[int]) -> list[int]:
    """Return the budgets that are enough for one pair per player, and that of all coalitions of a small game."""
    n = setup.n_players
    return [budget for budget in budgets if 2 * n + 2 <= budget < 2**n] + ([2**n] if n <= 12 else [])


def _of_rivals(setup: SetUp, truth: Rows, rivals: Sequence[str]) -> list[Cell]:
    chosen = [name for name in installed(rivals) if setup.groups is None or name in WITH_GROUPS]
    return [_measured(setup, truth, name, RIVALS[name], rows=len(truth)) for name in chosen]


def _of_topshap(
    setup: SetUp, truth: Rows, rows: int, useful: Sequence[int], found: Sequence[Cell], *, compared: Sequence[int]
) -> list[Cell]:
    goal = min((cell.error for cell in found if cell.explainer in RIVALS), default=0.0)
    options = {"share": False} if rows == 1 else {}
    cells: list[Cell] = []
    for budget in useful:
        reached = any(cell.error <= max(goal, _EXACT) for cell in cells)
        if budget in compared or not reached:
            explain = topshap_with(budget, **options)
            cells.append(_measured(setup, truth, OURS, explain, rows=rows, budget=budget))
    if rows == MANY:
        refined = [(budget, topshap_with(budget, refine=True)) for budget in compared]
        cells += [_measured(setup, truth, REFINED, explain, rows=rows, budget=budget) for budget, explain in refined]
    return cells


def _of_long_table(setup: SetUp, truth: Rows, rows: int, useful: Sequence[int], found: Sequence[Cell]) -> list[Cell]:
    """Measure the budgets that reached the rivals with fewer rows, and larger ones where these are not enough."""
    cells: dict[int, Cell] = {}
    before = [cell for cell in found if cell.rows == MANY]
    for rival in (cell for cell in found if cell.explainer in RIVALS):
        goal = max(rival.error, _EXACT)
        reached = [c.budget for c in before if c.explainer == OURS and c.budget is not None and c.error <= goal]
        for budget in [each for each in useful if reached and each >= min(reached)]:
            if budget not in cells:
                cells[budget] = _measured(setup, truth, OURS, topshap_with(budget), rows=rows, budget=budget)
            if cells[budget].error <= goal:
                break
    return list(cells.values())


def _measured(setup: SetUp, truth: Rows, name: str, explain: Explain, *, rows: int, budget: int | None = None) -> Cell:
    """Measure an explainer; tables of one row by all judged rows, one after another."""
    played = len(truth) if rows == 1 else rows
    found: Measured = measure(explain, setup, played)
    judged = min(len(truth), len(found.values))
    values, truth = found.values[:judged], truth[:judged]
    ranges = np.maximum(np.ptp(truth, axis=1), 1e-300)
    error = float(np.mean(np.sqrt(np.mean((values - truth) ** 2, axis=1)) / ranges))
    top = np.argsort(-values, axis=1, kind="stable")[:, : min(K, setup.n_players - 1)]
    border = [inclusion_exclusion_error(true, players) for true, players in zip(truth, top, strict=True)]
    per_row = 1000.0 / played
    return Cell(
        setup=About.of(setup),
        rows=rows,
        explainer=name,
        budget=budget,
        error=error,
        border_errors=np.array(border) / ranges,
        cpu=per_row * found.cpu,
        wall=per_row * found.wall,
        own_cpu=per_row * (found.cpu - found.model_cpu),
        predictions=found.predictions / played,
    )


class Speed(NamedTuple):
    """The CPU time of a rival, divided by topshap's for the same accuracy; nan if no budget reaches it."""

    setup: About
    rows: int
    rival: str
    ratio: float


def speeds(cells: Sequence[Cell]) -> list[Speed]:
    """Compare every rival with topshap's smallest sufficient budget, for every number of rows."""
    found = []
    for rival in (cell for cell in cells if cell.explainer in RIVALS):
        ours = [cell for cell in cells if cell.setup == rival.setup and cell.explainer == OURS]
        for rows in dict.fromkeys(cell.rows for cell in ours):
            enough = [c.cpu for c in ours if c.rows == rows and c.error <= max(rival.error, _EXACT)]
            ratio = rival.cpu / min(enough) if enough else float("nan")
            found.append(Speed(rival.setup, rows, rival.explainer, ratio))
    return found


def report(cells: Sequence[Cell]) -> str:
    """Return the tables of all cells, of the CPU time for equal accuracy, and of sharing next to row by row."""
    columns = ["set-up", "n", "rows", "explainer", "budget", "error", "border error"]
    lines = [
        [
            *(cell.setup.name, cell.setup.n_players, cell.rows, cell.explainer, cell.budget or ""),
            *(f"{1000 * cell.error:.3g}", f"{1000 * cell.border_errors.mean():.3g}"),
            *(f"{cost:.3g}" for cost in (cell.cpu, cell.wall, cell.own_cpu)),
            f"{cell.predictions:.0f}",
        ]
        for cell in cells
    ]
    about = "errors as a fraction of the range, times 1000; CPU, wall and own CPU (without the model) in ms per row"
    missing = [name for name in RIVALS if not installed([name])]
    if missing:
        about += f"\nnot installed: {', '.join(missing)}"
    table = as_text([*columns, "CPU", "wall", "own CPU", "predictions"], lines, left=1)
    parts = [circumstances("lightshap"), about, table, _speed_table(speeds(cells)), _sharing(cells)]
    return "\n\n".join(part for part in parts if part)


def _speed_table(found: Sequence[Speed]) -> str:
    """Return the ratios of CPU time for equal accuracy, set-ups that constants were chosen with apart."""
    rivals, lines = list(dict.fromkeys(speed.rival for speed in found)), []
    for setup, rows in dict.fromkeys((speed.setup, speed.rows) for speed in found):
        own = {speed.rival: speed.ratio for speed in found if speed.setup == setup and speed.rows == rows}
        lines.append([setup.name, rows, *(_ratio(own.get(rival)) for rival in rivals)])
    for tuned, label in ((False, "judged"), (True, "tuned")):
        chosen = [speed for speed in found if speed.setup.tuned == tuned]
        for rows in sorted({speed.rows for speed in chosen if speed.rows == 1 or speed.rows >= MANY}):
            means = [_mean([s.ratio for s in chosen if s.rival == rival and s.rows == rows]) for rival in rivals]
            lines.append([label, rows, *means])
    about = "CPU time of others divided by topshap's for the same accuracy; in brackets, how often it is reached"
    return about + "\n\n" + as_text(["set-up", "rows", *rivals], lines, left=1) if lines else ""


def _mean(ratios: Sequence[float]) -> str:
    reached = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not reached:
        return "-"
    return f"{geometric_mean(np.log(reached).tolist()).ratio:.2f} ({len(reached)} of {len(ratios)})"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else "not reached" if np.isnan(ratio) else f"{ratio:.2f}"


def _sharing(cells: Sequence[Cell]) -> str:
    """Return the errors of sharing next to those of explaining row by row with the same budget."""
    at = {(cell.setup, cell.explainer, cell.rows, cell.budget): cell for cell in cells}
    lines, ratios = [], []
    for (setup, explainer, rows, budget), alone in at.items():
        shared = at.get((setup, OURS, MANY, budget))
        if explainer != OURS or rows != 1 or shared is None or budget not in EQUAL_BUDGETS:
            continue
        ratio = max(shared.error, _EXACT) / max(alone.error, _EXACT)
        ratios.append((setup, budget, ratio))
        refined = at.get((setup, REFINED, MANY, budget))
        borders = ["", ""] if refined is None else [_difference(each, alone) for each in (shared, refined)]
        lines.append([setup.name, budget, f"{ratio:.2f}", *borders, f"{alone.cpu / shared.cpu:.1f}"])
    for tuned, label in ((False, "judged"), (True, "tuned")):
        for single in (False, True):
            kind = "one background row" if single else "marginal imputation"
            own = [r for setup, _, r in ratios if setup.tuned == tuned and setup.single == single]
            if own:
                lines.append([f"{label}, {kind}", "", f"{geometric_mean(np.log(own).tolist()).ratio:.2f}", "", "", ""])
    columns = ["set-up", "budget", "error", "border error, shared", "border error, refined", "times less CPU"]
    about = (
        f"{MANY} rows that share next to row by row with the same budget: ratio of errors, and differences of border"
        " errors times 1000 with 95% bootstrap intervals over the judged rows"
    )
    return about + "\n\n" + as_text(columns, lines, left=1) if lines else ""


def _difference(cell: Cell, alone: Cell) -> str:
    differences = 1000.0 * (cell.border_errors - alone.border_errors)
    drawn = np.random.default_rng(0).choice(differences, (2000, len(differences))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{differences.mean():+.2f} [{low:.2f}, {high:.2f}]"
