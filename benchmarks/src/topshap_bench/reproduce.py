"""Published results compared with measured ones, on the same complete games.

The baselines are ``pac_global.csv`` and ``fixed_budget_global.csv``, means with standard errors. Part "pac" is Table 1
of "Antithetic Sampling for Top-k Shapley Identification" (Kolpaczki, Nielen and Hüllermeier 2025): races until
confident. Part "fixed" compares the quality with a fixed budget. Both count every access.
"""

from __future__ import annotations

import csv
import time
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.core.validation import check_choice, front_door
from topshap.reference import metrics
from topshap_bench.parallel import run_all
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from topshap.games import TableGame

    Baseline: TypeAlias = "Mapping[Setting, Mapping[str, str]]"

K, EPSILON, DELTA = 5, 0.0005, 0.01
PAC = ("cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k")
FIXED = (*PAC, "approshapley", "kernelshap", "stratified-svarm", "bus")
INFORMATION = ("independent", "same-length", "identical", "gap-e", "sar")
"""Algorithms that are listed for information only."""
COLUMNS = {
    "pac": {
        "calls": ("calls", "measured_calls", "measured_se"),
        "calls, paper": ("calls", "paper_calls", "paper_se"),
        "distinct": ("distinct", "measured_distinct", "measured_distinct_se"),
    },
    "fixed": {q: (q, q, f"{q}_se") for q in ("inc_exc_error", "ratio_precision", "binary_precision", "mse")},
}
"""The columns of each part: the field of `Outcome`, the baseline's mean and its standard error."""
PARTS = {"pac": ("pac_global.csv", 100), "fixed": ("fixed_budget_global.csv", 200)}
"""The baseline of each part and its default number of runs."""
BEYOND = 4.0
CHUNK = 10

DELIBERATE = {
    "stratified-svarm": "strata that were never sampled are left out; the baseline counts them as zero",
    "gap-e": "the complexity is estimated; the baseline reads the true values",
    "sar": "the phases fill the budget; those of the baseline look like a plan for twice its budget of 2000",
}
"""Reasons for deliberate differences from the baseline."""

EXTRA_BUDGET = {"kernelshap": 1}
"""The baseline's kernelshap does not count the empty coalition, so one more evaluation makes the budgets equal."""


class Setting(NamedTuple):
    """One setting to repeat; without a budget, the race stops when it is confident."""

    game: str
    algorithm: str
    k: int
    budget: int | None = None


class Outcome(NamedTuple):
    """The cost of one run and the quality of its answer."""

    calls: float
    distinct: float
    inc_exc_error: float
    ratio_precision: float
    binary_precision: float
    mse: float
    seconds: float


