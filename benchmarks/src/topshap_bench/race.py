"""The race: odd-gp against published, external and custom algorithms with equal numbers of distinct evaluations.

The error is the inclusion-exclusion error as a fraction of the range of the Shapley values. For every family of games
and every rival, the report shows the rival's mean error; the geometric mean over games of odd-gp's error divided by the
rival's, with `ADDED` added to both and a bootstrap interval over games; and the number of combinations of game and
budget that odd-gp wins or loses. A difference within two standard errors is a tie. Combinations in which a rival cannot
run with the budget, or in which one of its runs has failed, are not compared; the report shows the number of compared
combinations and of failed runs, and why a rival has its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.validation import front_door, refuse
from topshap_bench.contestants import known
from topshap_bench.experiment import fixed_budget_settings, run
from topshap_bench.figures import MOST_CURVES, Panel, draw
from topshap_bench.rivals import RIVALS
from topshap_bench.summary import Mean, as_text, by_run, circumstances, geometric_mean, grouped, mean_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from topshap_bench.settings import Row
    from topshap_bench.sources import Source

OURS = "odd-gp"
"""The algorithm that ``algorithm="auto"`` selects for a fixed budget."""
BUDGETS = (50, 100, 250, 500, 1000)
KS = (1, 3, 5, 7)
ADDED = 0.001
"""A fraction of the range that is added to errors before division, so that tiny differences hardly matter."""

ABOUT = f"""Errors are inclusion-exclusion errors in thousandths of the range of the Shapley values.
The parameters of {OURS} were tuned on every second published table of each family, beginning with the first; --unseen
leaves these out."""


class RaceReport(NamedTuple):
    """The rows of a race and the report on them."""

    rows: list[Row]
    text: str


def rivals() -> list[str]:
    """Return the default rivals: all other algorithms of topshap, and those of installed packages that are not slow."""
    return [name for name in known(slow=False) if name != OURS]


@front_door
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
) -> RaceReport:
    """Run the race; write the results ``race.csv``, the report ``race.txt`` and the figure ``race.png``.

    Parameters
    ----------
    sources
        The games.
    folder
        The output folder; results in it are not computed again.
    algorithms
        The rivals; see `topshap_bench.contestants.contestant`. The default is all known algorithms.
    budgets, ks, runs
        The budgets, the values of k and the number of runs of every combination.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    others = rivals() if algorithms is None else [name for name in algorithms if name != OURS]
    if not others:
        refuse("algorithms", algorithms, must_be=f"at least one algorithm other than {OURS!r}")
    settings = fixed_budget_settings(sources, [OURS, *others], ks=ks, budgets=sorted(budgets), runs=runs)
    if not settings:
        refuse("ks", ks, must_be="smaller than the number of players of at least one game")
    rows = run(settings, folder / "race.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text = report(rows)
    (folder / "race.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(rows), folder / "race.png")
    return RaceReport(rows, text)


def report(rows: Sequence[Row]) -> str:
    """Return the report: a table for every family and one for all games, with a line per algorithm."""
    families = grouped(rows, "family")
    named = {name: group for (name,), group in families.items()}
    parts = [circumstances("lightshap"), ABOUT]
    for name, group in ({**named, "all games": list(rows)} if len(named) > 1 else named).items():
        settings = {(row.k, row.budget) for row in group}
        title = f"{name}: {len(grouped(group, 'family', 'game'))} games, k in {sorted({k for k, _ in settings})}, "
        title += f"budgets {sorted({b for _, b in settings if b})}, {len({row.run for row in group})} runs"
        parts.append(f"{title}\n{_standings(group)}")
    parts.append(_settings_of_rivals(rows))
    return "\n\n".join(parts)


def _settings_of_rivals(rows: Sequence[Row]) -> str:
    """Return the version of every external algorithm, why its settings are its best, and the messages of failures."""
    versions = {row.algorithm: row.version for row in rows if row.algorithm in RIVALS}
    lines = [[name, version, RIVALS[name].why] for name, version in sorted(versions.items())]
    text = as_text(["rival", "version", "settings"], lines) if lines else "no rivals of other packages"
    failed = sorted({f"{row.algorithm} {row.stopped}" for row in rows if row.stopped.startswith("failed")})
    return "\n".join([text, *failed])


def _standings(rows: Sequence[Row]) -> str:
    failures = {name: _failures(group) for (name,), group in grouped(rows, "algorithm").items()}
    by_algorithm = {name: _means(group) for (name,), group in grouped(rows, "algorithm").items()}
    ours = by_algorithm.pop(OURS)
    lines: list[list[str]] = [[OURS, _in_thousandths(ours.values()), "", "", "", "", str(len(ours)), "0"]]
    for name, theirs in sorted(by_algorithm.items(), key=lambda item: _mean(item[1].values())):
        if not theirs:
            lines.append([name, "cannot run", "", "", "", "", "0", failures[name]])
            continue
        logs: dict[tuple[str, str], list[float]] = {}
        for (family, game, budget), error in theirs.items():
            mine = ours[family, game, budget]
            logs.setdefault((family, game), []).append(np.log((mine.mean + ADDED) / (error.mean + ADDED)))
        ratio = geometric_mean([float(np.mean(of_game)) for of_game in logs.values()])
        outcomes = [outcome_of(ours[setting], error) for setting, error in theirs.items()]
        counts = [str(outcomes.count(kind)) for kind in ("win", "tie", "loss")]
        lines.append([name, _in_thousandths(theirs.values()), str(ratio), *counts, str(len(theirs)), failures[name]])
    return as_text(["algorithm", "error", f"{OURS} / it [95%]", "wins", "ties", "losses", "compared", "failed"], lines)


def _failures(rows: Sequence[Row]) -> str:
    return str(sum(row.stopped.startswith("failed") for row in rows))


def _means(rows: Sequence[Row]) -> dict[tuple[str, str, int], Mean]:
    """Return the mean error over the runs by game and budget, where the algorithm could run for all k."""
    means = {}
    for setting, group in grouped(rows, "family", "game", "budget").items():
        _, errors = by_run(group, "relative_error", "budget")
        if np.isfinite(errors).all():
            means[setting] = mean_of(errors[:, 0])
    return means


def outcome_of(mine: Mean, theirs: Mean) -> str:
    """Return ``"win"`` if odd-gp's error is smaller, ``"loss"`` if larger, or ``"tie"`` within two standard errors.

    With single runs, which have no standard errors, only equal errors are a tie.

    Examples
    --------
    >>> outcome_of(Mean(0.1, 0.01), Mean(0.2, 0.01))
    'win'
    """
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
    """Return a panel for every family: the error against the budget, for odd-gp and its closest rivals."""
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
