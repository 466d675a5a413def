"""Growth: time and memory that an algorithm itself takes per access, against the number of players and the budget.

The game adds up the weights of the players, so its Shapley values are known at any size, and the time inside it is
taken off. One process, one run after the other, the quickest of several; the memory is the peak that Python allocated
in a run of its own. The slope is that of the upper half of the points in a log-log plot. Next to it stands the power
that the algorithm claims in its docstring ("Overhead per evaluation: O(...)"), and a mark where the slope is above the
claim by more than `SLACK`. Once a run takes longer than a limit, an algorithm is not run on anything larger.
"""

from __future__ import annotations

import csv
import re
import time
import tracemalloc
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.algorithms import ALGORITHMS
from topshap.bench import external
from topshap.bench.figures import MOST_CURVES, Panel, draw
from topshap.bench.summary import as_text, circumstances
from topshap.games import AdditiveGame
from topshap.identify import identify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from topshap.typing import Coalitions, Values

PLAYERS = (10, 30, 100, 300, 1000, 3000, 10_000)
BUDGETS = (500, 1000, 2000, 4000, 8000, 16_000)
BUDGET, N_PLAYERS = 2000, 100
"""The budget while the players vary, and the players while the budget varies."""
EXTERNAL_PLAYERS = 100
"""The largest game that other packages are run on: some of them take an array of budget x n**2 numbers."""
SLACK = 0.3
K = 5


class Measured(NamedTuple):
    """What one algorithm took of its own at one size."""

    axis: str
    """What varies: ``"players"`` or ``"budget"``."""
    algorithm: str
    n_players: int
    budget: int
    calls: int
    microseconds: float
    """Time per access, without the game."""
    megabytes: float
    """The peak of the memory that was allocated."""


class Growth(NamedTuple):
    """What was measured, and the report."""

    measured: list[Measured]
    text: str


class TimedGame:
    """An additive game that knows how long it was at work itself."""

    def __init__(self, n_players: int) -> None:
        self.n_players = n_players
        self.seconds = 0.0
        self._game = AdditiveGame(np.random.default_rng(0).random(n_players))

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the sums of the members' weights."""
        start = time.perf_counter()
        values = self._game(coalitions)
        self.seconds += time.perf_counter() - start
        return values


