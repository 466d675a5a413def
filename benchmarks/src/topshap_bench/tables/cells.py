"""Measured cells of the comparison on tables, and a file that keeps them from run to run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from topshap_bench.tables.setups import Rows, SetUp


class About(NamedTuple):
    """The description of a set-up in a report."""

    name: str
    n_players: int
    tuned: bool
    """See `SetUp.tuned`."""
    single: bool
    """Whether there is one background row."""

    @classmethod
    def of(cls, setup: SetUp) -> About:
        """Describe a set-up."""
        return cls(setup.name, setup.n_players, setup.tuned, len(setup.background) == 1)


class Cell(NamedTuple):
    """One explainer on one set-up with some number of rows."""

    setup: About
    rows: int
    explainer: str
    budget: int | None
    """topshap's budget, None for other packages."""
    error: float
    border_errors: Rows
    """The inclusion-exclusion error of the top k of each judged row, divided by its range."""
    cpu: float
    """CPU milliseconds per row, as the two below."""
    wall: float
    own_cpu: float
    """CPU time without the model's."""
    predictions: float


def keep_cells(path: Path, cells: Iterable[Cell]) -> None:
    """Append cells to a file, one line of JSON each."""
    lines = [json.dumps(cell._asdict() | {"border_errors": cell.border_errors.tolist()}) for cell in cells]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def kept_cells(path: Path) -> list[Cell]:
    """Return the cells of a file; none if it does not exist."""
    if not path.exists():
        return []
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Cell(**each | {"setup": About(*each["setup"]), "border_errors": np.array(each["border_errors"])})
        for each in found
    ]
