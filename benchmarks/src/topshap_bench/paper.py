"""The figures of "Antithetic Sampling for Top-k Shapley Identification" (arXiv 2504.02019), part by part.

a   error against the budget for the ablations of cmcs: independent, same-length, identical, cmcs, greedy-cmcs, cmcs@k
b   inclusion-exclusion error and mean squared error against the budget, for the main algorithms
c   local games (families whose name begins with "local"): error over k at one budget, and over budgets at k = 3
d   global games (all other families): the same
e   c and d for ratio precision
f   Table 1: calls until a race is confident, published and measured, with topshap's own algorithm last

Every access is counted, as in the paper. Bands show one standard error over runs. A panel shows one global game, or
the mean over the local games of a family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.validation import front_door, refuse
from topshap_bench.experiment import fixed_budget_settings, fixed_confidence_settings, run
from topshap_bench.figures import Panel, draw
from topshap_bench.summary import Mean, as_text, by_run, circumstances, grouped, mean_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from topshap_bench.settings import Row, Setting
    from topshap_bench.sources import Source

STEPS = ("independent", "same-length", "identical", "cmcs", "greedy-cmcs", "cmcs@k")
MAIN = ("greedy-cmcs", "cmcs@k", "cmcs", "samplingshap@k", "bus", "approshapley", "stratified-svarm", "kernelshap")
PAC = ("cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k")
OURS = "odd-gp@k"
"""The algorithm that ``algorithm="auto"`` selects for a run with `epsilon`."""
BUDGETS = (100, 250, 500, 1000, 1500, 2000)
FIXED = 500
"""The budget at which k varies."""
K = 3
"""The k at which the budget varies."""
PAC_K, EPSILON, DELTA = 5, 0.0005, 0.01
"""The parameters of Table 1."""
PARTS = "abcdef"
ERROR, SQUARED, RATIO = "inclusion_exclusion_error", "mean_squared_error", "ratio_precision"
FIGURES_OVER_K = (("c", ERROR, True), ("e-local", RATIO, True), ("d", ERROR, False), ("e-global", RATIO, False))
"""The figures over k and over budgets: name, measure, and whether they show local games."""
TABLE_1 = {
    "adult": {
        "samplingshap@k": (38998, 1247),
        "cmcs": (137861, 2517),
        "cmcs@k": (30995, 673),
        "greedy-cmcs": (39071, 738),
    },
    "bank-marketing": {
        "samplingshap@k": (15124, 287),
        "cmcs": (39144, 875),
        "cmcs@k": (12000, 206),
        "greedy-cmcs": (16260, 267),
    },
    "bike-sharing": {
        "samplingshap@k": (4850, 97),
        "cmcs": (13053, 164),
        "cmcs@k": (3982, 54),
        "greedy-cmcs": (8894, 117),
    },
    "diabetes": {"samplingshap@k": (3723, 94), "cmcs": (7793, 143), "cmcs@k": (2976, 55), "greedy-cmcs": (4593, 85)},
    "titanic": {"samplingshap@k": (4852, 113), "cmcs": (11036, 237), "cmcs@k": (3884, 72), "greedy-cmcs": (5782, 124)},
    "wine": {
        "samplingshap@k": (34953, 1046),
        "cmcs": (120859, 1906),
        "cmcs@k": (29913, 641),
        "greedy-cmcs": (34265, 501),
    },
}
"""Mean calls and standard errors in the paper's Table 1, by game and algorithm."""


class PaperReport(NamedTuple):
    """The rows, the report, and the paths of the figures."""

    rows: list[Row]
    text: str
    figures: list[Path]


