"""Run experiments in parallel, resumable, with random numbers that depend only on the setting."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import joblib
from tqdm import tqdm

from topshap.core.pairs import n_candidates
from topshap.core.validation import check_int, front_door
from topshap_bench.contestants import check_name, version_of
from topshap_bench.parallel import in_order
from topshap_bench.results_file import ResultsFile
from topshap_bench.runs import run_chunk, shared_races
from topshap_bench.settings import Row, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from topshap_bench.sources import Source

CHUNK = 20
"""The number of races sent to a worker at once, large enough that the transfer time is negligible."""


@front_door
def fixed_budget_settings(
    sources: Iterable[Source],
    algorithms: Sequence[str],
    *,
    ks: Sequence[int],
    budgets: Sequence[int],
    runs: int,
    counting: str = "distinct",
) -> list[tuple[Source, Setting]]:
    """Return all settings with fixed budgets, with the runs of a combination next to each other.

    Values of k that are not smaller than the number of players of a game are skipped.

    Examples
    --------
    >>> from topshap_bench import Source
    >>> made = fixed_budget_settings([Source("tie", "0")], ["cmcs", "odd-gp"], ks=[3], budgets=[50, 100], runs=2)
    >>> len(made)
    8
    """
    check_int("runs", runs, low=1)
    for algorithm in algorithms:
        check_name("algorithms", algorithm)
    made = []
    for source in sources:
        opened = source.open()
        for algorithm, k, budget, run in product(algorithms, ks, budgets, range(runs)):
            if k < opened.game.n_players:
                setting = Setting(source.family, source.name, algorithm, k, opened.fingerprint, budget=budget)
                made.append((source, setting._replace(counting=counting, run=run)))
    return made


@front_door
def fixed_confidence_settings(
    sources: Iterable[Source],
    rules: Sequence[tuple[str, str]],
    *,
    ks: Sequence[int],
    epsilon: float,
    unit: str,
    deltas: Sequence[float],
    runs: int,
    counting: str = "distinct",
    rank_by: str = "value",
    ordered: bool = False,
    order: int = 1,
) -> list[tuple[Source, Setting]]:
    """Return all settings of races that stop when confident; a rule is a pair of an algorithm and a guarantee.

    Examples
    --------
    >>> from topshap_bench import Source
    >>> rules = [("swap@k", "exact"), ("cmcs@k", "credible")]
    >>> terms = {"epsilon": 0.01, "unit": "range", "deltas": [0.05]}
    >>> len(fixed_confidence_settings([Source("tie", "0")], rules, ks=[4], runs=3, **terms))
    6
    """
    check_int("runs", runs, low=1)
    for algorithm, _ in rules:
        check_name("rules", algorithm)
    made = []
    for source in sources:
        opened = source.open()
        for (algorithm, guarantee), k, delta, run in product(rules, ks, deltas, range(runs)):
            if k < n_candidates(opened.game.n_players, order):
                setting = Setting(source.family, source.name, algorithm, k, opened.fingerprint, epsilon=epsilon)
                terms = {"unit": unit, "delta": delta, "guarantee": guarantee, "counting": counting, "run": run}
                terms |= {"rank_by": rank_by, "ordered": int(ordered), "order": order}
                made.append((source, setting._replace(**terms)))  # type: ignore[arg-type]  # one of each kind
    return made


@front_door
def run(
    settings: Iterable[tuple[Source, Setting]],
    out: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list[Row]:
    """Run all settings that are not yet in the results file, and return the rows of all settings in order.

    If an algorithm does not depend on the budget, settings that differ only in the budget share one race, whose result
    is read at each budget. The results are identical to those of separate races.

    Parameters
    ----------
    settings
        The runs, see `fixed_budget_settings` and `fixed_confidence_settings`.
    out
        The results file, ``.csv`` or ``.parquet``. Settings in it with the same seed and version are not run again.
        With None, no file is written.
    seed
        The seed of the experiment.
    n_jobs
        The number of workers; None uses joblib's context, which may be a cluster. The rows do not depend on it, except
        for the times.
    progress
        Whether to show a progress bar.

    Examples
    --------
    >>> from topshap_bench import Source
    >>> games, algorithms = [Source("tie", "0")], ["cmcs", "shap:kernel"]
    >>> rows = run(fixed_budget_settings(games, algorithms, ks=[3], budgets=[50], runs=1))
    >>> [(row.algorithm, row.evaluations) for row in rows]
    [('cmcs', 50), ('shap:kernel', 50)]
    """
    wanted = dict.fromkeys(settings)
    with ResultsFile(out, Row) as results:
        known = {(row.setting, row.version): row for row in results.rows if row.seed == seed}
        missing = [pair for pair in wanted if (pair[1], version_of(pair[1].algorithm)) not in known]
        races = shared_races(missing)
        chunks = [races[start : start + CHUNK] for start in range(0, len(races), CHUNK)]
        with _progress_bar(len(wanted), len(wanted) - len(missing), shown=progress) as bar:
            for rows in _run_chunks(chunks, seed, n_jobs):
                results.add(rows)
                known.update({(row.setting, row.version): row for row in rows})
                if bar is not None:
                    bar.update(len(rows))
    return [known[setting, version_of(setting.algorithm)] for _, setting in wanted]


def _run_chunks(
    chunks: Sequence[Sequence[tuple[Source, list[Setting]]]], seed: int, n_jobs: int | None
) -> Iterator[list[Row]]:
    """Yield the rows of the chunks in order, computed by the workers of joblib's context.

    On a dask cluster the chunks are submitted directly, because joblib's generator never returns the results of tasks
    that it submits to dask.
    """
    backend: Any = joblib.parallel.get_active_backend()[0]
    if type(backend).__name__ != "DaskDistributedBackend":
        yield from in_order(partial(run_chunk, seed=seed), chunks, n_jobs)
        return
    futures = backend.client.map(run_chunk, chunks, seed=seed, pure=False)
    try:
        for future in futures:
            yield future.result()
    finally:
        backend.client.cancel(futures)


def _progress_bar(total: int, done: int, *, shown: bool) -> Any:
    """Return a progress bar with the remaining time, or an empty context."""
    return tqdm(total=total, initial=done, unit="run") if shown else nullcontext()
