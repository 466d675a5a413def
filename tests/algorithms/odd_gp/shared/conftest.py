"""Games with several outputs, like the rows of a table, with all their values."""

from dataclasses import dataclass

import numpy as np
import pytest

from topshap.algorithms.odd_gp.shared.rounds import SharedRun
from topshap.core.coalitions import from_ids, to_ids
from topshap.core.tables import shapley_from_table


@dataclass
class TableGame:
    """A game with several outputs, and a record of what has been asked."""

    table: np.ndarray

    def __post_init__(self):
        self.n, self.outputs = len(self.table).bit_length() - 1, self.table.shape[1]
        self.used = np.zeros(self.outputs, dtype=int)

    @property
    def shapley_values(self):
        return np.array([shapley_from_table(values) for values in self.table.T])

    def __call__(self, coalitions, wanted=None):
        self.used += len(coalitions) if wanted is None else wanted.sum(axis=0)
        values = self.table[to_ids(coalitions)]
        return values if wanted is None else np.where(wanted, values, np.nan)

    def start(self, budget, *, k=3, seed=0, **options):
        return SharedRun(self.n, min(k, self.n), budget, self.table[[0, -1]], np.random.default_rng(seed), **options)

    def run(self, budget, **options):
        run = self.start(budget, **options)
        for request in run.requests():
            request.add(self(request.coalitions, request.wanted))
        return run


def polynomial(z, rng):
    """A random polynomial of order three with effects of very different sizes."""
    n = z.shape[-1]
    size = np.exp(rng.normal(size=n))
    out = z @ (rng.normal(size=n) * size)
    for _ in range(2 * n):
        i, j, h = rng.integers(n, size=3)
        out = out + 0.3 * rng.normal() * size[i] * z[..., i] * z[..., j] * (z[..., h] if rng.random() < 0.5 else 1.0)
    return out


def forest(z, rng):
    """A small random forest: 30 trees of depth three."""
    out = 0.0
    for _ in range(30):
        leaf = np.zeros(z.shape[:-1], dtype=int)
        for player in rng.choice(z.shape[-1], 3, p=np.arange(1, z.shape[-1] + 1) / np.arange(1, z.shape[-1] + 1).sum()):
            leaf = 2 * leaf + (z[..., player] > 0.5 * rng.normal())
        out = out + rng.normal(size=8)[leaf]
    return out


def rows_of_a_table(model, n=8, rows=24, seed=0, background=8):
    """Return the game whose outputs are the predictions for the rows of a table, with marginal imputation."""
    rng = np.random.default_rng(seed)
    x, others = rng.normal(size=(rows, n)), rng.normal(size=(background, n))
    coalitions = from_ids(np.arange(2**n), n)
    masked = np.where(coalitions[:, None, None, :], x[:, None, :], others)
    return TableGame(model(masked, np.random.default_rng(seed + 1000)).mean(axis=2))


@pytest.fixture
def table_of_rows():
    return rows_of_a_table


@pytest.fixture
def models():
    return {"polynomial": polynomial, "forest": forest}
