"""What a worker does: it plays races, reads them at the budgets of their cells, and judges the answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.bench import external
from topshap.bench.cells import Row
from topshap.core.race import Race
from topshap.core.validation import check_int
from topshap.reference import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.bench.cells import Cell
    from topshap.bench.sources import Opened, Source
    from topshap.core.typing import Values


def groups_of(pairs: Iterable[tuple[Source, Cell]]) -> list[tuple[Source, list[Cell]]]:
    """Return the cells that one race can answer together, by rising budget.

    They differ in nothing but the budget, and their algorithm does not know it: the race to the largest is read on its
    way there.

    Examples
    --------
    >>> from topshap.bench import Source, cells_of
    >>> cells = cells_of([Source("tie", "0")], ["cmcs", "kernelshap"], ks=[3], budgets=[50, 100], runs=1)
    >>> [[(cell.algorithm, cell.budget) for cell in together] for _, together in groups_of(cells)]
    [[('cmcs', 50), ('cmcs', 100)], [('kernelshap', 50)], [('kernelshap', 100)]]
    """
    groups: dict[tuple[Source, Cell], list[Cell]] = {}
    for source, cell in pairs:
        together = cell.budget is not None and not cell.knows_budget
        if together and cell.counting == "distinct":  # a budget for all coalitions is another race: it asks for them
            together = (cell.budget or 0) < 2 ** source.open().game.n_players
        groups.setdefault((source, cell._replace(budget=None) if together else cell), []).append(cell)
    return [(source, sorted(cells, key=lambda cell: cell.budget or 0)) for (source, _), cells in groups.items()]


def run_chunk(groups: Sequence[tuple[Source, Sequence[Cell]]], seed: int) -> list[Row]:
    """Run some groups of cells."""
    return [row for source, cells in groups for row in run_group(source.open(), cells, seed)]


def run_group(opened: Opened, cells: Sequence[Cell], seed: int) -> list[Row]:
    """Run the cells of one race, and judge its answers by the exact values."""
    answers = _external(opened, cells, seed) if cells[0].algorithm in external.EXTERNAL else _own(opened, cells, seed)
    rows, seconds, start = [], 0.0, time.process_time()
    for cell, answer in zip(cells, answers, strict=True):
        seconds += time.process_time() - start
        rows.append(_judged(opened, cell, answer, seed, seconds))
        start = time.process_time()
    return rows


def version_of(algorithm: str) -> str:
    """Return the package that an algorithm comes from, and its version."""
    if algorithm in external.EXTERNAL:
        return external.version_of(algorithm)
    return f"topshap {topshap.__version__}"


class _Found(NamedTuple):
    players: Any
    estimates: Values | None
    evaluations: int
    calls: int
    stopped: str


def _own(opened: Opened, cells: Sequence[Cell], seed: int) -> Iterator[_Found]:
    """Play a race of one of topshap's algorithms, and yield what it has found at each budget."""
    game, race = opened.game, _race(opened, cells[0], seed)
    for cell in cells:
        if cell is not cells[0]:
            race.extend(cell.budget)  # type: ignore[arg-type]  # only cells with a budget are together
        while not race.done:  # without an oracle, which takes longer than looking up a few values in a table
            race.tell(game(race.ask()))
        top = race.result()
        yield _Found(top.players, top.estimates, top.evaluations, top.calls, top.stopped)


def _race(opened: Opened, cell: Cell, seed: int) -> Race:
    options: dict[str, Any] = {}
    if cell.epsilon is not None:
        unit = opened.range_of_shapley_values if cell.unit == "range" else 1.0
        options = {"epsilon": cell.epsilon * unit, "delta": cell.delta, "guarantee": cell.guarantee}
    if cell.guarantee == "exact":  # of a table the range of the values is known
        options["value_range"] = float(opened.game.values.min()), float(opened.game.values.max())
    return Race(
        opened.game.n_players,
        cell.k,
        budget=cell.budget,
        algorithm=cell.algorithm,
        counting=cell.counting,  # type: ignore[arg-type]  # checked there
        random_state=np.random.default_rng(cell.seeds(seed)),
        **options,
    )


def _external(opened: Opened, cells: Sequence[Cell], seed: int) -> Iterator[_Found]:
    """Run an algorithm of another package."""
    for cell in cells:
        budget = check_int("budget", cell.budget, low=2)
        for_estimates, for_ties = cell.seeds(seed).spawn(2)
        answer = external.estimate(
            cell.algorithm,
            opened.game,
            budget=budget,
            seed=int(for_estimates.generate_state(1)[0]),
            counting=cell.counting,  # type: ignore[arg-type]  # checked by Race
        )
        if answer.estimates is None:
            yield _Found(None, None, 0, 0, "refused")
            continue
        order = np.random.default_rng(for_ties).permutation(len(answer.estimates))  # ties are broken as in a race
        players = order[np.argsort(-answer.estimates[order], kind="stable")][: cell.k]
        yield _Found(players, answer.estimates, answer.evaluations, answer.calls, "finished")


def _judged(opened: Opened, cell: Cell, answer: _Found, seed: int, seconds: float) -> Row:
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
        *cell,
        seed,
        version_of(cell.algorithm),
        opened.game.n_players,
        opened.range_of_shapley_values,
        answer.stopped,
        answer.evaluations,
        answer.calls,
        seconds,
        *judged,
    )
