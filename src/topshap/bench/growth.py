"""How time and memory grow, and what the algorithms claim: the report and the figure of `topshap.bench.scale`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms import ALGORITHMS
from topshap.bench.figures import MOST_CURVES, Panel
from topshap.bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET, N_PLAYERS = 2000, 30
"""The budget while the players vary, and the players while the budget varies: so few that in the upper half of the
budgets warm-ups of 30 rounds are a small part."""
SLACK = 0.3
"""A slope above the claimed power by more than this is marked."""
MEASURED = "measured"
"""The outcome of a measurement; the others say why there is none."""


class Measured(NamedTuple):
    """What one algorithm took of its own at one size, or why that is not known."""

    axis: str
    """What varies: ``"players"`` or ``"budget"``."""
    algorithm: str
    n_players: int
    budget: int
    version: str
    """The package that the algorithm comes from, and its version."""
    outcome: str
    """``"measured"``, or why it was not run: ``"too long"``, ``"too large"``, ``"not for n"`` or ``"cannot run"``."""
    calls: int
    seconds: float
    """What a run took in all."""
    microseconds: float
    """Time per access, without the game; nan where there is none."""
    megabytes: float
    """The peak of the memory that was allocated; nan where there is none."""

    @property
    def size(self) -> int:
        """How large what varies is."""
        return self.n_players if self.axis == "players" else self.budget


def claimed_power(algorithm: str, symbol: str) -> int | None:
    """Return the power of n or T in the overhead that an algorithm claims, None if it claims nothing.

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
        sizes = sorted({m.size for m in chosen})
        names = dict.fromkeys(m.algorithm for m in chosen)
        lines = [_line([m for m in chosen if m.algorithm == name], sizes, symbol) for name in names]
        columns = ["algorithm", *(f"{symbol}={size}" for size in sizes), "slope", "claimed", "peak MB", ""]
        parts.append(f"microseconds per access, {fixed}, memory at the largest size\n{as_text(columns, lines)}")
    return "\n\n".join(parts)


def _line(of_it: Sequence[Measured], sizes: Sequence[int], symbol: str) -> list[str]:
    """Return what is said of one algorithm; where it was not run, why."""
    shown = {m.size: f"{m.microseconds:.1f}" if m.outcome == MEASURED else m.outcome for m in of_it}
    known = [m for m in of_it if m.outcome == MEASURED]
    grows = slope([m.size for m in known], [m.microseconds for m in known])
    claim = claimed_power(of_it[0].algorithm, symbol)
    mark = "grows faster than claimed" if claim is not None and grows > claim + SLACK else ""
    peak = f"{known[-1].megabytes:.0f}" if known else "-"
    times = [shown.get(size, "-") for size in sizes]
    return [of_it[0].algorithm, *times, f"{grows:.2f}", "-" if claim is None else str(claim), peak, mark]


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
            chosen = {(m.algorithm, m.size): getattr(m, column) for m in measured if m.axis == axis}
            sizes = sorted({size for _, size in chosen})
            tables = {name: np.array([[chosen.get((name, size), np.nan) for size in sizes]]) for name in some}
            made.append(Panel(f"{label}, {axis}", sizes, tables, axis, label, logarithmic=True))
    return made
