"""Errors at equal CPU time, for value functions that take from a microsecond to a second.

The time of a run is the CPU time of the algorithm, as measured in a race on tables, plus the number of distinct
evaluations times the time that one of them takes. The time limits are the times that odd-gp takes with some budgets.
Every other algorithm gets the largest budget that it can afford in the same time: its error is interpolated between the
budgets of the race, linearly in the logarithms of time and error. Nothing is extrapolated. If an algorithm could afford
more than `SLACK` times its largest budget, its error is not known, and the game is not compared at this limit. If it
cannot afford its smallest budget, it is too slow and has no error either.

Runs of topshap that evaluate all coalitions are exact whatever the algorithm. They count as its largest runs, and as an
algorithm of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.validation import front_door, refuse
from topshap_bench.contestants import known
from topshap_bench.experiment import fixed_budget_settings, run
from topshap_bench.figures import MOST_CURVES, Panel, draw
from topshap_bench.race import KS
from topshap_bench.race_ratios import ADDED as ADDED_BY_MEASURE
from topshap_bench.race_ratios import OURS
from topshap_bench.summary import as_text, circumstances, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from topshap.core.typing import Matrix, Values
    from topshap_bench.settings import Row, Setting
    from topshap_bench.sources import Source

COSTS: Mapping[float, str] = {1e-6: "1 us", 1e-5: "10 us", 1e-4: "100 us", 1e-3: "1 ms", 0.1: "100 ms", 1.0: "1 s"}
"""The times of an evaluation in the tables, in seconds."""
GRID = tuple(np.geomspace(1e-6, 1.0, 25).tolist())
"""The times of an evaluation in the figure, and between which the time from which odd-gp is ahead is interpolated."""
LIMITS = (100, 250, 500, 1000)
"""The budgets of odd-gp whose times are the limits."""
SLACK = 1.05
"""A limit that exceeds the time for the largest budget by this factor is beyond what is known of an algorithm."""
ADDED = ADDED_BY_MEASURE["relative_error"]
"""A fraction of the range that is added to errors before division, as in the race."""
ALL = "all coalitions"
BUDGETS = (100, 250, 500, 1000, 2000, 5000, 10_000, 20_000, 65_536)
LARGEST: Mapping[str, int] = {
    OURS: 2000,
    "cmcs": 65_536,
    "greedy-cmcs": 20_000,
    "kernelshap": 20_000,
    "shap:kernel": 20_000,
    "shap:permutation": 5000,
    "shapiq:kernelshap": 20_000,
    "shapiq:leverageshap-fixed": 20_000,
    "shapiq:kadd-shap": 5000,
    "shapiq:oddshap": 5000,
    "lightshap:kernel": 5000,
}
"""The largest budget of each algorithm in the runs for cheap value functions, so that no run takes many seconds."""

ABOUT = f"""Time is the CPU time of the algorithm plus the evaluations times the time that one takes. The limits are the
times of {OURS} with budgets of {", ".join(map(str, LIMITS))}. Other algorithms get the largest budget that they can
afford in this time; their errors are interpolated between budgets. A number is the geometric mean over games of
{OURS}'s error divided by that of the row, with {ADDED:g} of the range added to both: below 1, {OURS} is better. In
brackets is the number of compared combinations of a game and a limit. Those beyond the largest budget of an algorithm,
or below its smallest one, are not compared. 'ahead from' is the time of an evaluation from which on {OURS} is better,
or the other algorithm too slow; times at which less than half of the combinations are known do not count.

