"""The race: odd-gp against published, external and custom algorithms with equal numbers of distinct evaluations.

The error is the inclusion-exclusion error as a fraction of the range of the Shapley values; the mean squared error of
all values is a fraction of the squared range. The report starts with the tables of `topshap_bench.race_ratios`. For
every family of games and every rival, it then shows the rival's mean error and root mean squared error; the geometric
means over games of odd-gp's errors divided by the rival's, with a bootstrap interval over games; and the number of
combinations of game and budget in which odd-gp has the smaller or larger error. A difference within two standard errors
is a tie. Combinations in which a rival cannot run with the budget, or in which one of its runs has failed, are not
compared; the report shows the number of compared combinations and of failed runs, and why a rival has its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.validation import front_door, refuse
from topshap_bench import race_ratios
from topshap_bench.experiment import fixed_budget_settings, run
from topshap_bench.external import available
from topshap_bench.figures import MOST_CURVES, Panel, draw
from topshap_bench.large_race import large_rivals, large_settings
from topshap_bench.race_ratios import OURS
from topshap_bench.rivals import RIVALS
from topshap_bench.summary import Mean, as_text, by_run, circumstances, grouped, mean_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from topshap_bench.settings import Row
    from topshap_bench.sources import Source
    from topshap_bench.summary import Ratio

BUDGETS = (50, 100, 250, 500, 1000)
KS = (1, 3, 5, 7)
OF_TOPSHAP = ("odd-gp@k", "swap@k", "cmcs", "greedy-cmcs", "cmcs@k", "kernelshap", "stratified-svarm")
"""The algorithms of topshap that take part by default, without the weaker ones of the paper's comparison."""

ABOUT = f"""Errors are inclusion-exclusion errors, rms is the root mean squared error of all values, both in thousandths
of the range of the Shapley values; mse is the mean squared error. The best rival of a game and budget is chosen in
other runs than it is measured in; of the algorithms of topshap, only those that others have published are rivals.
The parameters of {OURS} were tuned on every second published table of each family, beginning with the first; --unseen
leaves these out. The networks were not used for tuning. The games of many players have seeds of their own, but {OURS}
was developed with games of some of these kinds in view."""


class RaceReport(NamedTuple):
    """The rows of a race and the report on them."""

    rows: list[Row]
    text: str


def slow_rivals() -> list[str]:
    """Return the algorithms of installed packages that take seconds for a run."""
    return [name for name in available() if RIVALS[name].is_slow]


def rivals() -> list[str]:
    """Return the default rivals: `OF_TOPSHAP`, and the algorithms of installed packages that are not slow."""
    return [*OF_TOPSHAP, *available(slow=False)]


