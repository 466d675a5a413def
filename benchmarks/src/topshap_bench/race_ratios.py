"""Errors of odd-gp in the race next to those of the best rival, and where rivals are ahead.

A rival is an algorithm of another package or a published one. Both measures, the inclusion-exclusion error and the mean
squared error of all values, are averaged over k and over runs. Ratios are geometric means over games of odd-gp's
measure divided by the rival's, with `ADDED` added to both. The best rival of a game and a budget is chosen in other
runs than those in which it is measured, see `topshap_bench.best_rival`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap_bench.best_rival import error_of_best
from topshap_bench.summary import Ratio, as_text, by_run, geometric_mean, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from topshap_bench.settings import Row

    Cell = tuple[str, str, int]
    RunsOfCells = Mapping[Cell, Mapping[str, Sequence[float]]]

OURS = "odd-gp"
"""The algorithm that ``algorithm="auto"`` selects for a fixed budget."""
RELATED = ("odd-gp@k", "swap@k", "player-gp")
"""Other algorithms that topshap introduces; they are not rivals."""
ADDED = {"relative_error": 0.001, "relative_squared_error": 1e-12}
"""Fractions of the range and of its square, so that tiny differences hardly matter."""
NAMES = {"relative_error": "error", "relative_squared_error": "mse"}
SMALL, LARGE = 16, 120
"""The most players of small and of large games; there are complete tables of small games only."""


def size_of(row: Row) -> str:
    """Return whether the game of a row is small, large or very large."""
    return "small" if row.n_players <= SMALL else "large" if row.n_players <= LARGE else "very large"


def runs_of_cells(rows: Iterable[Row], measure: str) -> dict[Cell, dict[str, list[float]]]:
    """Return the measure of every run, by family, game and budget and then by algorithm.

    Algorithms with a run that was refused or has failed are left out.
    """
    cells: dict[Cell, dict[str, list[float]]] = {}
    for (family, game, budget, algorithm), group in grouped(rows, "family", "game", "budget", "algorithm").items():
        _, table = by_run(group, measure, "budget")
        if np.isfinite(table).all():
            cells.setdefault((family, game, budget), {})[algorithm] = table[:, 0].tolist()
    return cells


def ratio_to_best(cells: RunsOfCells, added: float) -> Ratio:
    """Return the geometric mean over games of odd-gp's measure divided by that of the best rival.

    Examples
    --------
    >>> cells = {("a", "0", 50): {"odd-gp": [1.0, 1.0], "cmcs": [2.0, 2.0], "bus": [3.0, 3.0]}}
    >>> ratio_to_best(cells, 0.0).ratio
    0.5
    """
    return _ratio(cells, lambda runs: error_of_best({name: of for name, of in runs.items() if name != OURS}), added)


def ratio_to(rival: str, cells: RunsOfCells, added: float) -> Ratio:
    """Return the geometric mean over games of odd-gp's measure divided by that of one rival, where it could run."""
    return _ratio({cell: runs for cell, runs in cells.items() if rival in runs}, lambda runs: mean(runs[rival]), added)


def _ratio(cells: RunsOfCells, theirs: Callable[[Mapping[str, Sequence[float]]], float], added: float) -> Ratio:
    logs: dict[tuple[str, str], list[float]] = {}
    for (family, game, _), runs in cells.items():
        logs.setdefault((family, game), []).append(np.log((mean(runs[OURS]) + added) / (theirs(runs) + added)))
    return geometric_mean([mean(of_game) for of_game in logs.values()])


