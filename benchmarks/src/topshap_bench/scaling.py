"""Time and memory of the algorithms themselves as the number of players or the budget grows.

The game is a sum of weights, and its own time is subtracted. Time is CPU time per access through `topshap.identify`, in
the fastest of a few runs; memory is the peak of another run. The report compares the slope of the upper half of the
points in a log-log plot with the power that the algorithm's docstring claims ("Overhead per evaluation: O(...)"), and
marks algorithms whose cost grows faster. Runs that would take too long or too much memory, extrapolated from smaller
ones, are skipped and reported as skipped.
"""

from __future__ import annotations

import re
import time
import tracemalloc
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap import identify
from topshap.algorithms import ALGORITHMS
from topshap_bench import external
from topshap_bench.contestants import known, version_of
from topshap_bench.figures import MOST_CURVES, Panel, draw
from topshap_bench.instrumented import CountedGame, TimedGame, additive
from topshap_bench.results_file import ResultsFile
from topshap_bench.rivals import RIVALS
from topshap_bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PLAYERS = (10, 30, 100, 300, 1000, 3000, 10_000)
BUDGETS = (500, 1000, 2000, 4000, 8000, 16_000)
BUDGET, N_PLAYERS = 2000, 30
"""The budget while the number of players varies, and the number of players while the budget varies. The latter is so
small that warm-ups of 30 rounds are a small part of the larger budgets."""
K = 5
LIMIT, LARGEST = 3.0, 1000.0
"""The maximum expected seconds and megabytes of a run."""
ENOUGH = 1.0
"""The number of seconds after which no further run starts, since long runs vary little."""
SLACK = 0.3
"""A slope is marked if it exceeds the claimed power by more than this."""
MEASURED = "measured"


class Measurement(NamedTuple):
    """Time and memory of one algorithm at one size, or the reason why they were not measured."""

    axis: str
    """The variable: ``"players"`` or ``"budget"``."""
    algorithm: str
    n_players: int
    budget: int
    version: str
    """The package of the algorithm and its version."""
    outcome: str
    """``"measured"``, or why it did not run: ``"too long"``, ``"too large"``, ``"not for n"`` or ``"cannot run"``."""
    calls: int
    seconds: float
    """The time of a whole run."""
    microseconds: float
    """The time per access without the game, nan if not measured."""
    megabytes: float
    """The peak of the allocated memory, nan if not measured."""

    @property
    def size(self) -> int:
        """The number of players or the budget, whichever varies."""
        return self.n_players if self.axis == "players" else self.budget


Size = tuple[str, str, int, int, str]
"""The first fields of a measurement: axis, algorithm, players, budget and version."""


class ScalingReport(NamedTuple):
    """The measurements and the report."""

    measured: list[Measurement]
    text: str


