"""Errors and coverage of odd-gp for pairs of players by magnitude, next to algorithms of shapiq.

All algorithms spend equally many distinct evaluations; budgets that cover all coalitions are left out. The error of a
set of k pairs is its inclusion-exclusion error as a fraction of the range of the magnitudes |SII|. `report` has the
tables. Slow rivals have fewer runs and budgets, see `SLOW`.

Constants were chosen on the family "global" and on every second game of the other published families: these are marked
"tuned" and reported apart.
"""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.core.interactions import interactions_from_table
from topshap.reference.metrics import inclusion_exclusion_error, ratio_precision
from topshap_bench.pairs.costs import costs
from topshap_bench.pairs.model_games import model_games
from topshap_bench.pairs.report import OURS, PairRow, report
from topshap_bench.pairs.rivals import estimate_pairs
from topshap_bench.parallel import in_order, one_thread
from topshap_bench.results_file import ResultsFile
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import circumstances

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topshap.core.typing import Values

BUDGETS = (100, 250, 500, 1000, 2000)
KS = (3, 5, 10)
SLOW: dict[str, tuple[int, ...]] = {"proxyshap-hpo": (250,), "svarmiq": (500,)}
"""Rivals that take seconds, with one run only and at these budgets only."""
PUBLISHED = ("local-adult", "local-image", "local-nlp")
"""Families of which every second game, starting with the first, was used to choose constants."""


class Setting(NamedTuple):
    """The runs of one algorithm on one game with one budget and seed, one for every k."""

    source: Source
    tuned: bool
    budget: int
    algorithm: str
    ks: tuple[int, ...]
    seed: int


class Run(NamedTuple):
    """The estimates of one run."""

    estimates: Values
    std_errors: Values | None
    seconds: float
    spent: float


def compare_pairs(
    folder: Path | None = None,
    *,
    models: Path | None = None,
    families: Sequence[str] | None = None,
    half: str = "all",
    budgets: Sequence[int] = BUDGETS,
    ks: Sequence[int] = KS,
    seeds: int = 5,
    rivals: Sequence[str] = (),
    out: Path | None = None,
    n_jobs: int | None = None,
) -> str:
    """Run odd-gp and its rivals on complete games, and return the report.

    Parameters
    ----------
    folder, families, half
        The games, see `topshap_bench.from_folder`; None for those of `models` only.
    models
        A folder for the tables of small models, which are computed if they are missing.
    budgets, ks, seeds
        The budgets, the numbers of pairs to find, and the number of runs.
    rivals
        Names of `topshap_bench.pairs.rivals.RIVALS`.
    out
        A results file, ``.csv`` or ``.parquet``. Runs in it are not repeated. With None, no file is written.
    n_jobs
        The number of workers.
    """
    games = [] if folder is None else _published(folder, families, half)
    games += [(source, False) for source in model_games(models)] if models is not None else []
    settings = [
        Setting(source, tuned, budget, name, tuple(ks), seed)
        for name, (source, tuned), budget, seed in product([*rivals, OURS], games, budgets, range(seeds))
        if budget < 2 ** source.open().game.n_players and (name not in SLOW or (seed == 0 and budget in SLOW[name]))
    ]
    rows = _run(settings, out, n_jobs)
    head = f"{len(games)} games, k in {tuple(ks)}, {seeds} runs"
    slow = [f"{name} with one run and at {', '.join(map(str, SLOW[name]))} only" for name in rivals if name in SLOW]
    text = [circumstances(), "; ".join([head, *slow]), report(rows, ks, rivals)]
    return "\n\n".join([*text, costs([source for source, _ in games], budgets)])


def _run(settings: Sequence[Setting], out: Path | None, n_jobs: int | None) -> list[PairRow]:
    """Return the rows of all settings, of which those that are not in the file are run."""
    one_thread()
    with ResultsFile(out, PairRow) as results:
        known = {row.key: row for row in results.rows}
        missing = [setting for setting in settings if not all(key in known for key in _keys(setting))]
        for rows in in_order(run_setting, missing, n_jobs):
            results.add(rows)
            known.update({row.key: row for row in rows})
    return [known[key] for setting in settings for key in _keys(setting)]


def _keys(setting: Setting) -> list[tuple[str, str, int, str, int, int]]:
    """Return the keys of the rows of a setting."""
    source, _, budget, name, ks, seed = setting
    return [(source.family, source.name, budget, name, k, seed) for k in ks]


def _published(folder: Path, families: Sequence[str] | None, half: str) -> list[tuple[Source, bool]]:
    """Return the games of a folder, and whether constants were chosen on them."""
    tuned = {s for s in from_folder(folder, half="tune") if s.family in PUBLISHED}
    tuned |= {s for s in from_folder(folder) if s.family == "global"}
    return [(source, source in tuned) for source in from_folder(folder, families=families, half=half)]


@lru_cache(maxsize=64)
def exact_interactions(source: Source) -> Values:
    """Return the exact interactions of all pairs of a complete game."""
    return interactions_from_table(source.open().game.values)


def run_setting(setting: Setting) -> list[PairRow]:
    """Run a setting for every k; a rival, which does not depend on k, only once."""
    exact = exact_interactions(setting.source)
    magnitudes = np.abs(exact)
    unit = float(np.ptp(magnitudes)) or 1.0
    rows, run = [], None
    for k, key in zip(setting.ks, _keys(setting), strict=True):
        run = one_run(setting, k) if run is None or setting.algorithm == OURS else run
        top = np.argsort(-np.abs(run.estimates), kind="stable")[:k]
        off = np.abs(run.estimates - exact)
        covered = None
        if run.std_errors is not None:
            covered = float(np.mean(off <= 1.96 * run.std_errors + 1e-9 * magnitudes.max()))
        rows.append(
            PairRow(
                *key,
                tuned=int(setting.tuned),
                error=float(inclusion_exclusion_error(magnitudes, top)) / unit,
                precision=float(ratio_precision(magnitudes, top)),
                square=float(np.mean(off**2)) / unit**2,
                coverage=covered,
                seconds=run.seconds,
                spent=run.spent,
            )
        )
    return rows


def one_run(setting: Setting, k: int) -> Run:
    """Run an algorithm once; a rival whose smallest budget is larger estimates 0."""
    game, start = setting.source.open().game, time.process_time()
    if setting.algorithm == OURS:
        top = topshap.identify(game, k=k, budget=setting.budget, order=2, algorithm=OURS, random_state=setting.seed)
        seconds = time.process_time() - start
        return Run(top.estimates, top.std_errors, seconds, top.evaluations / setting.budget)
    answer = estimate_pairs(setting.algorithm, game, budget=setting.budget, seed=setting.seed)
    found = np.zeros(len(exact_interactions(setting.source))) if answer.estimates is None else answer.estimates
    return Run(found, None, time.process_time() - start, answer.evaluations / setting.budget)