@front_door
def race(
    sources: Sequence[Source],
    folder: Path,
    *,
    large: bool = False,
    slow: bool = False,
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
    large
        Whether to add games of 30 to 500 players, with the settings of `topshap_bench.large_race`.
    slow
        Whether to add rivals that take seconds for a run, in the first family and with the median budget only.
    algorithms
        The rivals; see `topshap_bench.contestants.contestant`. The default is `rivals`, and fewer in games of many
        players.
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
    if slow:
        first = [source for source in sources if source.family == sources[0].family]
        median = sorted(budgets)[len(budgets) // 2]
        settings += fixed_budget_settings(first, slow_rivals(), ks=ks, budgets=[median], runs=runs)
    if large:
        settings += large_settings([OURS, *(large_rivals() if algorithms is None else others)], runs=runs)
    rows = run(settings, folder / "race.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    text = report(rows)
    (folder / "race.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(rows), folder / "race.png")
    return RaceReport(rows, text)


def report(rows: Sequence[Row]) -> str:
    """Return the report: ratios to the best rival, and a table for every family and for all games of a size."""
    parts = [circumstances("lightshap", "xgboost", "lightgbm"), ABOUT, race_ratios.tables(rows)]
    parts += [f"{_title(name, group)}\n{_standings(group)}" for name, group in _groups(rows).items()]
    return "\n\n".join([*parts, _settings_of_rivals(rows)])


def _groups(rows: Sequence[Row]) -> dict[str, Sequence[Row]]:
    """Return the rows of every family, and those of all games, by size if there are several sizes."""
    families: dict[str, Sequence[Row]] = {name: group for (name,), group in grouped(rows, "family").items()}
    sizes = {f"all {size} games": _without_slow(group) for size, group in _by_size(rows).items()}
    if len(families) == 1:
        return families
    return {**families, **(sizes if len(sizes) > 1 else {"all games": _without_slow(rows)})}


def _by_size(rows: Sequence[Row]) -> dict[str, list[Row]]:
    sizes: dict[str, list[Row]] = {}
    for row in rows:
        sizes.setdefault(race_ratios.size_of(row), []).append(row)
    return sizes


def _without_slow(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all algorithms but slow ones, which run in few families and with one budget."""
    by_algorithm = grouped(rows, "algorithm").items()
    ran = {name: {(row.family, row.budget) for row in group} for (name,), group in by_algorithm}
    return [row for row in rows if len(ran[row.algorithm]) > len(ran[OURS]) / 2]


def _title(name: str, rows: Sequence[Row]) -> str:
    ks, budgets = sorted({row.k for row in rows}), sorted({row.budget for row in rows if row.budget})
    players = sorted({row.n_players for row in rows})
    size = f"{players[0]} to {players[-1]}" if len(players) > 1 else f"{players[0]}"
    games, runs = len(grouped(rows, "family", "game")), len({row.run for row in rows})
    return f"{name}: {games} games of {size} players, k in {ks}, budgets {budgets}, {runs} runs"


def _settings_of_rivals(rows: Sequence[Row]) -> str:
    """Return the version of every external algorithm, why its settings are its best, and the messages of failures."""
    versions = {row.algorithm: row.version for row in rows if row.algorithm in RIVALS}
    lines = [[name, version, RIVALS[name].why] for name, version in sorted(versions.items())]
    text = as_text(["rival", "version", "settings"], lines) if lines else "no rivals of other packages"
    failed = sorted({f"{row.algorithm} {row.stopped}" for row in rows if row.stopped.startswith("failed")})
    return "\n".join([text, *failed])


def _standings(rows: Sequence[Row]) -> str:
    groups = {name: group for (name,), group in grouped(rows, "algorithm").items()}
    by_algorithm = {name: _means(group) for name, group in groups.items()}
    ours = by_algorithm.pop(OURS)
    lines: list[list[str]] = [[OURS, *_in_thousandths(groups[OURS], ours), "", "", "", "", "", str(len(ours)), "0"]]
    for name, theirs in sorted(by_algorithm.items(), key=lambda item: _mean(item[1].values())):
        if not theirs:
            lines.append([name, "cannot run", "", "", "", "", "", "", "0", _failures(groups[name])])
            continue
        ratios = [str(_ratio(measure, groups[OURS], groups[name])) for measure in race_ratios.ADDED]
        outcomes = [outcome_of(ours[setting], error) for setting, error in theirs.items()]
        counts = [str(outcomes.count(kind)) for kind in ("win", "tie", "loss")]
        errors = _in_thousandths(groups[name], theirs)
        lines.append([name, *errors, *ratios, *counts, str(len(theirs)), _failures(groups[name])])
    ratios = [f"{name}: {OURS} / it [95%]" for name in race_ratios.NAMES.values()]
    return as_text(["algorithm", "error", "rms", *ratios, "wins", "ties", "losses", "compared", "failed"], lines)


def _ratio(measure: str, ours: Sequence[Row], theirs: Sequence[Row]) -> Ratio:
    cells = race_ratios.runs_of_cells([*ours, *theirs], measure)
    return race_ratios.ratio_to(theirs[0].algorithm, cells, race_ratios.ADDED[measure])


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


def _in_thousandths(rows: Sequence[Row], errors: Mapping[tuple[str, str, int], Mean]) -> list[str]:
    """Return the mean error and the root of the mean squared error over the games and budgets that are compared."""
    squared = [row.relative_squared_error for row in rows if (row.family, row.game, row.budget) in errors]
    return [f"{1000 * _mean(errors.values()):.2f}", f"{1000 * np.sqrt(np.mean(squared)):.2f}"]


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return panels of the error against the budget, for odd-gp and its closest rivals in games of the same size.

    There is a panel for every family of small games, and one for every number of players of larger games.
    """
    made = []
    for size, all_of_size in _by_size(rows).items():
        of_size = _without_slow(all_of_size)
        errors = {name: _mean(_means(group).values()) for (name,), group in grouped(of_size, "algorithm").items()}
        closest = sorted((name for name in errors if name != OURS), key=errors.__getitem__)[: MOST_CURVES - 1]
        column = "family" if size == "small" else "n_players"
        for (name,), group in grouped(of_size, column).items():
            title = name if size == "small" else f"games of {name} players"
            made.append(_panel(title, group, [OURS, *closest]))
    return made


def _panel(title: str, rows: Sequence[Row], names: Sequence[str]) -> Panel:
    by_algorithm = {name: group for (name,), group in grouped(rows, "algorithm").items()}
    drawn = {name: by_run(by_algorithm[name], "relative_error", "budget") for name in names}
    curves = {name: table for name, (_, table) in drawn.items()}
    return Panel(title, drawn[OURS][0], curves, "distinct evaluations", "error / range")