class Mean(NamedTuple):
    """A mean with its standard error."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{self.mean:.4g}±{self.se:.1g}" if self.mean < 100 else f"{self.mean:.0f}±{self.se:.0f}"


class Comparison(NamedTuple):
    """A measured number and that of the baseline."""

    setting: Setting
    figure: str
    ours: Mean
    theirs: Mean

    @property
    def z(self) -> float:
        """The difference in standard errors; 0 if both are mean squared errors within rounding of 0."""
        difference = self.ours.mean - self.theirs.mean
        if self.figure == "mse" and max(self.ours.mean, self.theirs.mean) < 1e-20:
            return 0.0
        return difference / (np.hypot(self.ours.se, self.theirs.se) or 1e-300) if difference else 0.0

    def __str__(self) -> str:
        flag = "ok" if abs(self.z) <= BEYOND else "!!"
        return f"{self.ours!s:>16} {self.theirs!s:>16} {self.z:+6.1f} {flag}"


class Reproduction(NamedTuple):
    """The report, and whether every difference has a known reason."""

    text: str
    explained: bool


@front_door
def reproduce(
    folder: Path,
    baselines: Path,
    *,
    parts: Sequence[str] = tuple(PARTS),
    runs: int | None = None,
    games: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Reproduction:
    """Run the parts on the games of the family "global" and compare them with the baselines.

    Parameters
    ----------
    folder
        The games, see `topshap_bench.from_folder`.
    baselines
        The folder with the baselines.
    parts
        ``"pac"``, ``"fixed"`` or both.
    runs
        The number of runs per setting, at least 2; by default 100 for "pac" and 200 for "fixed".
    games
        The names of the games, all by default.
    n_jobs
        The number of workers.
    """
    sources = {source.name: source for source in from_folder(folder, families=["global"])}
    for game in games or ():
        check_choice("games", game, sources)
    reports, made = [], list[Comparison]()
    for part in parts:
        check_choice("parts", part, PARTS)
        file, default_runs = PARTS[part]
        outcomes = run_settings(settings_of(part, games or list(sources)), sources, runs or default_runs, n_jobs)
        text, comparisons = compare(part, outcomes, read_baseline(baselines / file))
        reports.append(text)
        made += comparisons
    explained = all(c.setting.algorithm in DELIBERATE for c in made if abs(c.z) > BEYOND)
    return Reproduction("\n\n".join([*reports, conclusion(made)]), explained)


def run(game: TableGame, setting: Setting, *, seed: int, epsilon: float = EPSILON, delta: float = DELTA) -> Outcome:
    """Run one race, counting every access, and compare its answer with the exact values."""
    start = time.process_time()
    top = topshap.identify(
        game,
        k=setting.k,
        budget=None if setting.budget is None else setting.budget + EXTRA_BUDGET.get(setting.algorithm, 0),
        epsilon=epsilon if setting.budget is None else None,
        delta=delta,
        guarantee="published",
        algorithm=setting.algorithm,
        counting="calls",
        random_state=np.random.default_rng([seed, setting.k, setting.budget or 0]),
    )
    seconds = time.process_time() - start
    exact = game.shapley_values()
    return Outcome(
        calls=top.calls,
        distinct=top.evaluations,
        inc_exc_error=metrics.inclusion_exclusion_error(exact, top.players),
        ratio_precision=metrics.ratio_precision(exact, top.players),
        binary_precision=metrics.binary_precision(exact, top.players),
        mse=metrics.mean_squared_error(exact, top.estimates),
        seconds=seconds,
    )


def summarize(outcomes: Sequence[Outcome]) -> dict[str, Mean]:
    """Return the mean of every field over at least two runs."""
    numbers = np.array(outcomes)
    errors = numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
    return dict(zip(Outcome._fields, map(Mean, numbers.mean(axis=0).tolist(), errors.tolist()), strict=True))


class _Chunk(NamedTuple):
    source: Source
    setting: Setting
    seeds: range


def _run_chunk(chunk: _Chunk) -> list[Outcome]:
    """Run a setting once for each seed, in a worker."""
    game = chunk.source.open().game
    return [run(game, chunk.setting, seed=seed) for seed in chunk.seeds]


def run_settings(
    settings: Sequence[Setting], sources: Mapping[str, Source], runs: int, n_jobs: int | None
) -> dict[Setting, list[Outcome]]:
    """Return the outcomes of every setting."""
    chunks = [
        _Chunk(sources[setting.game], setting, range(start, min(start + CHUNK, runs)))
        for setting in settings
        for start in range(0, runs, CHUNK)
    ]
    outcomes: dict[Setting, list[Outcome]] = {setting: [] for setting in settings}
    for chunk, of_chunk in run_all(_run_chunk, chunks, n_jobs).items():
        outcomes[chunk.setting] += of_chunk
    return outcomes


def read_baseline(path: Path) -> Baseline:
    """Read a table of baselines with one row per setting."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    budgets = [int(row["budget"]) if "budget" in row else None for row in rows]
    return {Setting(r["game"], r["algorithm"], int(r.get("k", K)), b): r for r, b in zip(rows, budgets, strict=True)}


def settings_of(part: str, games: Sequence[str]) -> list[Setting]:
    """Return the settings of a part, in the order of its table."""
    if part == "pac":
        return [Setting(game, algorithm, K) for game in games for algorithm in PAC]
    return [Setting(*each) for each in product(games, (*FIXED, *INFORMATION), (3, 5), (500, 2000))]


def compare(
    part: str, outcomes: Mapping[Setting, Sequence[Outcome]], baseline: Baseline
) -> tuple[str, list[Comparison]]:
    """Return a table of results next to their baseline, with a line per setting, and all its comparisons."""
    made: list[Comparison] = []
    lines = []
    for setting, of_it in outcomes.items():
        ours, theirs = summarize(of_it), baseline[setting]
        row = [
            Comparison(setting, column, ours[field], Mean(float(theirs[mean]), float(theirs[se])))
            for column, (field, mean, se) in COLUMNS[part].items()
        ]
        made += row
        accuracy = np.mean([o.inc_exc_error <= EPSILON for o in of_it])
        right = f"{accuracy:.3f} / {theirs['accuracy']}" if "accuracy" in theirs else ""
        setup = [setting.game, setting.algorithm, setting.k, setting.budget or "-"]
        lines.append([*setup, *row, f"{1000 * ours['seconds'].mean:.1f}", right])
    headings = [f"{column}: ours, theirs, z   " for column in COLUMNS[part]]
    columns = ["game", "algorithm", "k", "budget", *headings, "ms/run", "accuracy" if part == "pac" else ""]
    return f"Part {part}\n{as_text(columns, lines, left=2)}", made


def conclusion(made: Sequence[Comparison]) -> str:
    """Return the numbers that differ, with the known reasons."""
    lines = []
    for what, only_informs in (("compared", False), ("for information only", True)):
        figures = [c for c in made if (c.setting.algorithm in INFORMATION) == only_informs]
        beyond = [c for c in figures if abs(c.z) > BEYOND]
        lines.append(f"{len(figures)} figures {what}, {len(beyond)} beyond {BEYOND:.0f} standard errors")
        for c in beyond:
            where = f"{c.setting.game} {c.setting.algorithm} k={c.setting.k} budget={c.setting.budget} {c.figure}"
            reason = DELIBERATE.get(c.setting.algorithm, "UNEXPLAINED")
            lines.append(f"  {where}: {c.ours} against {c.theirs}, z={c.z:+.1f}: {reason}")
    return "\n".join(lines)
