"""Time and memory of the algorithms themselves, while players or budgets grow.

The game is a sum of weights, so nearly all time is an algorithm's own; what the game takes is left out. Time is the
processor's, in the quickest of a few runs, per access; memory is the peak of one further run. Next to the slope of the
upper half of the points in a log-log plot stands the power that the algorithm claims in its docstring ("Overhead per
evaluation: O(...)"), and a mark where it grows faster. What is expected to take too long or too much memory, as it has
grown so far, is not run, and the table says so.
"""

from __future__ import annotations

import time
import tracemalloc
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.algorithms import ALGORITHMS
from topshap.bench import external
from topshap.bench.figures import draw
from topshap.bench.growth import BUDGET, MEASURED, N_PLAYERS, Measured, panels, report
from topshap.bench.runs import version_of
from topshap.bench.table import Table
from topshap.entrypoints import identify
from topshap.games import AdditiveGame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from topshap.core.typing import Coalitions, Values

PLAYERS = (10, 30, 100, 300, 1000, 3000, 10_000)
BUDGETS = (500, 1000, 2000, 4000, 8000, 16_000)
LIMIT, LARGEST = 3.0, 1000.0
"""Seconds that a run may be expected to take, and megabytes."""
ENOUGH = 1.0
"""After this many seconds no further run is begun: what takes so long varies little."""
K = 5


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
        start = time.process_time()
        values = self._game(coalitions)
        self.seconds += time.process_time() - start
        return values


def scale(
    folder: Path,
    *,
    algorithms: Sequence[str] | None = None,
    players: Sequence[int] = PLAYERS,
    budgets: Sequence[int] = BUDGETS,
    runs: int = 3,
    limit: float = LIMIT,
    progress: Callable[[Measured], object] | None = None,
) -> Growth:
    """Measure; write the table ``scale.csv``, the report ``scale.txt`` and the figure ``scale.png``.

    Every measurement is in the table as soon as it is made.

    Parameters
    ----------
    folder
        Where to write; what the table there has of the same versions is not measured again.
    algorithms
        Names of topshap's algorithms and of external ones; all by default.
    players
        Numbers of players, at a budget of `BUDGET`, or half of all coalitions if that is less.
    budgets
        Budgets, with `N_PLAYERS` players.
    runs
        How many runs the quickest is taken of; fewer where they take more than a second.
    limit
        What is expected to take more seconds than this is not run.
    progress
        Called with every measurement.
    """
    names = [*ALGORITHMS, *external.available()] if algorithms is None else list(algorithms)
    sizes = {"budget": [(N_PLAYERS, t) for t in sorted(budgets)]}
    sizes["players"] = [(n, min(BUDGET, 2 ** (n - 1))) for n in sorted(players)]  # never all coalitions
    measured = []
    with Table(folder / "scale.csv", Measured) as table:
        known = {_setting(m): m for m in table.rows}
        for name in names:
            for axis, settings in sizes.items():
                smaller: list[Measured] = []
                for n, budget in settings:
                    setting = (axis, name, n, budget, version_of(name))
                    if setting not in known:
                        known[setting] = measure(setting, smaller, runs, limit)
                        table.add([known[setting]])
                        if progress is not None:
                            progress(known[setting])
                    smaller.append(known[setting])
                measured += smaller
    text = report(measured)
    (folder / "scale.txt").write_text(text + "\n", encoding="utf-8")
    draw(panels(measured), folder / "scale.png")
    return Growth(measured, text)


Setting = tuple[str, str, int, int, str]
"""What is measured: axis, algorithm, players, budget and version."""


def _setting(measured: Measured) -> Setting:
    return measured.axis, measured.algorithm, measured.n_players, measured.budget, measured.version


def measure(setting: Setting, smaller: Sequence[Measured], runs: int, limit: float) -> Measured:
    """Return what an algorithm takes at a size, or why it is not run, given what it took at smaller ones."""
    _, name, n, budget, _ = setting
    nothing = (0, 0.0, float("nan"), float("nan"))
    if (unable := why_not(setting, smaller, limit)) is not None:
        return Measured(*setting, unable, *nothing)
    _run(name, TimedGame(10), 100, 0)  # what is loaded and compiled at the first call is not its growth
    quickest, seconds, start, calls = float("inf"), float("inf"), time.process_time(), 0
    for seed in range(runs):
        if seed > 0 and time.process_time() - start > ENOUGH:
            break
        game, began = TimedGame(n), time.process_time()
        calls = _run(name, game, budget, seed)
        if calls == 0:
            return Measured(*setting, "cannot run", *nothing)
        took = time.process_time() - began
        seconds, quickest = min(seconds, took), min(quickest, (took - game.seconds) / calls)
    tracemalloc.start()
    _run(name, TimedGame(n), budget, 0)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Measured(*setting, MEASURED, calls, seconds, 1e6 * quickest, megabytes)


def why_not(setting: Setting, smaller: Sequence[Measured], limit: float) -> str | None:
    """Return why an algorithm is not to be run at a size, None if it is.

    Examples
    --------
    >>> smaller = [Measured("players", "cmcs", n, 2000, "", MEASURED, 2000, n / 100, 1.0, 1.0) for n in (100, 300)]
    >>> [why_not(("players", "cmcs", n, 2000, ""), smaller, limit=5.0) for n in (400, 1000)]
    [None, 'too long']
    """
    axis, name, n, budget, _ = setting
    most = ALGORITHMS[name].max_players if name in ALGORITHMS else None
    if most is not None and n > most:
        return "not for n"
    lasting = ("too long", "too large", *(("cannot run",) if axis == "players" else ()))
    if smaller and smaller[-1].outcome in lasting:
        return smaller[-1].outcome
    size = n if axis == "players" else budget
    known = [m for m in smaller if m.outcome == MEASURED]
    if expected(size, [(m.size, m.seconds) for m in known]) > limit:
        return "too long"
    return "too large" if expected(size, [(m.size, m.megabytes) for m in known]) > LARGEST else None


def expected(size: int, smaller: Sequence[tuple[int, float]]) -> float:
    """Return what something comes to at a size that has grown so far like this: as some power from 1 to 2.

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


def _run(name: str, game: TimedGame, budget: int, seed: int) -> int:
    """Run an algorithm and return how many accesses it made, 0 if it cannot run."""
    if name in external.EXTERNAL:
        counted = external.CountedGame(game, "calls")
        estimates = external.one_run(name, counted, budget, seed)
        return 0 if estimates is None else counted.ledger.calls
    options: dict[str, Any] = {"budget": budget, "algorithm": name, "counting": "calls", "random_state": seed}
    return identify(game, k=min(K, game.n_players), n_jobs=1, **options).calls
