"""Guarantees: how often races that stop by themselves are wrong, next to how often they may be.

Every stopping rule is run on games made to deceive (see `topshap.bench.hard`), on real games, and on near ties with
epsilon = 0. A run fails if its inclusion-exclusion error is above epsilon. Rates have Clopper-Pearson intervals of 95%,
and a mark where a rate is significantly above delta (one-sided, 0.1%). ``"credible"`` and published rules are run as
well, and marked as well; they promise nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.bench.experiment import races_of, run
from topshap.bench.figures import Panel, draw
from topshap.bench.hard import KINDS, K
from topshap.bench.sources import hard
from topshap.bench.summary import FailureRate, as_text, circumstances, grouped
from topshap.reference.metrics import tie_tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topshap.bench.cells import Cell, Row
    from topshap.bench.sources import Source

PROMISED = (("odd-gp@k", "asymptotic"), ("swap@k", "asymptotic"), ("swap@k", "exact"))
"""Algorithms with guarantees that promise something."""
NOT_PROMISED = (
    ("odd-gp@k", "credible"),
    ("swap@k", "credible"),
    ("greedy-cmcs", "credible"),
    ("cmcs", "asymptotic"),
    ("greedy-cmcs", "asymptotic"),
    ("cmcs@k", "asymptotic"),
    ("samplingshap@k", "asymptotic"),
)
"""Rules without a guarantee; ``"asymptotic"`` stands for the published rule of these algorithms."""
ONE_IN = {
    ("odd-gp@k", "asymptotic"): 1,
    ("cmcs", "asymptotic"): 1,
    ("swap@k", "asymptotic"): 3,
    ("swap@k", "exact"): 20,
}
"""Rules that take little time have all runs, or one in three, the one that takes most one in twenty; the others one in
ten."""
PUBLISHED = ("cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k")
DELTAS = (0.01, 0.05, 0.1)
EPSILON = 0.002
"""The allowed error in games made to deceive, as a part of the range of the Shapley values."""
EPSILON_OF_REAL_GAMES = 0.02


class Verdict(NamedTuple):
    """What came out."""

    rows: list[Row]
    text: str
    kept: bool
    """Whether no rule that promises something failed significantly more often than allowed."""


def guarantee(
    sources: Sequence[Source],
    folder: Path,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    games: int = 50,
    rules: Sequence[tuple[str, str]] = PROMISED + NOT_PROMISED,
    deltas: Sequence[float] = DELTAS,
    runs: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Verdict:
    """Run the races; write the table ``guarantee.csv``, the report ``guarantee.txt`` and ``guarantee.png``.

    Parameters
    ----------
    sources
        Real games, complete tables; there may be none.
    folder
        Where to write; results that are there already are not computed again.
    kinds, games
        Kinds of games made to deceive, and how many of each.
    rules
        Pairs of an algorithm and a guarantee.
    deltas
        The allowed rates of failure.
    runs
        Runs of each game made to deceive, for the quickest rules; fewer for the others, see `ONE_IN`. A family of real
        games has as many runs as a kind of games made to deceive.
    seed, n_jobs, progress
        See `topshap.bench.run`.
    """
    cells: list[tuple[Source, Cell]] = []
    for kind in kinds:
        for epsilon in (EPSILON, 0.0) if kind == "near-tie" else (EPSILON,):
            cells += _races(hard(kind, games), rules, epsilon, deltas, runs)
    for family in dict.fromkeys(source.family for source in sources):
        real = [source for source in sources if source.family == family]
        cells += _races(real, rules, EPSILON_OF_REAL_GAMES, deltas, -(-runs * games // len(real)))
    rows = run(cells, folder / "guarantee.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text, kept = report(rows)
    (folder / "guarantee.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(rows), folder / "guarantee.png", columns=2)
    return Verdict(rows, text, kept)


def _races(
    sources: Sequence[Source], rules: Sequence[tuple[str, str]], epsilon: float, deltas: Sequence[float], runs: int
) -> list[tuple[Source, Cell]]:
    """Return the races of some games, with fewer runs of the rules that take long."""
    made = []
    for rule in rules:
        count = -(-runs // ONE_IN.get(rule, 10))
        made += races_of(sources, [rule], ks=[K], epsilon=epsilon, unit="range", deltas=deltas, runs=count)
    return made


def failed(row: Row) -> bool:
    """Return whether the error of a run is above what was allowed, rounding aside."""
    return row.inclusion_exclusion_error > row.allowed_error + tie_tolerance(np.array([row.value_range]))


def report(rows: Sequence[Row]) -> tuple[str, bool]:
    """Return a line for every family, epsilon, rule and delta, and whether all promises were kept."""
    lines, kept = [], True
    for setting, group in grouped(rows, "family", "epsilon", "algorithm", "guarantee", "delta").items():
        family, epsilon, algorithm, promise, delta = setting
        rate = FailureRate(sum(map(failed, group)), len(group))
        worst = max(
            (FailureRate(sum(map(failed, g)), len(g)) for g in grouped(group, "game").values()),
            key=lambda r: r.failures / r.runs,
        )
        above = rate.is_above(delta)
        if above and (algorithm, promise) in PROMISED:
            kept = False
        spent = np.mean([row.evaluations for row in group])
        share = np.mean([row.evaluations / 2**row.n_players for row in group])
        rule = _rule(algorithm, promise)
        mark = "above" if above else ""
        lines.append([family, epsilon, rule, delta, f"{spent:.0f}", f"{share:.2f}", rate, worst, mark])
    columns = ["family", "epsilon", "rule", "delta", "evaluations", "of all", "failures", "worst game", ""]
    said = "every promise was kept" if kept else "a promise was broken: see the lines marked 'above'"
    about = f"k={K}; epsilon as a part of the range of the Shapley values; failures with Clopper-Pearson intervals"
    return "\n\n".join([circumstances(), about, as_text(columns, lines), said]), kept


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return two panels, rules that promise something and those that do not: failures against delta."""
    made = []
    for title, rules in (("a guarantee", PROMISED), ("no guarantee", NOT_PROMISED)):
        rates = {}
        for (algorithm, promise), group in grouped(rows, "algorithm", "guarantee").items():
            if (algorithm, promise) in rules:
                rates[_rule(algorithm, promise)] = _rates(group)
        if rates:
            points = sorted({row.delta for row in rows if row.delta is not None})
            made.append(Panel(title, points, rates, "delta", "failures", diagonal=True))
    return made


def _rates(rows: Sequence[Row]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the failure of each run, one column a delta."""
    groups = grouped(rows, "delta")
    return np.array([[float(failed(row)) for row in groups[delta]] for delta in sorted(groups)]).T


def _rule(algorithm: str, promise: str) -> str:
    published = algorithm in PUBLISHED and promise == "asymptotic"
    return f"{algorithm} {'published' if published else promise}"