def scale(
    folder: Path,
    *,
    algorithms: Sequence[str] | None = None,
    players: Sequence[int] = PLAYERS,
    budgets: Sequence[int] = BUDGETS,
    runs: int = 3,
    limit: float = 20.0,
    progress: Callable[[Measured], object] | None = None,
) -> Growth:
    """Measure; write the table ``scale.csv``, the report ``scale.txt`` and the figure ``scale.png``.

    Parameters
    ----------
    folder
        Where to write.
    algorithms
        Names of topshap's algorithms and of external ones; all by default.
    players
        Numbers of players, at a budget of `BUDGET`.
    budgets
        Budgets, with `N_PLAYERS` players.
    runs
        How many runs the quickest is taken of.
    limit
        After a run of so many seconds, nothing larger is run.
    progress
        Called with every measurement.
    """
    names = [*ALGORITHMS, *external.available()] if algorithms is None else list(algorithms)
    sizes = {"players": [(n, BUDGET) for n in sorted(players)], "budget": [(N_PLAYERS, t) for t in sorted(budgets)]}
    measured = []
    for name in names:
        for axis, settings in sizes.items():
            for found in _growing(axis, name, settings, runs, limit):
                measured.append(found)
                if progress is not None:
                    progress(found)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "scale.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Measured._fields, *measured])
    text = report(measured)
    (folder / "scale.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(measured), folder / "scale.png")
    return Growth(measured, text)


def _growing(axis: str, name: str, settings: Sequence[tuple[int, int]], runs: int, limit: float) -> Iterator[Measured]:
    """Yield what an algorithm takes at larger and larger sizes, as far as it can and may run."""
    largest = ALGORITHMS[name].max_players if name in ALGORITHMS else EXTERNAL_PLAYERS
    _run(name, TimedGame(10), 100, 0)  # what is loaded and compiled at the first call is not its growth
    for n, budget in settings:
        if largest is not None and n > largest:
            return
        start = time.perf_counter()
        each = []
        for seed in range(runs):
            game, began = TimedGame(n), time.perf_counter()
            calls = _run(name, game, budget, seed)
            if calls == 0:
                break  # it cannot run with this budget
            each.append((time.perf_counter() - began - game.seconds) / calls)
            if time.perf_counter() - start > limit:
                break
        if not each:
            continue
        tracemalloc.start()
        calls = _run(name, TimedGame(n), budget, 0)
        megabytes = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        yield Measured(axis, name, n, budget, calls, 1e6 * min(each), megabytes)
        if time.perf_counter() - start > limit:
            return


def _run(name: str, game: TimedGame, budget: int, seed: int) -> int:
    """Run an algorithm and return how many accesses it made, 0 if it cannot run."""
    if name in external.EXTERNAL:
        counted = external.CountedGame(game, "calls")
        estimates = external.one_run(name, counted, budget, seed)
        return 0 if estimates is None else counted.ledger.calls
    options: dict[str, Any] = {"budget": budget, "algorithm": name, "counting": "calls", "random_state": seed}
    return identify(game, k=min(K, game.n_players), n_jobs=1, **options).calls


def claimed_power(algorithm: str, symbol: str) -> int | None:
    """Return the power of n or T in the overhead that an algorithm claims, None if it claims nothing.

    Examples
    --------
    >>> claimed_power("cmcs", "n"), claimed_power("cmcs", "T"), claimed_power("kernelshap", "n")
    (1, 0, 2)
    """
    text = (ALGORITHMS[algorithm].__doc__ or "") if algorithm in ALGORITHMS else ""
    claim = text.partition("Overhead per evaluation:")[2]
    terms = " ".join(re.findall(r"O\(((?:[^()]|\([^()]*\))*)\)", claim))
    if not terms:
        return None
    powers = re.findall(rf"\b{symbol}\b(?:\s*(?:\*\*|\^)\s*(\d+))?", terms)
    return max((int(power or 1) for power in powers), default=0)


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the upper half of the points in a log-log plot, nan for a single point.

    Examples
    --------
    >>> round(slope([10, 100, 1000], [1.0, 10.0, 1000.0]), 6)
    2.0
    """
    count = max(2, (len(sizes) + 1) // 2)
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes[-count:]), np.log(np.maximum(costs[-count:], 1e-6)), 1)[0])


def report(measured: Sequence[Measured]) -> str:
    """Return a table for each axis: microseconds per access, slopes beside claims, and memory at the largest size."""
    parts = [circumstances()]
    for axis, symbol, fixed in (("players", "n", f"budget {BUDGET}"), ("budget", "T", f"{N_PLAYERS} players")):
        chosen = [m for m in measured if m.axis == axis]
        sizes = sorted({_size(m) for m in chosen})
        lines = []
        for name in dict.fromkeys(m.algorithm for m in chosen):
            of_it = {_size(m): m for m in chosen if m.algorithm == name}
            grows = slope(list(of_it), [m.microseconds for m in of_it.values()])
            claim = claimed_power(name, symbol)
            mark = "faster than claimed" if claim is not None and grows > claim + SLACK else ""
            times = [f"{of_it[size].microseconds:.1f}" if size in of_it else "-" for size in sizes]
            said = "-" if claim is None else str(claim)
            lines.append([name, *times, f"{grows:.2f}", said, f"{list(of_it.values())[-1].megabytes:.0f}", mark])
        columns = ["algorithm", *(f"{symbol}={size}" for size in sizes), "slope", "claimed", "peak MB", ""]
        parts.append(f"microseconds per access, {fixed}, memory at the largest size\n{as_text(columns, lines)}")
    return "\n\n".join(parts)


def panels(measured: Sequence[Measured]) -> list[Panel]:
    """Return log-log panels of time against players, time against budget, and memory against players."""
    names = list(dict.fromkeys(m.algorithm for m in measured))
    made = []
    for start in range(0, len(names), MOST_CURVES):
        some = names[start : start + MOST_CURVES]
        for axis, column, label in (
            ("players", "microseconds", "microseconds per access"),
            ("budget", "microseconds", "microseconds per access"),
            ("players", "megabytes", "peak megabytes"),
        ):
            chosen = {(m.algorithm, _size(m)): getattr(m, column) for m in measured if m.axis == axis}
            sizes = sorted({size for _, size in chosen})
            tables = {name: np.array([[chosen.get((name, size), np.nan) for size in sizes]]) for name in some}
            made.append(Panel(f"{label}, {axis}", sizes, tables, axis, label, logarithmic=True))
    return made


def _size(measured: Measured) -> int:
    return measured.n_players if measured.axis == "players" else measured.budget