'best at 100' is the smallest error in the time that {OURS} takes with a budget of 100, among the algorithms that are in
time and known in all games, with {OURS}'s error divided by it. A question mark means that others, whose budgets end
before, may be better."""


@front_door
def clock(
    folder: Path,
    *,
    rows: Sequence[Row] = (),
    sources: Sequence[Source] = (),
    largest: Mapping[str, int] | None = None,
    budgets: Sequence[int] = BUDGETS,
    ks: Sequence[int] = KS,
    runs: int = 2,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> str:
    """Compare algorithms at equal times; write the report ``clock.txt`` and the figure ``clock.png``, and return it.

    Parameters
    ----------
    folder
        The output folder.
    rows
        The rows of a race, see `topshap_bench.race`.
    sources
        Games for runs with larger budgets, which cheap value functions need; the rows are kept in ``clock.csv``.
    largest
        The algorithms of these runs and their largest budgets; the default is `LARGEST`, if installed.
    budgets, ks, runs
        The budgets, the values of k and the number of runs of every combination.
    seed, n_jobs, progress
        See `topshap_bench.run`.
    """
    parts = {"the race": list(rows)} if rows else {}
    if sources:
        installed = {name: budget for name, budget in LARGEST.items() if name in known()}
        settings = large_budgets(sources, largest or installed, budgets=budgets, ks=ks, runs=runs)
        parts["large budgets"] = run(settings, folder / "clock.csv", seed=seed, n_jobs=n_jobs, progress=progress)
    if not parts:
        refuse("rows", rows, must_be="the rows of a race, unless there are games")
    found = {title: curves_of(of_part) for title, of_part in parts.items()}
    for title, games in found.items():
        if not limits_of(games):
            refuse("rows", title, must_be=f"runs of {OURS} on tables with at least one of the budgets {LIMITS}")
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join([circumstances("lightshap"), ABOUT, *(report(*part) for part in found.items())])
    (folder / "clock.txt").write_text(text + "\n", encoding="utf-8")
    panels = [panel(f"{title}, {len(games)} games", compare(games, GRID)) for title, games in found.items()]
    draw(panels, folder / "clock.png")
    return text


def large_budgets(
    sources: Sequence[Source], largest: Mapping[str, int], *, budgets: Sequence[int], ks: Sequence[int], runs: int
) -> list[tuple[Source, Setting]]:
    """Return the settings of all algorithms up to their largest budgets, and at most with all coalitions of a game.

    Examples
    --------
    >>> from topshap_bench import Source
    >>> terms = {"budgets": (100, 2000, 50_000), "ks": (3,), "runs": 1}
    >>> made = large_budgets([Source("tie", "0-of-12")], {"odd-gp": 2000, "cmcs": 50_000}, **terms)
    >>> [(setting.algorithm, setting.budget) for _, setting in made]
    [('odd-gp', 100), ('odd-gp', 2000), ('cmcs', 100), ('cmcs', 2000), ('cmcs', 4096)]
    """
    made = []
    for source in sources:
        most = 2 ** source.open().game.n_players
        for name, last in largest.items():
            own = sorted({min(budget, most) for budget in budgets if budget <= last})
            made += fixed_budget_settings([source], [name], ks=ks, budgets=own, runs=runs)
    return made


class Curve(NamedTuple):
    """The runs of an algorithm on a game, by increasing budget."""

    budgets: list[int]
    seconds: Values
    """The median CPU time of the algorithm."""
    evaluations: Values
    errors: Values
    """The logarithm of the mean error as a fraction of the range, with `ADDED` added."""
    is_complete: bool
    """Whether the largest run evaluates all coalitions, so that more time does not help."""

    def times(self, cost: float) -> Values:
        """Return the times of the runs if an evaluation takes `cost` seconds."""
        return np.maximum.accumulate(self.seconds + cost * self.evaluations)

    def errors_at(self, limits: Values, cost: float) -> Values:
        """Return the logarithms of the errors at time limits: inf if too slow, nan if beyond the largest budget.

        Examples
        --------
        >>> curve = Curve([100, 400], np.zeros(2), np.array([100.0, 400.0]), np.log([0.4, 0.1]), is_complete=False)
        >>> np.exp(curve.errors_at(np.array([50.0, 100.0, 200.0, 400.0, 500.0]), cost=1.0)).round(3)
        array([inf, 0.4, 0.2, 0.1, nan])
        """
        times = self.times(cost)
        found = np.interp(np.log(limits), np.log(times), self.errors)
        found[limits < times[0]] = np.inf
        if not self.is_complete:  # a run may take fewer evaluations than its budget
            found[limits > SLACK * (self.seconds[-1] + cost * self.budgets[-1])] = np.nan
        return found


Games = dict[tuple[str, str], dict[str, Curve]]
"""The curves of all algorithms, by family and name of the game."""


def curves_of(rows: Iterable[Row]) -> Games:
    """Return the curves of all algorithms on every table, with the budgets at which they could run for all k.

    Other games are left out, since their evaluations take time that is part of the measured CPU time. So are algorithms
    with a single budget, which cannot be interpolated, unless it is that of all coalitions.
    """
    rows = [row for row in rows if row.range_of_v is not None]
    complete = [row._replace(algorithm=ALL) for row in rows if row.stopped == "exact"]
    games: Games = {}
    for (family, game, algorithm), group in grouped([*rows, *complete], "family", "game", "algorithm").items():
        by_budget = {budget: of_budget for (budget,), of_budget in sorted(grouped(group, "budget").items())}
        can_run = {budget: runs for budget, runs in by_budget.items() if all(map(_has_result, runs))}
        if len(can_run) > 1 or algorithm == ALL:
            games.setdefault((family, game), {})[algorithm] = _curve(can_run)
    return {game: curves for game, curves in games.items() if OURS in curves}


def _has_result(row: Row) -> bool:
    return bool(np.isfinite(row.relative_error))


def _curve(rows: Mapping[int, Sequence[Row]]) -> Curve:
    def of_each(measure: str, average: Callable[[list[float]], float]) -> Values:
        return np.array([average([getattr(row, measure) for row in group]) for group in rows.values()])

    evaluations = of_each("evaluations", np.mean)
    n_players = rows[max(rows)][0].n_players
    errors = np.log(of_each("relative_error", np.mean) + ADDED)
    is_complete = bool(evaluations[-1] >= 2**n_players)
    return Curve(list(rows), of_each("seconds", np.median), evaluations, errors, is_complete)


def limits_of(games: Games) -> list[int]:
    """Return the budgets in `LIMITS` that odd-gp has runs with on all games."""
    return [budget for budget in LIMITS if games and all(budget in curves[OURS].budgets for curves in games.values())]


Errors = dict[str, "Matrix"]
"""The logarithms of the errors of every algorithm, with a row for every game and a column for every limit."""


def compare(games: Games, costs: Iterable[float]) -> dict[float, Errors]:
    """Return the errors of all algorithms at equal times, for several times of an evaluation."""
    return {cost: _errors(games, cost) for cost in costs}


def _errors(games: Games, cost: float) -> Errors:
    budgets = limits_of(games)
    names = dict.fromkeys(name for curves in games.values() for name in curves)
    errors = {name: np.full((len(games), len(budgets)), np.nan) for name in names}
    for row, curves in enumerate(games.values()):
        ours = curves[OURS]
        limits = ours.times(cost)[[ours.budgets.index(budget) for budget in budgets]]
        for name, curve in curves.items():
            errors[name][row] = curve.errors_at(limits, cost)
    return errors


class Ratio(NamedTuple):
    """The comparison of odd-gp with another algorithm, over games and limits."""

    logarithm: float
    """The mean over games of the logarithm of odd-gp's error divided by the other one; nan without any."""
    compared: int
    """The number of compared combinations of a game and a limit."""
    too_slow: int
    """The number of combinations in which the other algorithm is too slow."""
    total: int
    """The number of all combinations."""

    def __str__(self) -> str:
        if self.compared:
            return f"{np.exp(self.logarithm):.3f} ({self.compared})"
        return "too slow" if self.too_slow else "not known"

    @property
    def in_most(self) -> float:
        """The logarithm if at least half of the combinations are compared, -inf if half are too slow, or else nan."""
        if 2 * self.compared >= self.total:
            return self.logarithm
        return -np.inf if 2 * self.too_slow >= self.total else np.nan


