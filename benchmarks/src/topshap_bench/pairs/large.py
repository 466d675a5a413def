"""odd-gp for pairs of players in games of 30 to 120 players, next to algorithms of shapiq.

The games are XGBoost models with background rows in place of absent features (`topshap_bench.pairs.tree_games`), whose
interactions are known exactly. All algorithms spend equally many distinct evaluations. Precision is the share of the k
strongest pairs that was found. The error is the root mean square error of all pairs over the range of the magnitudes.
For comparison, the last column is the error of estimating 0 for every pair.

Constants were chosen on the tables marked "tuned".
"""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.reference.metrics import ratio_precision
from topshap_bench.pairs.rivals import estimate_pairs
from topshap_bench.pairs.tree_games import TABLES, tree_game
from topshap_bench.parallel import run_all
from topshap_bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OURS = "odd-gp"
BUDGETS = (200, 500, 1000, 2000)
TUNED = ("classification",)
"""Tables that were used to choose constants."""


class Setting(NamedTuple):
    """One algorithm on the games of some rows of a table, with one budget."""

    table: str
    n: int
    budget: int
    algorithm: str
    k: int
    rows: int


class Outcome(NamedTuple):
    """The results of a setting, averaged over rows."""

    precision: float
    error: float
    coverage: float
    """The coverage of 95% intervals of all pairs, nan for rivals."""
    seconds: float
    """The CPU seconds of a run, with the evaluations."""
    zero: float
    """The error of estimating 0 for every pair."""


def compare_large(
    *,
    tables: Sequence[str] = tuple(TABLES),
    players: Sequence[int] | None = None,
    budgets: Sequence[int] = BUDGETS,
    rows: int = 3,
    k: int = 5,
    rivals: Sequence[str] = (),
    n_jobs: int | None = None,
) -> str:
    """Run odd-gp and its rivals, and return the report.

    Parameters
    ----------
    tables
        Names of `topshap_bench.pairs.tree_games.TABLES`.
    players
        The numbers of players, None for all.
    budgets, rows, k
        The budgets, the number of games of each table, and the number of pairs to find.
    rivals
        Names of `topshap_bench.pairs.rivals.RIVALS`.
    n_jobs
        The number of workers.
    """
    sizes = [(table, n) for table in tables for n in TABLES[table][1] if players is None or n in players]
    settings = [
        Setting(*size, budget, name, k, rows) for size, budget, name in product(sizes, budgets, [OURS, *rivals])
    ]
    head = f"{rows} games of each table and number of players, k = {k}"
    return "\n\n".join([circumstances(), head, report(run_all(run_setting, settings, n_jobs), rivals)])


def run_setting(setting: Setting) -> Outcome:
    """Run an algorithm on the games of some rows, with another seed for each."""
    outcomes = [_run_row(setting, row) for row in range(setting.rows)]
    return Outcome(*np.mean(outcomes, axis=0).tolist())


def _run_row(setting: Setting, row: int) -> Outcome:
    game, exact = tree_game(setting.table, setting.n, row)
    magnitudes, start, coverage = np.abs(exact), time.process_time(), np.nan
    unit = float(np.ptp(magnitudes)) or 1.0
    if setting.algorithm == OURS:
        top = topshap.identify(game, k=setting.k, budget=setting.budget, order=2, algorithm=OURS, random_state=row)
        found = top.estimates
        coverage = float(np.mean(np.abs(found - exact) <= 1.96 * top.std_errors + 1e-6 * magnitudes.max()))
    else:
        answer = estimate_pairs(setting.algorithm, game, budget=setting.budget, seed=row)
        found = np.zeros_like(exact) if answer.estimates is None else answer.estimates
    seconds = time.process_time() - start
    best = np.argsort(-np.abs(found), kind="stable")[: setting.k]
    error, zero = (float(np.sqrt(np.mean((exact - values) ** 2))) / unit for values in (found, 0.0))
    return Outcome(ratio_precision(magnitudes, best), error, coverage, seconds, zero)


def report(results: Mapping[Setting, Outcome], rivals: Sequence[str]) -> str:
    """Return the table of precisions, errors, coverage and seconds."""
    names, rows = [OURS, *rivals], []
    for first in (s for s in results if s.algorithm == OURS):
        outcomes = [results[first._replace(algorithm=name)] for name in names]
        ours = outcomes[0]
        rows.append(
            [
                first.table + (" (tuned)" if first.table in TUNED else ""),
                first.n,
                first.budget,
                *(f"{o.precision:.2f}" for o in outcomes),
                *(f"{1000 * o.error:.1f}" for o in outcomes),
                f"{1000 * ours.zero:.1f}",
                f"{ours.coverage:.3f}",
                *(f"{o.seconds:.1f}" for o in outcomes),
            ]
        )
    columns = [f"{what} {name}" for what in ("p", "e") for name in names]
    header = ["table", "n", "budget", *columns, "e zero", "coverage", *(f"s {name}" for name in names)]
    legend = "p: precision; e: root mean square error in thousandths of the range; s: CPU seconds"
    return "\n\n".join([legend, as_text(header, rows, left=1)])
