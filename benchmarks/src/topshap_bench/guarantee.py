"""Failure rates of races that stop when confident, compared with the allowed rates.

Every stopping rule is run on adversarial games (see `topshap_bench.adversarial`), on real games, and on near ties with
epsilon = 0. A run fails if its inclusion-exclusion error is above epsilon. Rates have 95% Clopper-Pearson intervals
and are marked if they are significantly above delta (one-sided, 0.1%). Rules without a guarantee, ``"credible"`` and
``"published"``, are run and marked as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.validation import check_choice, front_door
from topshap.reference.metrics import tie_tolerance
from topshap_bench.adversarial import KINDS, K
from topshap_bench.experiment import fixed_confidence_settings, run
from topshap_bench.figures import Panel, draw
from topshap_bench.sources import adversarial
from topshap_bench.summary import FailureRate, as_text, circumstances, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topshap_bench.settings import Row, Setting
    from topshap_bench.sources import Source

PROMISED = (("odd-gp@k", "asymptotic"), ("swap@k", "asymptotic"), ("swap@k", "exact"))
"""Rules with a guarantee, as pairs of an algorithm and the guarantee."""
NOT_PROMISED = (
    ("odd-gp@k", "credible"),
    ("swap@k", "credible"),
    ("greedy-cmcs", "credible"),
    ("cmcs", "published"),
    ("greedy-cmcs", "published"),
    ("cmcs@k", "published"),
    ("samplingshap@k", "published"),
)
"""Rules without a guarantee at level delta."""
ONE_IN = {
    ("odd-gp@k", "asymptotic"): 1,
    ("cmcs", "published"): 1,
    ("swap@k", "asymptotic"): 3,
    ("swap@k", "exact"): 20,
}
"""The fraction of the runs for rules of different speed: all, one in 3 or one in 20. The default is one in 10."""
DELTAS = (0.01, 0.05, 0.1)
EPSILON = 0.002
"""The allowed error in adversarial games, as a fraction of the range of the Shapley values."""
EPSILON_OF_REAL_GAMES = 0.02


class Verdict(NamedTuple):
    """The rows, the report, and whether all guarantees were kept."""

    rows: list[Row]
    text: str
    kept: bool
    """Whether no rule with a guarantee failed significantly more often than allowed."""


@front_door
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
    """Run the races; write the results ``guarantee.csv``, the report ``guarantee.txt`` and ``guarantee.png``.

    Parameters
    ----------
    sources
        Real games, complete tables; may be empty.
    folder
        The output folder; results in it are not computed again.
    kinds, games
        The kinds of adversarial games, and the number of games of each kind.
    rules
        Pairs of an algorithm and a guarantee.
    deltas
        The allowed failure rates.
    runs
        The number of runs per adversarial game for the fastest rules; the others have fewer, see `ONE_IN`. A family of
        real games has as many runs as a kind of adversarial game.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    settings: list[tuple[Source, Setting]] = []
    for kind in kinds:
        check_choice("kinds", kind, KINDS)
        for epsilon in (EPSILON, 0.0) if kind == "near-tie" else (EPSILON,):
            settings += _races(adversarial(kind, games), rules, epsilon, deltas, runs)
    for family in dict.fromkeys(source.family for source in sources):
        real = [source for source in sources if source.family == family]
        settings += _races(real, rules, EPSILON_OF_REAL_GAMES, deltas, -(-runs * games // len(real)))
    rows = run(settings, folder / "guarantee.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text, kept = report(rows)
    (folder / "guarantee.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(rows), folder / "guarantee.png", columns=2)
    return Verdict(rows, text, kept)


def _races(
    sources: Sequence[Source], rules: Sequence[tuple[str, str]], epsilon: float, deltas: Sequence[float], runs: int
) -> list[tuple[Source, Setting]]:
    """Return the settings for some games, with fewer runs of the slower rules."""
    made = []
    for rule in rules:
        count = -(-runs // ONE_IN.get(rule, 10))
        terms: Any = {"epsilon": epsilon, "unit": "range", "deltas": deltas}
        made += fixed_confidence_settings(sources, [rule], ks=[K], runs=count, **terms)
    return made


def failed(row: Row) -> bool:
    """Return whether the error of a run exceeds the allowed error by more than rounding."""
    return row.inclusion_exclusion_error > row.allowed_error + tie_tolerance(np.array([row.value_range]))


def report(rows: Sequence[Row]) -> tuple[str, bool]:
    """Return a report with a line per family, epsilon, rule and delta, and whether all guarantees were kept."""
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
        rule = f"{algorithm} {promise}"
        mark = "above" if above else ""
        lines.append([family, epsilon, rule, delta, f"{spent:.0f}", f"{share:.2f}", rate, worst, mark])
    columns = ["family", "epsilon", "rule", "delta", "evaluations", "of all", "failures", "worst game", ""]
    conclusion = "Every guarantee was kept." if kept else "A guarantee was broken: see the lines marked 'above'."
    about = f"k={K}; epsilon as a fraction of the range of the Shapley values; failures with Clopper-Pearson intervals"
    return "\n\n".join([circumstances(), about, as_text(columns, lines), conclusion]), kept


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return a panel for rules with a guarantee and one for rules without: failures against delta."""
    made = []
    for title, rules in (("a guarantee", PROMISED), ("no guarantee", NOT_PROMISED)):
        rates = {}
        for (algorithm, promise), group in grouped(rows, "algorithm", "guarantee").items():
            if (algorithm, promise) in rules:
                rates[f"{algorithm} {promise}"] = _rates(group)
        if rates:
            points = sorted({row.delta for row in rows if row.delta is not None})
            made.append(Panel(title, points, rates, "delta", "failures", diagonal=True))
    return made


def _rates(rows: Sequence[Row]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the failures of the runs, one column per delta."""
    groups = grouped(rows, "delta")
    return np.array([[float(failed(row)) for row in groups[delta]] for delta in sorted(groups)]).T
