"""Errors of global importance at equal numbers of predictions, coverage of intervals, and wrong confident sets.

The error is the root mean square error of the importance of all features and runs, divided by the range of the truth.
The number of predictions is a multiple of one permutation of every row, which takes (rows x features x background)
predictions. topshap merges equal masked rows, so its number of evaluations is chosen such that it does not take more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.importance.methods import RIVALS, installed, topshap_importance
from topshap_bench.importance.problems import JUDGED, TUNED, problem
from topshap_bench.summary import as_text, circumstances, geometric_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from topshap.core.importance_result import ImportanceKind
    from topshap_bench.importance.methods import Found
    from topshap_bench.importance.problems import Problem

SHARES = (0.1, 0.3, 1.0, 4.0)
"""Numbers of predictions, as multiples of those of one permutation of every row."""
ROWS = 200
"""The largest number of rows of a table."""
EPSILON = 0.05
"""The epsilon of runs that stop by themselves, as a fraction of the range of the truth."""
GOAL = 0.5
"""The largest error relative to the best other method's that counts as reached."""
OURS = "topshap"
_Z = 1.96


class Cell(NamedTuple):
    """The runs of one method on one problem with one number of predictions."""

    setup: str
    by: ImportanceKind
    share: float
    method: str
    predictions: float
    """The mean number of predictions of a run."""
    error: float
    coverage: float
    """The share of 95% intervals that hold the truth; nan without standard errors."""


class Confident(NamedTuple):
    """Runs with epsilon on one problem."""

    setup: str
    by: ImportanceKind
    runs: int
    confident: int
    """The runs that stopped by themselves."""
    wrong: int
    """Those of them whose set is wrong by more than epsilon."""
    evaluations: float
    """The mean number of evaluations, in multiples of the rows of the table."""


def compare(
    *,
    setups: Sequence[str] = (*TUNED, *JUDGED),
    folder: Path | None = None,
    shares: Sequence[float] = SHARES,
    runs: int = 4,
    rows: int = ROWS,
    kinds: Sequence[ImportanceKind] = ("loss", "mean_abs"),
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[Cell], list[Confident], list[str]]:
    """Measure all methods on all set-ups; also return a description of each problem."""
    cells: list[Cell] = []
    stopped: list[Confident] = []
    described: list[str] = []
    for name in setups:
        for by in kinds:
            asked = problem(name, by, folder, rows)
            exact = asked.error_of_truth / asked.range
            about = f"{name}, {by}: {asked.n_players} features, {len(asked.setup.X)} rows, "
            about += f"{len(asked.setup.background)} background rows, "
            about += "exact truth" if exact == 0.0 else f"truth known to {1000 * exact:.2g} (largest standard error)"
            progress(about)
            described.append(about)
            for share in shares:
                found = _cells(asked, share, runs)
                progress("; ".join(f"{cell.share:g} {cell.method} {1000.0 * cell.error:.3g}" for cell in found))
                cells += found
            stopped.append(_confident(asked, runs))
    return cells, stopped, described


def _cells(asked: Problem, share: float, runs: int) -> list[Cell]:
    setup = asked.setup
    whole = len(setup.X) * asked.n_players * len(setup.background)
    predictions = share * whole
    evaluations = predictions / len(setup.background)
    for seed in (1001, 1002):  # how many predictions an evaluation takes, since equal masked rows are merged
        start = asked.predictions
        topshap_importance(asked, evaluations, seed)
        evaluations *= min(4.0, predictions / (asked.predictions - start))
    cells = [_measured(asked, share, OURS, lambda seed: topshap_importance(asked, 0.98 * evaluations, seed), runs)]
    if installed(asked.by):
        for method, run in RIVALS[asked.by].items():
            cells.append(_measured(asked, share, method, lambda seed, run=run: run(asked, predictions, seed), runs))  # type: ignore[misc]
    return [cell for cell in cells if cell is not None]


