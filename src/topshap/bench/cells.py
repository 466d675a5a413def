"""A cell: one run of one algorithm on one game. And its row: what came of it.

A cell is data. Its random numbers come from the seed of the experiment and from the cell's own words, so its result is
the same whatever else is run, in whichever order and by however many workers.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from topshap.algorithms import ALGORITHMS

COST = ("evaluations", "calls", "seconds")
"""The columns of a row that say what a run cost."""
MEASURES = ("binary_precision", "ratio_precision", "inclusion_exclusion_error", "mean_squared_error")
"""The columns of a row that say how good the answer was: the functions of `topshap.metrics`; nan without an answer."""


class Cell(NamedTuple):
    """One run of one algorithm on one game.

    Examples
    --------
    >>> cell = Cell(family="global", game="wine", algorithm="cmcs", k=3, budget=500, run=7)
    >>> cell.key
    'global|wine||cmcs|3|500|||||distinct|7'
    """

    family: str
    game: str
    algorithm: str
    k: int
    fingerprint: str = ""
    """The beginning of the game's fingerprint: another game of the same name is another cell."""
    budget: int | None = None
    """What may be spent, None if the race stops by itself."""
    epsilon: float | None = None
    """The allowed error of a race that stops by itself, None with a fixed budget."""
    unit: str = ""
    """What `epsilon` is given in: ``"value"``, or ``"range"`` for parts of the range of the Shapley values."""
    delta: float | None = None
    guarantee: str = ""
    """What confidence rests on: ``"asymptotic"``, ``"credible"`` or ``"exact"``; empty with a fixed budget."""
    counting: str = "distinct"
    run: int = 0
    """Which of the repetitions it is."""

    @property
    def key(self) -> str:
        """The cell in one line of text: what tells it from all others."""
        first = (self.family, self.game, self.fingerprint, self.algorithm, self.k)
        rest = (self.budget, self.epsilon, self.unit, self.delta, self.guarantee, self.counting, self.run)
        return "|".join("" if part is None else str(part) for part in (*first, *rest))

    @property
    def knows_budget(self) -> bool:
        """Whether the algorithm plans by the budget. If not, a race can be read at a budget on its way to a larger one.

        Examples
        --------
        >>> Cell("global", "wine", "cmcs", k=3).knows_budget, Cell("global", "wine", "shap:kernel", k=3).knows_budget
        (False, True)
        """
        return self.algorithm not in ALGORITHMS or not ALGORITHMS[self.algorithm].extendable

    def seeds(self, seed: int) -> np.random.SeedSequence:
        """Return where the cell's random numbers come from; all budgets that are not known have the same.

        Examples
        --------
        >>> cell = Cell("global", "wine", "cmcs", k=3, budget=500)
        >>> a, b = cell.seeds(0), cell._replace(run=1).seeds(0)
        >>> bool(a.generate_state(1) == b.generate_state(1))
        False
        """
        key = self.key if self.knows_budget else self._replace(budget=None).key
        digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
        return np.random.SeedSequence(seed, spawn_key=np.frombuffer(digest, dtype="<u4").tolist())


class Row(NamedTuple):
    """A cell, what its run cost and how good the answer was: a row of the table."""

    family: str
    game: str
    algorithm: str
    k: int
    fingerprint: str
    budget: int | None
    epsilon: float | None
    unit: str
    delta: float | None
    guarantee: str
    counting: str
    run: int
    seed: int
    """The seed of the experiment."""
    version: str
    """The package that the algorithm comes from, and its version."""
    n_players: int
    value_range: float
    """The range of the exact Shapley values, by which errors of different games can be compared."""
    stopped: str
    """Why the run ended, see `topshap.TopK.stopped`; ``"finished"`` for external algorithms, ``"refused"`` if the
    algorithm cannot run with this budget."""
    evaluations: int
    calls: int
    seconds: float
    """Processor time of the run in its process, up to this budget."""
    binary_precision: float
    ratio_precision: float
    inclusion_exclusion_error: float
    mean_squared_error: float

    @property
    def cell(self) -> Cell:
        """The cell that the row belongs to."""
        return Cell(*(getattr(self, name) for name in Cell._fields))

    @property
    def relative_error(self) -> float:
        """The inclusion-exclusion error as a part of the range of the Shapley values, 0 where all are equal."""
        return self.inclusion_exclusion_error / self.value_range if self.value_range else 0.0

    @property
    def allowed_error(self) -> float:
        """The `epsilon` of a race that stops by itself, in the unit of the values."""
        if self.epsilon is None:
            return float("nan")
        return self.epsilon * (self.value_range if self.unit == "range" else 1.0)