def scale(
    folder: Path,
    *,
    algorithms: Sequence[str] | None = None,
    players: Sequence[int] = PLAYERS,
    budgets: Sequence[int] = BUDGETS,
    runs: int = 3,
    limit: float = LIMIT,
    progress: Callable[[Measurement], object] | None = None,
) -> ScalingReport:
    """Measure; write the results ``scale.csv``, the report ``scale.txt`` and the figure ``scale.png``.

    Parameters
    ----------
    folder
        The output folder; measurements of the same versions in it are not repeated.
    algorithms
        The names of algorithms of topshap and of other packages, all by default.
    players
        The numbers of players, for a budget of `BUDGET`, or half of all coalitions if that is less.
    budgets
        The budgets, for `N_PLAYERS` players.
    runs
        The number of runs, of which the fastest counts; fewer if they take more than a second.
    limit
        The maximum expected number of seconds; longer runs are skipped.
    progress
        A function that is called with every measurement.
    """
    sizes = {"budget": [(N_PLAYERS, t) for t in sorted(budgets)]}
    sizes["players"] = [(n, min(BUDGET, 2 ** (n - 1))) for n in sorted(players)]  # never all coalitions
    measured = []
    with ResultsFile(folder / "scale.csv", Measurement) as results:
        done: dict[Size, Measurement] = {found[:5]: found for found in results.rows}
        for name in known(slow=False) if algorithms is None else algorithms:
            for axis, of_axis in sizes.items():
                smaller: list[Measurement] = []
                for n, budget in of_axis:
                    size = (axis, name, n, budget, version_of(name))
                    if size not in done:
                        done[size] = measure(size, smaller, runs, limit)
                        results.add([done[size]])
                        if progress is not None:
                            progress(done[size])
                    smaller.append(done[size])
                measured += smaller
    text = report(measured)
    (folder / "scale.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(measured), folder / "scale.png")
    return ScalingReport(measured, text)


def measure(size: Size, smaller: Sequence[Measurement], runs: int, limit: float) -> Measurement:
    """Measure an algorithm at a size, or state why it is skipped, given the measurements at smaller sizes."""
    _, name, n, budget, _ = size
    nothing = (0, 0.0, float("nan"), float("nan"))
    if (reason := why_not(size, smaller, limit)) is not None:
        return Measurement(*size, reason, *nothing)
    _run(name, 10, 100, seed=0)  # imports and compilation at the first call are not overhead per access
    fastest, seconds, start, calls = float("inf"), float("inf"), time.process_time(), 0
    for seed in range(runs):
        if seed > 0 and time.process_time() - start > ENOUGH:
            break
        began = time.process_time()
        calls, of_the_game = _run(name, n, budget, seed)
        if calls == 0:
            return Measurement(*size, "cannot run", *nothing)
        took = time.process_time() - began
        seconds, fastest = min(seconds, took), min(fastest, (took - of_the_game) / calls)
    tracemalloc.start()
    _run(name, n, budget, seed=0)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Measurement(*size, MEASURED, calls, seconds, 1e6 * fastest, megabytes)


def why_not(size: Size, smaller: Sequence[Measurement], limit: float) -> str | None:
    """Return why an algorithm is not run at a size, or None if it is run.

    Examples
    --------
    >>> smaller = [Measurement("players", "cmcs", n, 2000, "", MEASURED, 2000, n / 100, 1.0, 1.0) for n in (100, 300)]
    >>> [why_not(("players", "cmcs", n, 2000, ""), smaller, limit=5.0) for n in (400, 1000)]
    [None, 'too long']
    """
    axis, name, n, budget, _ = size
    most = ALGORITHMS[name].max_players if name in ALGORITHMS else None
    if most is not None and n > most:
        return "not for n"
    lasting = ("too long", "too large", *(("cannot run",) if axis == "players" else ()))
    if smaller and smaller[-1].outcome in lasting:
        return smaller[-1].outcome
    at = n if axis == "players" else budget
    measured = [m for m in smaller if m.outcome == MEASURED]
    if expected(at, [(m.size, m.seconds) for m in measured]) > limit:
        return "too long"
    return "too large" if expected(at, [(m.size, m.megabytes) for m in measured]) > LARGEST else None


def expected(size: int, smaller: Sequence[tuple[int, float]]) -> float:
    """Extrapolate a cost from the last two smaller sizes, with a power between 1 and 2.

    Examples
    --------
    >>> expected(100, []), expected(100, [(50, 3.0)]), round(expected(100, [(10, 0.01), (20, 0.04)]), 6)
    (0.0, 6.0, 1.0)
    """
    if not smaller:
        return 0.0
    last, cost = smaller[-1]
    power = 1.0
    if len(smaller) > 1:
        before, cost_before = smaller[-2]
        power = min(max(1.0, log(cost / cost_before) / log(last / before)), 2.0)
    return cost * (size / last) ** power


def _run(name: str, n: int, budget: int, seed: int) -> tuple[int, float]:
    """Run an algorithm; return its accesses (0 if it cannot run) and the seconds of the game and of counting."""
    if name in RIVALS:
        counted = CountedGame(additive(n), "calls")
        timed = TimedGame(counted)
        try:
            estimates = external.one_run(name, timed, budget, seed)
        except external.RivalError:
            estimates = None
        return (0 if estimates is None else counted.ledger.calls), timed.seconds
    game = TimedGame(additive(n))
    top = identify(game, k=min(K, n), budget=budget, algorithm=name, counting="calls", random_state=seed, n_jobs=1)
    return top.calls, game.seconds


def claimed_power(algorithm: str, symbol: str) -> int | None:
    """Return the power of n or T in the overhead that an algorithm's docstring claims, or None.

    Examples
    --------
    >>> claimed_power("cmcs", "n"), claimed_power("cmcs", "T"), claimed_power("kernelshap", "T")
    (1, 0, 0)
    """
    text = (ALGORITHMS[algorithm].__doc__ or "") if algorithm in ALGORITHMS else ""
    claim = text.partition("Overhead per evaluation:")[2]
    terms = " ".join(re.findall(r"O\(((?:[^()]|\([^()]*\))*)\)", claim))
    if not terms:
        return None
    powers = re.findall(rf"(?<!/ )\b{symbol}\b(?:\s*(?:\*\*|\^)\s*(\d+))?", terms)
    return max((int(power or 1) for power in powers), default=0)


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the upper half of the points in a log-log plot; nan for a single point.

    Examples
    --------
    >>> round(slope([10, 100, 1000], [1.0, 10.0, 1000.0]), 6)
    2.0
    """
    count = max(2, (len(sizes) + 1) // 2)
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes[-count:]), np.log(np.maximum(costs[-count:], 1e-6)), 1)[0])


def report(measured: Sequence[Measurement]) -> str:
    """Return a table per axis: microseconds per access, slopes next to claims, and memory at the largest size."""
    parts = [circumstances()]
    for axis, symbol, fixed in (("players", "n", f"budget {BUDGET}"), ("budget", "T", f"{N_PLAYERS} players")):
        chosen = [m for m in measured if m.axis == axis]
        sizes = sorted({m.size for m in chosen})
        names = dict.fromkeys(m.algorithm for m in chosen)
        lines = [_line([m for m in chosen if m.algorithm == name], sizes, symbol) for name in names]
        columns = ["algorithm", *(f"{symbol}={size}" for size in sizes), "slope", "claimed", "peak MB", ""]
        parts.append(f"microseconds per access, {fixed}, memory at the largest size\n{as_text(columns, lines)}")
    return "\n\n".join(parts)


def _line(of_it: Sequence[Measurement], sizes: Sequence[int], symbol: str) -> list[str]:
    """Return the line of one algorithm."""
    shown = {m.size: f"{m.microseconds:.1f}" if m.outcome == MEASURED else m.outcome for m in of_it}
    measured = [m for m in of_it if m.outcome == MEASURED]
    grows = slope([m.size for m in measured], [m.microseconds for m in measured])
    claim = claimed_power(of_it[0].algorithm, symbol)
    mark = "grows faster than claimed" if claim is not None and grows > claim + SLACK else ""
    peak = f"{measured[-1].megabytes:.0f}" if measured else "-"
    times = [shown.get(size, "-") for size in sizes]
    return [of_it[0].algorithm, *times, f"{grows:.2f}", "-" if claim is None else str(claim), peak, mark]


def panels(measured: Sequence[Measurement]) -> list[Panel]:
    """Return log-log panels: time against players, time against budget, and memory against players."""
    names = list(dict.fromkeys(m.algorithm for m in measured))
    made = []
    for start in range(0, len(names), MOST_CURVES):
        some = names[start : start + MOST_CURVES]
        for axis, column, label in (
            ("players", "microseconds", "microseconds per access"),
            ("budget", "microseconds", "microseconds per access"),
            ("players", "megabytes", "peak megabytes"),
        ):
            chosen = {(m.algorithm, m.size): getattr(m, column) for m in measured if m.axis == axis}
            sizes = sorted({size for _, size in chosen})
            tables = {name: np.array([[chosen.get((name, size), np.nan) for size in sizes]]) for name in some}
            made.append(Panel(f"{label}, {axis}", sizes, tables, axis, label, logarithmic=True))
    return made
