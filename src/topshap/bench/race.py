"""The race: topshap against the published algorithms and other packages, at equal distinct evaluations.

The error is the inclusion-exclusion error as a part of the range of the Shapley values. For every family of games and
every rival the report has the rival's mean error; the geometric mean over games of topshap's error divided by the
rival's, with `ADDED` added to both and an interval by resampling games; and how many combinations of game and budget
topshap wins or loses. Within two standard errors of the difference it is a tie. Where a rival cannot run, nothing is
compared, and the report says how many combinations are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.bench import external
from topshap.bench.experiment import cells_of, run
from topshap.bench.figures import MOST_CURVES, Panel, draw
from topshap.bench.summary import Mean, as_text, by_run, circumstances, geometric_mean, grouped, mean_of
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from topshap.bench.cells import Row
    from topshap.bench.sources import Source

OURS = "odd-gp"
"""What ``algorithm="auto"`` runs for a fixed budget."""
BUDGETS = (50, 100, 250, 500, 1000)
KS = (1, 3, 5, 7)
ADDED = 0.001
"""Added to errors before they are divided, as parts of the range: differences below it hardly matter."""

ABOUT = f"""errors are inclusion-exclusion errors in thousandths of the range; {OURS} is topshap's
its parameters were tuned on every second published table of each family, the first, the third and so on: --unseen
leaves these out"""


class Race(NamedTuple):
    """What a race was run on and came to."""

    rows: list[Row]
    text: str


def rivals() -> list[str]:
    """Return everybody that topshap races against: its other algorithms, the published ones, other packages."""
    return [name for name in topshap.algorithms.ALGORITHMS if name != OURS] + external.available()


def race(
    sources: Sequence[Source],
    folder: Path,
    *,
    algorithms: Sequence[str] | None = None,
    budgets: Sequence[int] = BUDGETS,
    ks: Sequence[int] = KS,
    runs: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Race:
    """Run the race; write the table ``race.csv``, the report ``race.txt`` and the figure ``race.png``.

    Parameters
    ----------
    sources
        The games.
    folder
        Where to write; results that are there already are not computed again.
    algorithms
        The rivals, everybody by default.
    budgets, ks, runs, seed
        What is combined with what.
    n_jobs, progress
        See `topshap.bench.run`.
    """
    others = rivals() if algorithms is None else [name for name in algorithms if name != OURS]
    if not others:
        refuse("algorithms", algorithms, must_be=f"at least one algorithm other than {OURS!r}")
    cells = cells_of(sources, [OURS, *others], ks=ks, budgets=sorted(budgets), runs=runs)
    rows = run(cells, folder / "race.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text = report(rows)
    (folder / "race.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(rows), folder / "race.png")
    return Race(rows, text)


def report(rows: Sequence[Row]) -> str:
    """Return the report: for every family, and for all games, a line for each algorithm."""
    families = grouped(rows, "family")
    named = {name: group for (name,), group in families.items()}
    parts = [circumstances(), ABOUT]
    for name, group in ({**named, "all games": list(rows)} if len(named) > 1 else named).items():
        settings = {(row.k, row.budget) for row in group}
        title = f"{name}: {len(grouped(group, 'family', 'game'))} games, k in {sorted({k for k, _ in settings})}, "
        title += f"budgets {sorted({b for _, b in settings if b})}, {len({row.run for row in group})} runs"
        parts.append(f"{title}\n{_standings(group)}")
    return "\n\n".join(parts)


def _standings(rows: Sequence[Row]) -> str:
    by_algorithm = {name: _means(group) for (name,), group in grouped(rows, "algorithm").items()}
    ours = by_algorithm.pop(OURS)
    lines: list[list[str]] = [[OURS, _in_thousandths(ours.values()), "", "", "", "", str(len(ours))]]
    for name, theirs in sorted(by_algorithm.items(), key=lambda item: _mean(item[1].values())):
        if not theirs:
            lines.append([name, "cannot run", "", "", "", "", "0"])
            continue
        logs: dict[tuple[str, str], list[float]] = {}
        for (family, game, budget), error in theirs.items():
            mine = ours[family, game, budget]
            logs.setdefault((family, game), []).append(np.log((mine.mean + ADDED) / (error.mean + ADDED)))
        ratio = geometric_mean([float(np.mean(of_game)) for of_game in logs.values()])
        outcomes = [_outcome(ours[setting], error) for setting, error in theirs.items()]
        counts = [str(outcomes.count(kind)) for kind in ("win", "tie", "loss")]
        lines.append([name, _in_thousandths(theirs.values()), str(ratio), *counts, str(len(theirs))])
    return as_text(["algorithm", "error", f"{OURS} / it [95%]", "wins", "ties", "losses", "compared"], lines)


def _means(rows: Sequence[Row]) -> dict[tuple[str, str, int], Mean]:
    """Return the error by game and budget, over the runs, where the algorithm could run at all k."""
    means = {}
    for setting, group in grouped(rows, "family", "game", "budget").items():
        _, errors = by_run(group, "relative_error", "budget")
        if np.isfinite(errors).all():
            means[setting] = mean_of(errors[:, 0])
    return means


def _outcome(mine: Mean, theirs: Mean) -> str:
    """Say whether our error is smaller; within two standard errors, or for single runs if equal, it is a tie."""
    difference = mine.mean - theirs.mean
    if abs(difference) <= 2.0 * np.nan_to_num(np.hypot(mine.error, theirs.error)):
        return "tie"
    return "win" if difference < 0 else "loss"


def _mean(errors: Iterable[Mean]) -> float:
    means = [error.mean for error in errors]
    return float(np.mean(means)) if means else float("inf")


def _in_thousandths(errors: Iterable[Mean]) -> str:
    return f"{1000 * _mean(errors):.2f}"


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return a panel for every family: the error against the budget, of topshap and its closest rivals."""
    errors = {name: _mean(_means(group).values()) for (name,), group in grouped(rows, "algorithm").items()}
    closest = sorted((name for name in errors if name != OURS), key=errors.__getitem__)[: MOST_CURVES - 1]
    made = []
    for (family,), group in grouped(rows, "family").items():
        by_algorithm = {name: of_it for (name,), of_it in grouped(group, "algorithm").items()}
        drawn = {name: by_run(by_algorithm[name], "relative_error", "budget") for name in [OURS, *closest]}
        points = drawn[OURS][0]
        curves = {name: table for name, (_, table) in drawn.items()}
        made.append(Panel(family, points, curves, "distinct evaluations", "error / range"))
    return made
