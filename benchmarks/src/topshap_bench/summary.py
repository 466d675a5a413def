"""Summaries of rows: means with standard errors, ratios over games, shares of runs, and text tables."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import beta, binomtest, norm, t

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from topshap.core.typing import Matrix
    from topshap_bench.settings import Row

_RESAMPLES = 2000
LEVEL = 0.001
"""The level of the tests that mark lines of reports, low since a report has many lines."""


class Mean(NamedTuple):
    """A mean with its standard error, which is nan for a single number.

    Examples
    --------
    >>> print(mean_of([1.0, 2.0, 3.0]))
    2 ± 0.58
    >>> print(mean_of([1.0]))
    1
    """

    mean: float
    error: float

    def __str__(self) -> str:
        large = self.mean >= 1000
        mean = f"{self.mean:.0f}" if large else f"{self.mean:.4g}"
        if np.isnan(self.error):
            return mean
        return f"{mean} ± {self.error:.0f}" if large else f"{mean} ± {self.error:.2g}"


def mean_of(numbers: Iterable[float]) -> Mean:
    """Return the mean of at least one number and its standard error."""
    array = np.fromiter(numbers, dtype=np.float64)
    error = float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")
    return Mean(float(array.mean()), error)


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows grouped by the values in these columns, in order of first occurrence."""
    groups: dict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(getattr(row, column) for column in columns)].append(row)
    return dict(groups)  # type: ignore[arg-type]  # the keys are tuples


def by_run(rows: Iterable[Row], measure: str, column: str) -> tuple[list[Any], Matrix]:
    """Return the sorted values of a column, and a measure for every run and value, as `topshap.show.curves` expects.

    The measure is averaged over all other columns.
    """
    groups = grouped(rows, "run", column)
    runs = sorted({run for run, _ in groups})
    points = sorted({point for _, point in groups})
    table = [[np.mean([getattr(row, measure) for row in groups[run, point]]) for point in points] for run in runs]
    return points, np.array(table)


class Ratio(NamedTuple):
    """A geometric mean of ratios with a 95% bootstrap interval, which is nan for a single ratio."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]"


def geometric_mean(logarithms: Sequence[float]) -> Ratio:
    """Return the geometric mean of ratios from their logarithms, one per game, with its bootstrap interval over games.

    Examples
    --------
    >>> print(geometric_mean([0.0, 0.0]))
    1.000 [1.000, 1.000]
    """
    logs = np.asarray(logarithms, dtype=np.float64)
    centre = float(np.exp(logs.mean()))
    if len(logs) < 2:
        return Ratio(centre, float("nan"), float("nan"))
    drawn = np.random.default_rng(0).choice(logs, (_RESAMPLES, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(drawn, [0.025, 0.975]))
    return Ratio(centre, float(low), float(high))


class Share(NamedTuple):
    """The number of runs with some property, such as failures, printed with its 95% Clopper-Pearson interval.

    Examples
    --------
    >>> print(Share(9, 20))
    9 of 20 [0.2306, 0.6847]
    >>> Share(9, 20).is_above(0.05), Share(2, 20).is_above(0.05), Share(9, 20).is_below(0.9)
    (True, False, True)
    """

    events: int
    runs: int

    def __str__(self) -> str:
        interval = binomtest(self.events, self.runs).proportion_ci(0.95, method="exact")
        return f"{self.events} of {self.runs} [{interval.low:.4f}, {interval.high:.4f}]"

    def p_value(self, rate: float) -> float:
        """Return the probability of at least as many runs if they have the property at this rate."""
        return float(binomtest(self.events, self.runs, rate, alternative="greater").pvalue)

    def is_above(self, rate: float, level: float = LEVEL) -> bool:
        """Return whether the share is significantly above a rate."""
        return self.p_value(rate) <= level

    def is_below(self, rate: float, level: float = LEVEL) -> bool:
        """Return whether the share is significantly below a rate."""
        return bool(binomtest(self.events, self.runs, rate, alternative="less").pvalue <= level)


class MeanShare(NamedTuple):
    """The mean of one share per run, printed with a 95% interval.

    The interval is that of Clopper and Pearson for the effective number of independent observations, as Korn and
    Graubard (1998) define it: the number that has the variance of the mean, which is estimated from the runs.
    """

    mean: float
    effective: float

    def __str__(self) -> str:
        low = 1.0 - _upper(1.0 - self.mean, self.effective, 0.025)
        return f"{self.mean:.4f} [{low:.4f}, {_upper(self.mean, self.effective, 0.025):.4f}]"

    def is_below(self, rate: float, level: float = LEVEL) -> bool:
        """Return whether the mean is significantly below a rate."""
        return _upper(self.mean, self.effective, level) < rate


def mean_share(shares: Sequence[float]) -> MeanShare:
    """Return the mean of one share per run, of at least one run; the observations of a run may depend on each other.

    Examples
    --------
    >>> print(mean_share([1.0, 0.75, 1.0, 1.0, 0.5] * 20))
    0.8500 [0.8051, 0.8880]
    >>> mean_share([0.7] * 100).is_below(0.9), mean_share([0.7] * 10).is_below(0.9)
    (True, False)
    """
    runs, mean = len(shares), float(np.mean(shares))
    variance = float(np.var(shares, ddof=1)) / runs if runs > 1 else 0.0
    if variance < 1e-12:  # all runs are equal
        return MeanShare(mean, runs)
    few_runs = (norm.ppf(0.975) / t.ppf(0.975, runs - 1)) ** 2
    return MeanShare(mean, few_runs * mean * (1.0 - mean) / variance)


def _upper(mean: float, effective: float, level: float) -> float:
    """Return the upper Clopper-Pearson bound for the mean of an effective number of observations."""
    count = mean * effective
    return 1.0 if count >= effective else float(beta.ppf(1.0 - level, count + 1.0, effective - count))


def as_text(header: Sequence[str], lines: Iterable[Sequence[Any]], *, left: int = 1) -> str:
    """Return a text table with the first `left` columns aligned to the left, the others to the right.

    Examples
    --------
    >>> print(as_text(["game", "error"], [["wine", 0.5], ["adult", 12]]))
    game   error
    wine     0.5
    adult     12
    """
    table = [list(header), *([str(value) for value in line] for line in lines)]
    widths = [max(len(line[column]) for line in table) for column in range(len(header))]
    aligned = [
        [text.ljust(width) if column < left else text.rjust(width) for column, (text, width) in enumerate(pairs)]
        for pairs in (zip(line, widths, strict=True) for line in table)
    ]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def circumstances(*packages: str) -> str:
    """Return the date, the versions, also those of these packages, and the machine as one line."""
    versions = []
    for package in ("topshap", "numpy", "scipy", "shap", "shapiq", *packages):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # not installed
            continue
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {', '.join(versions)}, {machine}"