@front_door
def paper(
    sources: Sequence[Source],
    folder: Path,
    *,
    parts: str = PARTS,
    runs: int = 1000,
    runs_of_local_games: int | None = None,
    runs_of_table_1: int | None = None,
    budgets: Sequence[int] = BUDGETS,
    ks: Sequence[int] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PaperReport:
    """Run the paper's experiments; write ``paper.csv``, ``paper.txt`` and figures ``paper-a.png`` and so on.

    Parameters
    ----------
    sources
        The games.
    folder
        The output folder; results in it are not computed again.
    parts
        The letters of the parts, all by default.
    runs
        The number of runs of every setting; 1000 in the paper.
    runs_of_local_games
        The number of runs of every setting on each local game, fewer than `runs` since a panel shows the mean over all
        games of a family; `runs` by default.
    runs_of_table_1
        The number of runs of the races until confident, which are the slowest; `runs` by default.
    budgets
        The budgets at k = 3.
    ks
        The values of k at a budget of 500, all from 1 to n - 1 by default.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    if not parts or not set(parts) <= set(PARTS):
        refuse("parts", parts, must_be=f"one or more of the letters {PARTS!r}")
    of_local = runs if runs_of_local_games is None else runs_of_local_games
    settings = []
    for some, count in ((_chosen(sources, local=False), runs), (_chosen(sources, local=True), of_local)):
        settings += budget_settings(some, parts, runs=count, budgets=budgets, ks=ks)
    if "f" in parts:
        settings += table_1_settings(sources, runs if runs_of_table_1 is None else runs_of_table_1)
    rows = run(settings, folder / "paper.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    fixed = [row for row in rows if row.epsilon is None]
    figures = [
        draw(panels, folder / f"paper-{name}.png", columns=4 if name == "b" else 3)  # the panels of b come in pairs
        for name, panels in figures_of(fixed, budgets, parts)
        if panels
    ]
    tables = [errors(fixed)] if fixed else []
    if "f" in parts:
        tables.append(table_1([row for row in rows if row.epsilon is not None]))
    text = "\n\n".join([circumstances(), cpu_time(rows), *tables])
    (folder / "paper.txt").write_text(text + "\n", encoding="utf-8")
    return PaperReport(rows, text, figures)


def budget_settings(
    sources: Sequence[Source], parts: str, *, runs: int, budgets: Sequence[int], ks: Sequence[int] | None
) -> list[tuple[Source, Setting]]:
    """Return the settings with fixed budgets for some parts; parts may share settings."""
    options: Any = {"runs": runs, "counting": "calls"}
    made = []
    for source in sources:
        over_k = "e" in parts or ("c" if _is_local(source.family) else "d") in parts
        over_budgets = (STEPS if "a" in parts else ()) + (MAIN if over_k or "b" in parts else ())
        names = list(dict.fromkeys(over_budgets))
        made += fixed_budget_settings([source], names, ks=[K], budgets=sorted(budgets), **options)
        if over_k:
            every_k = range(1, source.open().game.n_players) if ks is None else ks
            made += fixed_budget_settings([source], MAIN, ks=list(every_k), budgets=[FIXED], **options)
    return made


def table_1_settings(sources: Sequence[Source], runs: int) -> list[tuple[Source, Setting]]:
    """Return the races of Table 1: the paper's algorithms count calls, topshap's own counts distinct coalitions."""
    chosen = [source for source in _chosen(sources, local=False) if source.name in TABLE_1]
    made = []
    for names, guarantee, counting in ((PAC, "published", "calls"), ((OURS,), "asymptotic", "distinct")):
        rules = [(name, guarantee) for name in names]
        options: Any = {"epsilon": EPSILON, "unit": "value", "deltas": [DELTA], "runs": runs, "counting": counting}
        made += fixed_confidence_settings(chosen, rules, ks=[PAC_K], **options)
    return made


def figures_of(rows: Sequence[Row], budgets: Sequence[int], parts: str = PARTS) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the name of each figure with its panels."""
    at_k = [row for row in rows if row.k == K and row.budget in budgets]
    at_budget = [row for row in rows if row.budget == FIXED]
    if "a" in parts:
        yield "a", _panels(at_k, ERROR, "budget", STEPS)
    if "b" in parts:
        beside = zip(*(_panels(at_k, measure, "budget", MAIN) for measure in (ERROR, SQUARED)), strict=True)
        yield "b", [panel for pair in beside for panel in pair]
    for name, measure, local in FIGURES_OVER_K:
        if name[0] in parts:
            over_k, over_budgets = (
                [row for row in group if _is_local(row.family) == local] for group in (at_budget, at_k)
            )
            yield name, _panels(over_k, measure, "k", MAIN) + _panels(over_budgets, measure, "budget", MAIN)


def _panels(rows: Iterable[Row], measure: str, column: str, names: Sequence[str]) -> list[Panel]:
    """Return a panel with these algorithms for every global game and every family of local games."""
    made = []
    for title, group in _by_panel(row for row in rows if row.algorithm in names).items():
        by_algorithm = {name: of_it for (name,), of_it in grouped(group, "algorithm").items()}
        drawn = {name: by_run(by_algorithm[name], measure, column) for name in names}
        points = drawn[names[0]][0]
        where = f"k = {K}" if column == "budget" else f"budget {FIXED}"
        label = "calls" if column == "budget" else "k"
        tables = {name: table for name, (_, table) in drawn.items()}
        made.append(Panel(f"{title}, {where}", points, tables, label, measure.replace("_", " ")))
    return made


def _by_panel(rows: Iterable[Row]) -> dict[str, list[Row]]:
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row.family if _is_local(row.family) else row.game, []).append(row)
    return panels


