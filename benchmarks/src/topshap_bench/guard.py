"""A guard against regressions: the overhead and the quality of small fixed cells, compared with another version.

Both versions are measured in the same run, alternately, in processes of their own, so that the machine and its load
cancel out in the ratios.

Overhead cells are the CPU time of whole runs and the CPU time per access (see `topshap_bench.overhead`); the fastest
run counts. A cell above its limit is measured a second time, and counts as worse only if the fastest of all runs is
still above it. Quality cells (see `topshap_bench.guard_probe`) are errors, losses, and evaluations until confident, on
games that depend on the seed only, so that a version that makes the same choices has a ratio of exactly 1. A cell is
worse if the ratio of the means is above its limit and the mean difference of the pairs of runs is above three standard
errors.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from contextlib import ExitStack, contextmanager
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.core.errors import ParameterError
from topshap.core.validation import check_int, front_door
from topshap_bench.overhead import PROBE, Probe, fastest
from topshap_bench.summary import as_text, circumstances, mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

QUALITY_PROBE = Path(__file__).with_name("guard_probe.py")
OVERHEAD: tuple[tuple[str, *tuple[int, ...]], ...] = (
    ("cmcs",),
    ("cmcs@k",),
    ("kernelshap",),
    ("swap@k",),
    ("odd-gp", 14, 200),
    ("odd-gp", 14, 1000),
    ("odd-gp", 60, 500),
    ("odd-gp@k", 14, 300),
)
"""The overhead cells: an algorithm, for its time per access, or with players and a budget, for the time of a run."""
SLOWER, WORSE = 1.25, 1.10
"""The limits of the ratios of new to old, for overhead and for quality."""
SIGNIFICANT = 3.0
ADDED = 0.001
"""Added to both means of a quality cell, since errors can be 0."""


class Cell(NamedTuple):
    """The two measurements of a cell."""

    name: str
    new: float
    """The measurement of the new version; nan if it failed."""
    old: float
    """The measurement of the old version; nan if it does not have what the cell measures."""
    limit: float
    significant: bool = True
    """Whether the new version is higher by more than chance explains."""

    @property
    def ratio(self) -> float:
        """The new measurement divided by the old one."""
        return self.new / self.old

    @property
    def worse(self) -> bool:
        """Whether the new version is worse than the limit allows, or failed."""
        return isnan(self.new) or (self.ratio > self.limit and self.significant)


@front_door
def guard(
    old: Path,
    *,
    new: Path | None = None,
    overhead: Sequence[tuple[str, *tuple[int, ...]]] = OVERHEAD,
    quality: Sequence[str] | None = None,
    overhead_runs: int = 5,
    quality_runs: int = 40,
    progress: Callable[[str], object] | None = None,
) -> list[Cell]:
    """Measure all cells of two versions.

    Parameters
    ----------
    old
        The source tree of the version to compare with, the folder that contains its package ``topshap``.
    new
        The source tree of the version to check, by default that of the imported one.
    overhead, quality
        The cells of each kind, all by default.
    overhead_runs, quality_runs
        The number of runs of each cell and version.
    progress
        A function that is called with the name of every cell.
    """
    check_int("overhead_runs", overhead_runs, low=1)
    check_int("quality_runs", quality_runs, low=2)
    sources = [Path(topshap.__file__).parents[1] if new is None else new, old]
    say = progress or (lambda _name: None)
    cells = []
    with ExitStack() as stack:
        probes = [stack.enter_context(Probe(source, PROBE)) for source in sources]
        for cell in overhead:
            say(" ".join(map(str, cell)))
            cells.append(overhead_cell(cell, *probes, runs=overhead_runs))
    with ExitStack() as stack:
        probes = [stack.enter_context(Probe(source, QUALITY_PROBE)) for source in sources]
        for name in probes[0].names if quality is None else quality:
            say(name)
            cells.append(quality_cell(name, *probes, runs=quality_runs))
    return cells


def overhead_cell(cell: tuple[str, *tuple[int, ...]], new: Probe, old: Probe, *, runs: int) -> Cell:
    """Measure an overhead cell, twice if the new version appears to be slower."""
    name, *size = cell
    about = f"{name}, n={size[0]}, budget {size[1]}, ms" if size else f"{name}, us per access"
    measured = Cell(about, *fastest(name, new, old, runs, *size), SLOWER)
    if measured.worse:
        again = fastest(name, new, old, 2 * runs, *size)
        measured = measured._replace(new=min(measured.new, again[0]), old=min(measured.old, again[1]))
    return measured


def quality_cell(name: str, new: Probe, old: Probe, *, runs: int) -> Cell:
    """Measure a quality cell with the same seeds for both versions."""
    pairs = np.array([[probe.measure(name, seed) for probe in (new, old)] for seed in range(runs)])
    difference = mean_of(pairs[:, 0] - pairs[:, 1])
    means = pairs.mean(axis=0) + ADDED
    significant = difference.mean > SIGNIFICANT * difference.error
    return Cell(name.replace("/", ", "), float(means[0]), float(means[1]), WORSE, bool(significant))


def report(cells: Sequence[Cell]) -> str:
    """Return a table of all cells, and the number of those that are worse."""
    lines = [
        [
            cell.name,
            f"{cell.old:.4g}",
            f"{cell.new:.4g}",
            f"{cell.ratio:.3f}",
            cell.limit,
            "WORSE" if cell.worse else "",
        ]
        for cell in cells
    ]
    columns = ["cell", "old", "new", "new / old", "limit", ""]
    count = sum(cell.worse for cell in cells)
    about = "new / old above its limit is a regression; quality also has to be worse by more than 3 standard errors"
    return f"{circumstances()}\n\n{about}\n{as_text(columns, lines)}\n\n{count} of {len(cells)} cells are worse"


def last_release() -> str:
    """Return the newest tag before the checked-out commit."""
    try:
        return _git("describe", "--tags", "--abbrev=0").decode().strip()
    except ParameterError as error:
        message = "There is no release tag. Name a revision with --revision, or a source tree with --old."
        raise ParameterError(message) from error


@contextmanager
def sources_of(revision: str) -> Iterator[Path]:
    """Yield a temporary folder with the package ``topshap`` of a revision of this repository."""
    archive = _git("archive", "--format=tar", revision, "src/topshap")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
        yield Path(folder, "src")


def _git(*arguments: str) -> bytes:
    """Return the output of a git command at the top of the repository that this package is in."""
    top = Path(__file__).resolve().parents[3]
    done = subprocess.run(["git", "-C", top, *arguments], capture_output=True, check=False)  # noqa: S603, S607 - git
    if done.returncode:
        raise ParameterError(f"git {' '.join(arguments)} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