def ratio_of(errors: Errors, name: str) -> Ratio:
    """Compare odd-gp with another algorithm.

    Examples
    --------
    >>> theirs = np.array([[np.log(0.2), np.inf], [np.log(0.2), np.nan]])
    >>> print(ratio_of({"odd-gp": np.log(np.full((2, 2), 0.1)), "cmcs": theirs}, "cmcs"))
    0.500 (2)
    """
    logs = errors[OURS] - errors[name]
    compared = np.isfinite(logs)
    of_games = [of_game[found].mean() for of_game, found in zip(logs, compared, strict=True) if found.any()]
    mean = float(np.mean(of_games)) if of_games else float("nan")
    return Ratio(mean, int(compared.sum()), int(np.isposinf(errors[name]).sum()), logs.size)


def report(title: str, games: Games) -> str:
    """Return the tables of every family and of all games."""
    families = {family: {game: games[game] for game in games if game[0] == family} for family, _ in games}
    groups = {**families, "all games": games} if len(families) > 1 else families
    return "\n\n".join(_tables(f"{title}, {name}", group) for name, group in groups.items())


def _tables(title: str, games: Games) -> str:
    at_costs, on_grid = compare(games, COSTS), compare(games, GRID)
    lines = [
        [name, *(str(ratio_of(errors, name)) for errors in at_costs.values()), ahead_from(on_grid, name)]
        for name in _by_ratio(on_grid)
    ]
    table = as_text(["algorithm", *(f"at {cost}" for cost in COSTS.values()), "ahead from"], lines)
    budgets = limits_of(games)
    winners = [
        [shown, *(best(at_costs[cost], column) for column in range(len(budgets)))] for cost, shown in COSTS.items()
    ]
    head = ["an evaluation takes", *(f"best at {budget}" for budget in budgets)]
    return f"{title}: {len(games)} games, {len(budgets)} limits\n{table}\n\n{as_text(head, winners, left=5)}"


