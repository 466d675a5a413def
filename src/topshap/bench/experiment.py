"""Run cells: in parallel, resumable, each with random numbers of its own."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from topshap.bench.cells import Cell, Row
from topshap.bench.runs import groups_of, run_chunk, version_of
from topshap.bench.table import Table
from topshap.core.extras import import_extra
from topshap.core.validation import check_int
from topshap.evaluation.parallel import in_order

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.bench.sources import Source

CHUNK = 20
"""How many races a worker is given at once: enough that sending them takes no time next to running them."""


def cells_of(
    sources: Iterable[Source],
    algorithms: Sequence[str],
    *,
    ks: Sequence[int],
    budgets: Sequence[int],
    runs: int,
    counting: str = "distinct",
) -> list[tuple[Source, Cell]]:
    """Return every combination for a fixed budget, the runs of one setting next to each other.

    A k that is not smaller than the number of players of a game is left out, since there is nothing to find.

    Examples
    --------
    >>> from topshap.bench import Source
    >>> made = cells_of([Source("tie", "0")], ["cmcs", "odd-gp"], ks=[3], budgets=[50, 100], runs=2)
    >>> len(made)
    8
    """
    check_int("runs", runs, low=1)
    made = []
    for source in sources:
        opened = source.open()
        for algorithm, k, budget, run in product(algorithms, ks, budgets, range(runs)):
            if k < opened.game.n_players:
                cell = Cell(source.family, source.name, algorithm, k, opened.fingerprint, budget=budget)
                made.append((source, cell._replace(counting=counting, run=run)))
    return made


def races_of(
    sources: Iterable[Source],
    rules: Sequence[tuple[str, str]],
    *,
    ks: Sequence[int],
    epsilon: float,
    unit: str,
    deltas: Sequence[float],
    runs: int,
    counting: str = "distinct",
) -> list[tuple[Source, Cell]]:
    """Return every combination of races that stop by themselves; a rule is an algorithm and its guarantee.

    Examples
    --------
    >>> from topshap.bench import Source
    >>> rules = [("swap@k", "exact"), ("cmcs@k", "credible")]
    >>> len(races_of([Source("tie", "0")], rules, ks=[4], epsilon=0.01, unit="range", deltas=[0.05], runs=3))
    6
    """
    check_int("runs", runs, low=1)
    made = []
    for source in sources:
        opened = source.open()
        for (algorithm, guarantee), k, delta, run in product(rules, ks, deltas, range(runs)):
            if k < opened.game.n_players:
                cell = Cell(source.family, source.name, algorithm, k, opened.fingerprint, epsilon=epsilon, unit=unit)
                made.append((source, cell._replace(delta=delta, guarantee=guarantee, counting=counting, run=run)))
    return made


def run(
    cells: Iterable[tuple[Source, Cell]],
    out: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> list[Row]:
    """Run all cells that the table does not have yet, and return the rows of all, in the order of the cells.

    Where an algorithm does not know its budget, cells that differ only in that are one race, read on its way: its
    answer at a budget is the same to the bit as that of a race with this budget.

    Parameters
    ----------
    cells
        What to run, see `cells_of` and `races_of`.
    out
        The file of the table, ``.csv`` or ``.parquet``: cells in it with the same seed and version are not run again.
        None keeps nothing.
    seed
        The seed of the experiment.
    n_jobs
        How many workers; None means as joblib's context says, be it a cluster. The rows are the same for any number,
        but for the seconds.
    progress
        Whether to show a progress bar, with the extra ``topshap[progress]``.

    Examples
    --------
    >>> from topshap.bench import Source
    >>> rows = run(cells_of([Source("tie", "0")], ["cmcs", "shap:kernel"], ks=[3], budgets=[50], runs=1))
    >>> [(row.algorithm, row.evaluations) for row in rows]
    [('cmcs', 50), ('shap:kernel', 50)]
    """
    wanted = dict.fromkeys(cells)
    with Table(out, Row) as table:
        known = {(row.cell, row.version): row for row in table.rows if row.seed == seed}
        missing = [pair for pair in wanted if (pair[1], version_of(pair[1].algorithm)) not in known]
        groups = groups_of(missing)
        chunks = [groups[start : start + CHUNK] for start in range(0, len(groups), CHUNK)]
        with _bar(len(wanted), len(wanted) - len(missing), shown=progress) as bar:
            for rows in _run_all(chunks, seed, n_jobs):
                table.add(rows)
                known.update({(row.cell, row.version): row for row in rows})
                if bar is not None:
                    bar.update(len(rows))
    return [known[cell, version_of(cell.algorithm)] for _, cell in wanted]


def _run_all(
    chunks: Sequence[Sequence[tuple[Source, list[Cell]]]], seed: int, n_jobs: int | None
) -> Iterator[list[Row]]:
    """Yield the rows of the chunks in their order, by workers as joblib's context says.

    On a dask cluster the chunks are futures of its own, since joblib's generator waits for ever for those it submits.
    """
    joblib = sys.modules.get("joblib")  # without it there is no context
    backend: Any = None if joblib is None else joblib.parallel.get_active_backend()[0]
    if type(backend).__name__ != "DaskDistributedBackend":
        yield from in_order(partial(run_chunk, seed=seed), chunks, n_jobs)
        return
    futures = backend.client.map(run_chunk, chunks, seed=seed, pure=False)
    try:
        for future in futures:
            yield future.result()
    finally:
        backend.client.cancel(futures)


def _bar(total: int, done: int, *, shown: bool) -> Any:
    """Return a progress bar with the time left, or nothing."""
    if not shown:
        return nullcontext()
    tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
    return tqdm(total=total, initial=done, unit="run")