def mean(numbers: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return float(np.mean(numbers))


class Ahead(NamedTuple):
    """A rival that is ahead of odd-gp in a family with a budget."""

    family: str
    budget: int
    measure: str
    rival: str
    ratio: Ratio
    games: int


def tables(rows: Sequence[Row]) -> str:
    """Return ratios to the best rival with their targets, where rivals are ahead, and ratios by family and budget."""
    cells = {measure: _with_rivals(runs_of_cells(rows, measure)) for measure in ADDED}
    if not all(cells.values()):
        return "No rival could run."
    sizes = {row.family: size_of(row) for row in rows}
    return "\n\n".join([_targets(cells, sizes), _where_ahead(rivals_ahead(cells)), _by_family(cells)])


def _with_rivals(cells: dict[Cell, dict[str, list[float]]]) -> dict[Cell, dict[str, list[float]]]:
    """Return the runs of odd-gp and its rivals, where both could run."""
    kept = {cell: {name: of for name, of in runs.items() if name not in RELATED} for cell, runs in cells.items()}
    return {cell: runs for cell, runs in kept.items() if OURS in runs and len(runs) > 1}


def _by_family(cells: Mapping[str, RunsOfCells]) -> str:
    lines = []
    for family, budget in _families_and_budgets(cells["relative_error"]):
        chosen = {measure: _chosen(of_it, family, budget) for measure, of_it in cells.items()}
        ratios = [str(ratio_to_best(chosen[measure], added)) for measure, added in ADDED.items()]
        lines.append(
            [family, budget, len(chosen["relative_error"]), *ratios, _nearest(chosen["relative_squared_error"])]
        )
    header = ["family", "budget", "games", *(f"{name} / best rival's [95%]" for name in NAMES.values())]
    title = "odd-gp next to the best rival of every game and budget, by family"
    return f"{title}\n{as_text([*header, 'least mse of rivals'], lines)}"


def _nearest(cells: RunsOfCells) -> str:
    """Return the rival with the smallest mean squared error over games, of those that ran in all of them."""
    names = [name for name in _rivals(cells) if all(name in runs for runs in cells.values())]
    added = ADDED["relative_squared_error"]
    return max(names, key=lambda name: ratio_to(name, cells, added).ratio, default="")


def _targets(cells: Mapping[str, RunsOfCells], sizes: Mapping[str, str]) -> str:
    """Return the figures that have a target, next to it."""
    lines = []
    for size in dict.fromkeys(sizes.values()):
        of_size = {m: {cell: runs for cell, runs in of.items() if sizes[cell[0]] == size} for m, of in cells.items()}
        for (measure, added), target in zip(ADDED.items(), (0.5, 0.2), strict=True):
            found = ratio_to_best(of_size[measure], added)
            lines.append([f"{size} games: {NAMES[measure]} / best rival's", found, target if size == "small" else ""])
            families = _cells_of_families(of_size[measure])
            ratios = {family: ratio_to_best(of_family, added) for family, of_family in families.items()}
            worst, largest = max(ratios.items(), key=lambda item: item[1].ratio)
            lines.append([f"{size} games: {NAMES[measure]} / best rival's, largest of a family, {worst}", largest, ""])
        squared, added = of_size["relative_squared_error"], ADDED["relative_squared_error"]
        usual = [name for name in _rivals(squared) if sum(name in runs for runs in squared.values()) > len(squared) / 2]
        closest = max(usual, key=lambda name: ratio_to(name, squared, added).ratio)  # slow rivals run in few games
        about = f"{size} games: largest mse / a rival's, {closest}"
        lines.append([about, ratio_to(closest, squared, added), 0.1 if size == "large" else ""])
    for measure, added in ADDED.items():
        groups = [(key, _chosen(cells[measure], *key)) for key in _families_and_budgets(cells[measure])]
        (family, budget), of_worst = max(groups, key=lambda group: ratio_to_best(group[1], added).ratio)
        about = f"largest {NAMES[measure]} / best rival's of a family and budget: {family}, {budget}"
        lines.append([about, ratio_to_best(of_worst, added), 1.05])
    title = "odd-gp next to its rivals: geometric means of ratios, and their targets"
    return f"{title}\n{as_text(['ratio of odd-gp', 'found [95%]', 'target'], lines)}"


def rivals_ahead(cells: Mapping[str, RunsOfCells]) -> list[Ahead]:
    """Return every rival whose geometric mean over the games of a family is below odd-gp's, by measure and budget."""
    found = []
    for measure, added in ADDED.items():
        for family, budget in _families_and_budgets(cells[measure]):
            chosen = _chosen(cells[measure], family, budget)
            for rival in _rivals(chosen):
                ratio, games = ratio_to(rival, chosen, added), sum(rival in runs for runs in chosen.values())
                if ratio.ratio > 1.0:
                    found.append(Ahead(family, budget, NAMES[measure], rival, ratio, games))
    return sorted(found, key=lambda ahead: -ahead.ratio.ratio)


def _where_ahead(found: Sequence[Ahead]) -> str:
    title = "Where rivals are ahead"
    if not found:
        return f"{title}: in no family, with no budget and by neither measure."
    lines = [[a.family, a.budget, a.measure, a.rival, a.games, a.ratio] for a in found]
    header = ["family", "budget", "measure", "rival", "games", f"{OURS} / it [95%]"]
    return f"{title}, largest ratio first\n{as_text(header, lines)}"


def _families_and_budgets(cells: Iterable[Cell]) -> list[tuple[str, int]]:
    return list(dict.fromkeys((family, budget) for family, _, budget in cells))


def _cells_of_families(cells: RunsOfCells) -> dict[str, dict[Cell, Mapping[str, Sequence[float]]]]:
    """Return the cells of every family."""
    families: dict[str, dict[Cell, Mapping[str, Sequence[float]]]] = {}
    for cell, runs in cells.items():
        families.setdefault(cell[0], {})[cell] = runs
    return families


def _chosen(cells: RunsOfCells, family: str, budget: int) -> dict[Cell, Mapping[str, Sequence[float]]]:
    return {cell: runs for cell, runs in cells.items() if (cell[0], cell[2]) == (family, budget)}


def _rivals(cells: RunsOfCells) -> list[str]:
    return list(dict.fromkeys(name for runs in cells.values() for name in runs if name != OURS))
