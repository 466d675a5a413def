"""Run cells: in parallel, resumable, each with random numbers of its own."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap import metrics
from topshap._extras import import_extra
from topshap._parallel import in_order
from topshap._validation import check_int
from topshap.bench import external
from topshap.bench.cells import Cell, Row
from topshap.bench.table import Table
from topshap.identify import identify

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.bench.sources import Opened, Source
    from topshap.typing import Values

CHUNK = 20
"""How many runs a worker is given at once: enough that sending them takes no time next to running them."""


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
    check_int("runs", runs, owner="cells_of", low=1)
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
    check_int("runs", runs, owner="races_of", low=1)
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
    with Table(out) as table:
        known = {(row.cell, row.version): row for row in table.rows if row.seed == seed}
        missing = [pair for pair in wanted if (pair[1], _version(pair[1].algorithm)) not in known]
        chunks = [missing[start : start + CHUNK] for start in range(0, len(missing), CHUNK)]
        with _bar(len(wanted), len(wanted) - len(missing), shown=progress) as bar:
            for rows in _run_all(chunks, seed, n_jobs):
                table.add(rows)
                known.update({(row.cell, row.version): row for row in rows})
                if bar is not None:
                    bar.update(len(rows))
    return [known[cell, _version(cell.algorithm)] for _, cell in wanted]


def _run_all(chunks: Sequence[Sequence[tuple[Source, Cell]]], seed: int, n_jobs: int | None) -> Iterator[list[Row]]:
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


def run_chunk(pairs: Sequence[tuple[Source, Cell]], seed: int) -> list[Row]:
    """Run some cells, in a worker."""
    return [run_cell(source.open(), cell, seed) for source, cell in pairs]


def run_cell(opened: Opened, cell: Cell, seed: int) -> Row:
    """Run a cell and judge its answer by the exact values."""
    start = time.process_time()
    answer = _external(opened, cell, seed) if cell.algorithm in external.EXTERNAL else _own(opened, cell, seed)
    seconds = time.process_time() - start
    exact = opened.exact
    judged = [float("nan")] * 4
    if answer.players is not None and answer.estimates is not None:
        judged = [
            metrics.binary_precision(exact, answer.players),
            metrics.ratio_precision(exact, answer.players),
            metrics.inclusion_exclusion_error(exact, answer.players),
            metrics.mean_squared_error(exact, answer.estimates),
        ]
    return Row(
        *cell._replace(),
        seed,
        _version(cell.algorithm),
        opened.game.n_players,
        opened.range_of_shapley_values,
        answer.stopped,
        answer.evaluations,
        answer.calls,
        seconds,
        *judged,
    )


class _Found(NamedTuple):
    players: Any
    estimates: Values | None
    evaluations: int
    calls: int
    stopped: str


def _own(opened: Opened, cell: Cell, seed: int) -> _Found:
    """Run one of topshap's algorithms."""
    options: dict[str, Any] = {}
    if cell.epsilon is not None:
        unit = opened.range_of_shapley_values if cell.unit == "range" else 1.0
        options = {"epsilon": cell.epsilon * unit, "delta": cell.delta, "guarantee": cell.guarantee}
    if cell.guarantee == "exact":  # of a table the range of the values is known
        options["value_range"] = float(opened.game.values.min()), float(opened.game.values.max())
    top = identify(
        opened.game,
        k=cell.k,
        budget=cell.budget,
        algorithm=cell.algorithm,
        counting=cell.counting,  # type: ignore[arg-type]  # checked there
        random_state=np.random.default_rng(cell.seeds(seed)),
        n_jobs=1,
        **options,
    )
    return _Found(top.players, top.estimates, top.evaluations, top.calls, top.stopped)


def _external(opened: Opened, cell: Cell, seed: int) -> _Found:
    """Run an algorithm of another package."""
    budget = check_int("budget", cell.budget, owner=cell.algorithm, low=2)
    for_estimates, for_ties = cell.seeds(seed).spawn(2)
    answer = external.estimate(
        cell.algorithm,
        opened.game,
        budget=budget,
        seed=int(for_estimates.generate_state(1)[0]),
        counting=cell.counting,  # type: ignore[arg-type]  # checked by Race
    )
    if answer.estimates is None:
        return _Found(None, None, 0, 0, "refused")
    order = np.random.default_rng(for_ties).permutation(len(answer.estimates))  # ties are broken as in a race
    players = order[np.argsort(-answer.estimates[order], kind="stable")][: cell.k]
    return _Found(players, answer.estimates, answer.evaluations, answer.calls, "finished")


def _version(algorithm: str) -> str:
    if algorithm in external.EXTERNAL:
        return external.version_of(algorithm)
    return f"topshap {topshap.__version__}"


def _bar(total: int, done: int, *, shown: bool) -> Any:
    """Return a progress bar with the time left, or nothing."""
    if not shown:
        return nullcontext()
    tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
    return tqdm(total=total, initial=done, unit="run")
