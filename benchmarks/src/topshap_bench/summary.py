"""Summaries of rows: means with standard errors, ratios over games, failure rates, and text tables."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from topshap.core.typing import Matrix
    from topshap_bench.settings import Row

_RESAMPLES = 2000


class Mean(NamedTuple):
    """A mean with its standard error, which is nan for a single number.

    Examples
    --------
    >>> print(mean_of([1.0, 2.0, 3.0]))
    2 ± 0.58
    """

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.error:.2g}" if self.mean < 1000 else f"{self.mean:.0f} ± {self.error:.0f}"


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


class FailureRate(NamedTuple):
    """The number of failures among a number of runs, printed with its 95% Clopper-Pearson interval."""

    failures: int
    runs: int

    def __str__(self) -> str:
        interval = binomtest(self.failures, self.runs).proportion_ci(0.95, method="exact")
        return f"{self.failures} of {self.runs} [{interval.low:.4f}, {interval.high:.4f}]"

    def is_above(self, delta: float, level: float = 0.001) -> bool:
        """Return whether the rate is significantly above the allowed rate `delta`.

        Examples
        --------
        >>> FailureRate(9, 20).is_above(0.05), FailureRate(2, 20).is_above(0.05)
        (True, False)
        """
        return bool(binomtest(self.failures, self.runs, delta, alternative="greater").pvalue <= level)


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


def circumstances() -> str:
    """Return the date, the versions and the machine as one line."""
    versions = []
    for package in ("topshap", "numpy", "scipy", "shap", "shapiq"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # not installed
            continue
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {', '.join(versions)}, {machine}"