def _is_local(family: str) -> bool:
    return family.startswith("local")


def _chosen(sources: Iterable[Source], *, local: bool) -> list[Source]:
    """Return the local or the global games."""
    return [source for source in sources if _is_local(source.family) == local]


def cpu_time(rows: Iterable[Row]) -> str:
    """Return the number of races behind some rows and their CPU time; rows that share a race count once."""
    races: dict[Setting, float] = {}
    for row in rows:
        setting = row.setting if row.setting.plans_by_budget else row.setting._replace(budget=None)
        races[setting] = max(row.seconds, races.get(setting, 0.0))
    return f"{len(races):,} races, {sum(races.values()) / 60.0:.1f} minutes of CPU time"


def errors(rows: Sequence[Row]) -> str:
    """Return a table of the errors of every algorithm at the k that all parts share."""
    lines = []
    for title, group in _by_panel([row for row in rows if row.k == K]).items():
        for (budget, algorithm), of_it in sorted(grouped(group, "budget", "algorithm").items()):
            means = [_over_runs(of_it, measure) for measure in (ERROR, RATIO, SQUARED)]
            distinct = mean_of(row.evaluations for row in of_it)
            counts = [f"{distinct.mean:.0f}", len({row.run for row in of_it})]
            lines.append([title, str(budget), algorithm, *map(str, means), *counts])
    measures = ["inc.-exc. error", "ratio precision", "mean squared error"]
    columns = ["game", "calls", "algorithm", *measures, "distinct", "runs"]
    return f"k = {K}, means over runs with standard errors\n{as_text(columns, lines)}"


def _over_runs(rows: Sequence[Row], measure: str) -> Mean:
    """Return the mean over runs of the average over the games of a panel."""
    return mean_of(by_run(rows, measure, "budget")[1][:, 0])


def table_1(rows: Sequence[Row]) -> str:
    """Return Table 1: calls until confident, published and measured, and distinct coalitions."""
    if not rows:
        return "Table 1: no game of the table was given"
    lines = []
    for (game, algorithm), group in grouped(rows, "game", "algorithm").items():
        calls, distinct = (mean_of(getattr(row, name) for row in group) for name in ("calls", "evaluations"))
        published = TABLE_1[game].get(algorithm)
        theirs = "" if published is None else str(Mean(*published))
        fewer = f"{TABLE_1[game]['cmcs@k'][0] / distinct.mean:.1f}" if algorithm == OURS else ""
        right = np.mean([row.inclusion_exclusion_error <= row.allowed_error for row in group])
        lines.append([game, algorithm, theirs, str(calls), str(distinct), f"{right:.3f}", fewer, len(group)])
    columns = ["game", "algorithm", "calls, paper", "calls", "distinct", "right", "fewer than cmcs@k, paper", "runs"]
    terms = f"Table 1: k = {PAC_K}, epsilon = {EPSILON:g}, delta = {DELTA:g}; the paper's figures are of its own tables"
    return f"{terms}\n{as_text(columns, lines)}"