def _by_ratio(on_grid: Mapping[float, Errors]) -> list[str]:
    """Return all algorithms but odd-gp, by their mean ratio: first those that are the best next to it."""
    means = {}
    for name in next(iter(on_grid.values())):
        found = [ratio.logarithm for errors in on_grid.values() if (ratio := ratio_of(errors, name)).compared]
        means[name] = -np.mean(found) if found else np.inf
    return sorted((name for name in means if name != OURS), key=means.__getitem__)


def best(errors: Errors, column: int) -> str:
    """Return the algorithm with the smallest error at a limit, and odd-gp's error divided by it.

    Examples
    --------
    >>> best({"odd-gp": np.log([[0.1]]), "cmcs": np.log([[0.05]]), "swap@k": np.array([[np.nan]])}, 0)
    'cmcs 2.00 ?'
    """
    means = {name: float(of_it[:, column].mean()) for name, of_it in errors.items()}
    in_time = [name for name in means if np.isfinite(means[name])]
    name = min(in_time, key=lambda name: (round(means[name], 6), name != ALL))
    is_exact = np.isclose(means[name], np.log(ADDED))
    doubt = "" if is_exact or not np.isnan(list(means.values())).any() else " ?"
    return f"{name} {np.exp(means[OURS] - means[name]):.2f}{doubt}"


def ahead_from(on_grid: Mapping[float, Errors], name: str) -> str:
    """Return the time of an evaluation from which on odd-gp is better than another algorithm."""
    ratios = {cost: ratio_of(errors, name).in_most for cost, errors in on_grid.items()}
    costs = [cost for cost, ratio in ratios.items() if not np.isnan(ratio)]
    logs = [ratios[cost] for cost in costs]
    behind = [position for position, log in enumerate(logs) if log >= 0.0]
    if not costs:
        return "not known"
    if not behind:
        return f"{_duration(costs[0])} or less"
    if behind[-1] == len(costs) - 1:
        return "never"
    i = behind[-1]
    share = logs[i] / (logs[i] - logs[i + 1])
    return _duration(costs[i] * (costs[i + 1] / costs[i]) ** share)


def _duration(seconds: float) -> str:
    """Return a time with two digits, for example ``"18 us"``."""
    unit, size = next((pair for pair in (("us", 1e-6), ("ms", 1e-3)) if seconds < 999 * pair[1]), ("s", 1.0))
    return f"{float(f'{seconds / size:.2g}'):g} {unit}"


def panel(title: str, on_grid: Mapping[float, Errors]) -> Panel:
    """Return the ratios to the best other algorithms against the time of an evaluation, with odd-gp as a line at 1."""
    curves = {OURS: np.ones((1, len(on_grid)))}
    for name in _by_ratio(on_grid)[: MOST_CURVES - 1]:
        ratios = np.array([[ratio_of(errors, name).in_most for errors in on_grid.values()]])
        curves[name] = np.exp(np.where(np.isfinite(ratios), ratios, np.nan))
    label = f"error of {OURS} / its error"
    return Panel(title, list(on_grid), curves, "seconds per evaluation", label, logarithmic=True)
