"""Failure rates of races that stop when confident, compared with the allowed rates.

Every stopping rule is run on adversarial games (see `topshap_bench.adversarial`), on real games, and on near ties with
epsilon = 0. A run fails if its inclusion-exclusion error is above epsilon, for ordered lists also if a player is ahead
of one listed before it by more than epsilon. A run that ends at the first clear gap fails if its set is not ahead of
all others by epsilon, or by more than 0. Every delta has runs of its own, since the blocks of odd-gp@k depend on delta.

Rates have 95% Clopper-Pearson intervals and are marked if they are significantly above delta (one-sided, 0.1%), over
all games of a kind or in a single one after a correction for the number of games. Rules without a guarantee,
``"credible"`` and ``"published"``, are run and marked as well. Runs with fixed budgets on the adversarial games show
the calibration of confidence and intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.validation import check_choice, front_door
from topshap.reference.metrics import tie_tolerance
from topshap_bench.adversarial import KINDS, OF_GOAL, K, kinds_for
from topshap_bench.calibration import ALGORITHMS, BUDGETS, calibration
from topshap_bench.experiment import fixed_budget_settings, fixed_confidence_settings, run
from topshap_bench.figures import Panel, draw
from topshap_bench.sources import adversarial
from topshap_bench.summary import LEVEL, Share, as_text, circumstances, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
OF_OTHER_GOALS = (("odd-gp@k", "asymptotic"), ("odd-gp@k", "credible"))
"""Rules for players ranked by magnitude, for ordered lists and for pairs."""
ONE_IN = {
    ("odd-gp@k", "asymptotic"): 1,
    ("cmcs", "published"): 1,
    ("swap@k", "asymptotic"): 3,
    ("swap@k", "exact"): 20,
}
"""The fraction of the runs for rules of different speed: all, one in 3 or one in 20. The default is one in 10."""
DELTAS = (0.01, 0.05, 0.1)
EPSILON_OF_REAL_GAMES = 0.02
"""The allowed error in real games, as a fraction of the range of the Shapley values."""
REAL = "all real games"
"""The line of the report over all families of real games, if there are several."""


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
    kinds: Sequence[str] | None = None,
    games: int = 50,
    players: int | None = None,
    rules: Sequence[tuple[str, str]] | None = None,
    deltas: Sequence[float] = DELTAS,
    budgets: Sequence[int] = BUDGETS,
    runs: int = 20,
    real_runs: int | None = None,
    epsilon: float | None = None,
    rank_by: str = "value",
    ordered: bool = False,
    order: int = 1,
    clear: bool = False,
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
        The kinds of adversarial games, by default all for this goal, and the number of games of each kind.
    players
        The number of players of adversarial games, by default that of their kind.
    rules
        Pairs of an algorithm and a guarantee, by default all that support this goal.
    deltas
        The allowed failure rates.
    budgets
        The fixed budgets after which the calibration is measured in adversarial games; may be empty.
    runs
        The number of runs per adversarial game for the fastest rules; the others have fewer, see `ONE_IN`.
    real_runs
        The same for real games; by default, a family of them has as many runs as a kind of adversarial game.
    epsilon
        The allowed error in all games, instead of that of their kind and `EPSILON_OF_REAL_GAMES`.
    rank_by, ordered, order, clear
        The goal: how candidates are ranked, whether the order of the top k matters, what is ranked, players (1) or
        pairs (2), and whether a race ends at the first clear gap. The calibration after fixed budgets is measured for
        sets of players with the highest values only.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    settings: list[tuple[Source, Setting]] = []
    goal: dict[str, Any] = {"rank_by": rank_by, "ordered": ordered, "order": order}
    usual = goal == {"rank_by": "value", "ordered": False, "order": 1} and not clear
    rules = rules or (PROMISED + NOT_PROMISED if usual else OF_OTHER_GOALS)
    terms = {"deltas": deltas, "ks": [0 if clear else K], **goal}
    for kind in kinds or kinds_for(rank_by, ordered=ordered, order=order, clear=clear):
        check_choice("kinds", kind, KINDS)
        chosen, unit = adversarial(kind, games, players), KINDS[kind].unit
        for allowed in allowed_errors(kind, epsilon):
            settings += _races(chosen, rules, {"epsilon": allowed, "unit": unit, **terms}, runs)
        settings += fixed_budget_settings(chosen, ALGORITHMS, ks=[K], budgets=budgets if usual else (), runs=runs)
    allowed = EPSILON_OF_REAL_GAMES if epsilon is None else epsilon
    for family in dict.fromkeys(source.family for source in sources):
        real = [source for source in sources if source.family == family]
        count = real_runs or -(-runs * games // len(real))
        settings += _races(real, rules, {"epsilon": allowed, "unit": "range", **terms}, count)
    rows = run(settings, folder / "guarantee.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text, kept = report(rows)
    (folder / "guarantee.txt").write_text(text + "\n", encoding="utf-8")
    if drawn := panels([row for row in rows if row.budget is None]):
        draw(drawn, folder / "guarantee.png", columns=2)
    return Verdict(rows, text, kept)


def _races(
    sources: Sequence[Source], rules: Sequence[tuple[str, str]], terms: Mapping[str, Any], runs: int
) -> list[tuple[Source, Setting]]:
    """Return the settings for some games, with fewer runs of the slower rules."""
    made = []
    for rule in rules:
        count = -(-runs // ONE_IN.get(rule, 10))
        made += fixed_confidence_settings(sources, [rule], runs=count, **terms)
    return made


def allowed_errors(kind: str, epsilon: float | None = None) -> tuple[float, ...]:
    """Return the allowed errors of a kind of adversarial game; near ties are run with epsilon = 0, too.

    Examples
    --------
    >>> allowed_errors("near-tie"), allowed_errors("tie"), allowed_errors("tie", 0.1)
    ((0.002, 0.0), (0.002,), (0.1,))
    """
    if epsilon is not None:
        return (epsilon,)
    zero_too = kind.startswith("near-tie") and OF_GOAL.get(kind) != "clear"
    return (KINDS[kind].epsilon, 0.0) if zero_too else (KINDS[kind].epsilon,)


def failed(row: Row) -> bool:
    """Return whether the error of a run exceeds the allowed error by more than rounding.

    Of a race for a clear gap: whether it claims a gap that is not there, or smaller than epsilon.
    """
    rounding = tie_tolerance(np.array([row.value_range]))
    if row.k == 0:
        lead = -np.inf if row.lead is None else row.lead
        return row.stopped == "confident" and (lead <= 0.0 or lead < row.allowed_error - rounding)
    return row.inclusion_exclusion_error > row.allowed_error + rounding


def report(rows: Sequence[Row]) -> tuple[str, bool]:
    """Return a report with all failures and the calibration, and whether all guarantees were kept."""
    races = [row for row in rows if row.budget is None]
    of_budgets = [row for row in rows if row.budget is not None]
    parts, kept = [circumstances()], True
    if races:
        text, kept = failures(races)
        parts.append(text)
    if of_budgets:
        parts.append(calibration(of_budgets))
    return "\n\n".join(parts), kept


def failures(rows: Sequence[Row]) -> tuple[str, bool]:
    """Return a table with a line per family, epsilon, rule and delta, and whether all guarantees were kept."""
    lines, kept = [], True
    real = [row._replace(family=REAL) for row in rows if row.family not in KINDS]
    several = len({row.family for row in rows if row.family not in KINDS}) > 1
    every = [*rows, *(real if several else [])]
    for setting, group in grouped(every, "family", "epsilon", "unit", "algorithm", "guarantee", "delta").items():
        family, epsilon, unit, algorithm, promise, delta = setting
        rate = Share(sum(map(failed, group)), len(group))
        worst = worst_game(group, delta)
        above = rate.is_above(delta)
        if above and (algorithm, promise) in PROMISED:
            kept = False
        spent = np.mean([row.evaluations for row in group])
        share = np.mean([row.evaluations / 2**row.n_players for row in group])
        by_itself = np.mean([row.stopped == "confident" for row in group])
        mark = "above" if above else "above in a game" if worst.p_value <= LEVEL else ""
        costs = f"{spent:.0f}", f"{share:.2f}", f"{by_itself:.2f}"
        of_worst = worst.name, worst.rate, f"{worst.p_value:.2g}"
        lines.append([family, f"{epsilon:.4g} {unit}", f"{algorithm} {promise}", delta, *costs, rate, *of_worst, mark])
    columns = ["family", "epsilon", "rule", "delta", "evaluations", "of all", "stopped"]
    columns += ["failures", "worst game", "its failures", "p", ""]
    conclusion = "Every guarantee was kept." if kept else "A guarantee was broken: see the lines marked 'above'."
    about = (
        f"{goal_of(rows[0])}; epsilon as a value or a fraction of the range of all values or of v; 'stopped' is the"
        " share of runs that\nstopped before all coalitions were known; failures of all runs with Clopper-Pearson"
        " intervals; p-value of the worst game with Holm's\ncorrection for the number of games"
    )
    return "\n\n".join([about, as_text(columns, lines), conclusion]), kept


def goal_of(row: Row) -> str:
    """Return the goal of a race in words."""
    size = f"k={row.k}" if row.k else "the first clear gap"
    return f"{size}{' pairs' if row.order == 2 else ''} by {row.rank_by}{', in order' if row.ordered else ''}"


class WorstGame(NamedTuple):
    """The game whose failures are the least compatible with delta."""

    name: str
    rate: Share
    p_value: float
    """The p-value with Holm's correction, which multiplies the smallest one by the number of games."""


def worst_game(rows: Sequence[Row], delta: float) -> WorstGame:
    """Return the game with the smallest p-value for a failure rate of at most delta."""
    games = {name: Share(sum(map(failed, runs)), len(runs)) for (name,), runs in grouped(rows, "game").items()}
    name = min(games, key=lambda game: games[game].p_value(delta))
    return WorstGame(name, games[name], min(1.0, len(games) * games[name].p_value(delta)))


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