def _measured(asked: Problem, share: float, method: str, run: Callable[[int], Found | None], runs: int) -> Cell | None:
    squares, covered, counts = [], [], []
    for seed in range(runs):
        start = asked.predictions
        found = run(seed)
        if found is None:
            return None
        errors = found.values - asked.truth
        squares.append(np.mean(errors**2))
        counts.append(asked.predictions - start)
        if found.std_errors is not None:
            covered.append(np.mean(np.abs(errors) <= _Z * found.std_errors + 1e-9 * asked.range))
    error = float(np.sqrt(np.mean(squares)) / asked.range)
    coverage = float(np.mean(covered)) if covered else float("nan")
    return Cell(asked.setup.name, asked.by, share, method, float(np.mean(counts)), error, coverage)


def _confident(asked: Problem, runs: int) -> Confident:
    epsilon = EPSILON * asked.range
    confident = wrong = 0
    evaluations = []
    for seed in range(runs):
        top = topshap_importance(asked, np.inf, seed, epsilon=epsilon).top
        evaluations.append(top.evaluations / len(asked.setup.X))
        confident += top.stopped == "confident"
        wrong += top.stopped == "confident" and inclusion_exclusion_error(asked.truth, top.players) > epsilon
    return Confident(asked.setup.name, asked.by, runs, confident, wrong, float(np.mean(evaluations)))


def ratios(cells: Sequence[Cell], setups: Sequence[str]) -> dict[tuple[ImportanceKind, float], list[float]]:
    """Return topshap's error divided by that of the best other method, for every kind and share of predictions."""
    found: dict[tuple[ImportanceKind, float], list[float]] = {}
    for cell in cells:
        if cell.method != OURS or cell.setup not in setups:
            continue
        key = (cell.setup, cell.by, cell.share)
        rivals = [each.error for each in cells if each.method != OURS and (each.setup, each.by, each.share) == key]
        if rivals:
            found.setdefault((cell.by, cell.share), []).append(cell.error / min(rivals))
    return found


def report(cells: Sequence[Cell], stopped: Sequence[Confident], described: Sequence[str]) -> str:
    """Return the report: errors, ratios to the best other method, coverage and confident sets."""
    parts = [circumstances("sage-importance"), "\n".join(described)]
    parts.append(
        "errors as a fraction of the range of the truth, times 1000; predictions in thousands; coverage of 95% "
        "intervals"
    )
    lines = [
        [
            cell.setup,
            cell.by,
            f"{cell.share:g}",
            cell.method,
            f"{cell.predictions / 1000.0:.0f}",
            f"{1000.0 * cell.error:.3g}",
            "" if np.isnan(cell.coverage) else f"{cell.coverage:.2f}",
        ]
        for cell in cells
    ]
    parts.append(as_text(["set-up", "by", "share", "method", "predictions", "error", "coverage"], lines))
    for title, setups in (("constants chosen with these", TUNED), ("judged", JUDGED)):
        parts += _summary(title, cells, stopped, setups)
    return "\n\n".join(parts)


def _summary(title: str, cells: Sequence[Cell], stopped: Sequence[Confident], setups: Sequence[str]) -> list[str]:
    chosen = [cell for cell in cells if cell.setup in setups]
    runs = [each for each in stopped if each.setup in setups]
    if not chosen:
        return []
    parts = [f"{title}: {', '.join(dict.fromkeys(cell.setup for cell in chosen))}"]
    by_budget = ratios(cells, setups)
    lines = []
    for (by, share), each in by_budget.items():
        covered = [cell.coverage for cell in chosen if (cell.by, cell.share, cell.method) == (by, share, OURS)]
        mean = geometric_mean(np.log(each).tolist())
        good = f"{sum(ratio <= GOAL for ratio in each)} of {len(each)}"
        errors = [f"{mean.ratio:.2f}", f"{max(each):.2f}", good]
        lines.append([by, f"{share:g}", *errors, f"{np.mean(covered):.2f}", f"{min(covered):.2f}"])
    header = ["by", "share", "error / best rival's", "worst", f"at most {GOAL}", "coverage", "lowest"]
    if lines:
        parts.append(as_text(header, lines))
    lines = [
        [each.setup, each.by, f"{each.confident} of {each.runs}", str(each.wrong), f"{each.evaluations:.1f}"]
        for each in runs
    ]
    header = ["set-up", "by", "confident", "wrong", "evaluations per row of the table"]
    parts.append(f"runs with epsilon = {EPSILON:g} of the range and delta = 0.05\n\n{as_text(header, lines)}")
    return parts
