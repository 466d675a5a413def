"""The sum from v(empty) to v(grand) as data: the contributions of the top players and of all others together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap.show.board import LEVEL, check_players, has_learned
from topshap.show.labels import labels_of
from topshap.show.numbers import negligible, short_number
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.core.typing import Players

StepKind: TypeAlias = Literal["base", "raises", "lowers", "others", "total"]

MOST = 10
"""The default maximum number of players with a bar of their own."""


@dataclass(frozen=True)
class Step:
    """One bar of a waterfall, from `start` to `end`; the first and the last one have no length."""

    label: str
    start: float
    end: float
    half_width: float
    """Half the width of the interval of the contribution; nan if unknown, 0 if it is exact."""
    kind: StepKind

    @property
    def contribution(self) -> float:
        """The length of the bar, negative if it lowers the value."""
        return self.end - self.start

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval around the end of the bar, both equal to it if unknown."""
        half = self.half_width if np.isfinite(self.half_width) else 0.0
        return self.end - half, self.end + half


@dataclass(frozen=True)
class Steps:
    """The steps from v(empty) to v(grand).

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, -2.0, 0.5], baseline=5.0), k=2)
    >>> steps = Steps.of(top)
    >>> [(step.label, steps.number(step)) for step in steps.rows]
    [('no players', '5'), ('0', '+3'), ('1', '+1'), ('2 other players', '-1.5'), ('all players', '7.5')]
    """

    rows: tuple[Step, ...]
    scale: float
    """The largest magnitude of a contribution."""

    @classmethod
    def of(cls, top: TopK, *, most: int = MOST, level: float = LEVEL, label_length: int = 26) -> Steps:
        """Return the steps of a result: one for each of the top k players, at most `most`, and one for all others.

        The estimates of the others need not add up exactly, so their step is what is missing. Without others, a
        remaining difference is a step too. There are no players while nothing distinguishes them.
        """
        check_players(top)
        shown = top.players[:most] if has_learned(top) else top.players[:0]
        width = two_sided_quantile(1.0 - level)
        before, after = ("no players", "all players") if top.output_name is None else ("base value", "prediction")
        rows = [Step(before, top.empty, top.empty, 0.0, "base")]
        for player, label in zip(shown.tolist(), labels_of(top, shown.tolist(), label_length), strict=True):
            start, change = rows[-1].end, float(top.estimates[player])
            error = 0.0 if top.stopped == "exact" else float(width * top.std_errors[player])
            rows.append(Step(label, start, start + change, error, "lowers" if change < 0.0 else "raises"))
        others, start = top.n_players - len(shown), rows[-1].end
        scale = max(abs(top.grand - top.empty), float(np.abs(top.estimates).max()))
        if others or not negligible(top.grand - start, scale):
            error = 0.0 if top.stopped == "exact" else width * _error_of_sum(top, shown)
            rows.append(Step(_others(others), start, top.grand, error, "others"))
        rows.append(Step(after, top.grand, top.grand, 0.0, "total"))
        return cls(tuple(rows), scale)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of values that holds all bars and intervals."""
        ends = [end for row in self.rows for end in (row.start, *row.interval)]
        return min(ends), max(ends)

    @property
    def has_intervals(self) -> bool:
        """Whether any interval is known and worth showing."""
        return any(row.half_width > 0.0 for row in self.rows)

    def number(self, row: Step, *, digits: int = 3) -> str:
        """Return a value, or a contribution with its sign, as text."""
        if row.kind in ("base", "total"):
            return short_number(row.end, max(self.scale, abs(row.end)), digits=digits)
        text = short_number(row.contribution, self.scale, error=row.half_width, digits=digits)
        return text if text.startswith("-") or text == "0" else f"+{text}"

    def uncertainty(self, row: Step) -> str:
        """Return half the width of an interval as text, such as " ± 0.2"; empty if the number is exact."""
        if row.half_width == 0.0:
            return ""
        return " ± ?" if np.isnan(row.half_width) else f" ± {row.half_width:.2g}"


def _others(count: int) -> str:
    """Return the label of the step of all other players."""
    if count == 0:
        return "error of the estimates"
    return "1 other player" if count == 1 else f"{count:,} other players"


def _error_of_sum(top: TopK, players: Players) -> float:
    """Return the standard error of the sum of some estimates, which is that of what they leave to the others."""
    if not isinstance(top.covariance, np.ndarray):
        return float(np.hypot.reduce(top.std_errors[players]))  # squares may overflow
    return float(np.sqrt(max(0.0, top.covariance[np.ix_(players, players)].sum())))
