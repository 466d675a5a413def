"""The warm-up of greedy-cmcs and cmcs@k: fixed lengths, and the rule ``warm_up="auto"`` of greedy-cmcs.

Fixed budget: the inclusion-exclusion error of greedy-cmcs for every length and for the rule, as a fraction of the range
of the Shapley values. The weight of the rule was chosen on every second game of each family of the published games
(half "tune"), not on the others ("judge"); the report shows both halves apart. The error is averaged over runs, and
0.001 of the range is added; an entry is the geometric mean of these over games, values of k and budgets. The ratio
compares the rule with the length that is best on the games of the same half, chosen by the runs that are reported,
which favours the fixed length.

Fixed confidence: the calls of cmcs@k with its published rule, and its failures, runs with an inclusion-exclusion error
above epsilon. The length is also the number of samples that the rule requires.

Every access is counted, as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.algorithms import CMCSAtK, GreedyCMCS
from topshap.core.race import Race
from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.figures import Panel, draw
from topshap_bench.parallel import run_all
from topshap_bench.sources import HALVES, Source, adversarial, from_folder
from topshap_bench.summary import Share, as_text, circumstances, geometric_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topshap.core.typing import Matrix, Values
    from topshap_bench.sources import OpenedGame

LENGTHS = (2, 3, 4, 6, 8, 12, 20, 30, 60)
KS = (3, 7)
BUDGETS = (250, 500, 1000)
RULE = "auto"
FLOOR = 1e-3
"""The fraction of the range that is added to every error, so that ratios of errors near 0 do not dominate."""
K, EPSILON, DELTA = 5, 0.05, 0.05
"""The parameters of the races of cmcs@k; epsilon is a fraction of the range of the Shapley values."""
KINDS = ("near-tie", "unanimity", "voting", "step", "product", "synergy", "graph-cut", "sparse-polynomial")
"""The kinds of games that are generated if no files are given."""


class Setting(NamedTuple):
    """One warm-up on one game; `budgets` is empty in races until confident."""

    source: Source
    warm_up: int | str
    runs: int
    budgets: tuple[int, ...] = ()


class Confident(NamedTuple):
    """The calls of races until confident, and whether their errors were above epsilon."""

    calls: list[int]
    failed: list[bool]


def warm_up(
    games: Path | None = None,
    *,
    out: Path | None = None,
    lengths: Sequence[int] = LENGTHS,
    budgets: Sequence[int] = BUDGETS,
    runs: int = 10,
    confident_runs: int | None = None,
    n_jobs: int | None = None,
) -> str:
    """Run both parts and return the report; with `out`, write ``warm-up.txt`` and ``warm-up.png`` to this folder.

    Parameters
    ----------
    games
        A folder with complete games, see `topshap_bench.from_folder`; by default two games of each kind in `KINDS`.
    out
        The output folder.
    lengths
        The fixed lengths.
    budgets
        The budgets of greedy-cmcs.
    runs
        The number of runs of greedy-cmcs for every game, warm-up and k.
    confident_runs
        The number of runs of cmcs@k for every game and warm-up, which take longer; by default as many.
    n_jobs
        The number of workers.
    """
    sources = halves_of(games)
    every = [source for half in sources.values() for source in half]
    plan = tuple(sorted(budgets))
    errors = run_all(fixed_budget, [Setting(s, w, runs, plan) for s in every for w in _warm_ups(lengths)], n_jobs)
    races = confident_runs or runs
    sure = run_all(until_confident, [Setting(s, w, races) for s in every for w in lengths], n_jobs)
    tables = {half: _table(errors, chosen, lengths) for half, chosen in sources.items()}
    text = "\n\n".join(
        [
            circumstances(),
            f"greedy-cmcs, k = {', '.join(map(str, KS))}, {runs} runs: error by warm-up",
            _errors(tables, lengths, plan),
            *(conclusion(half, table, lengths) for half, table in tables.items()),
            f"cmcs@k, k = {K}, epsilon = {EPSILON:g} of the range, delta = {DELTA:g}, {races} runs",
            _confidence(sure, lengths),
        ]
    )
    if out is not None:
        draw([panel(half, table, lengths) for half, table in tables.items()], out / "warm-up.png")
        (out / "warm-up.txt").write_text(text + "\n", encoding="utf-8")
    return text


def halves_of(games: Path | None) -> dict[str, list[Source]]:
    """Return every second game of each family, and the others."""
    if games is not None:
        return {half: from_folder(games, half=half) for half in ("tune", "judge")}
    drawn = {kind: adversarial(kind, 2) for kind in KINDS}
    return {half: [game for games in drawn.values() for game in games[HALVES[half]]] for half in ("tune", "judge")}


def _warm_ups(lengths: Sequence[int]) -> list[int | str]:
    """Return the fixed lengths and the rule, which is the last."""
    return [*lengths, RULE]


def fixed_budget(setting: Setting) -> Matrix:
    """Return the mean errors of greedy-cmcs, one row per k and one column per budget."""
    opened = setting.source.open()
    return np.array(
        [np.mean([_errors_of_run(opened, setting, k, seed) for seed in range(setting.runs)], axis=0) for k in KS]
    )


def _errors_of_run(opened: OpenedGame, setting: Setting, k: int, seed: int) -> Values:
    """Return the errors of one race at every budget."""
    race = _race(opened, k, seed, algorithm=GreedyCMCS(warm_up=setting.warm_up), budget=setting.budgets[0])  # type: ignore[arg-type]
    found = []
    for budget in setting.budgets:
        if budget > setting.budgets[0]:
            race.extend(budget)
        found.append(inclusion_exclusion_error(opened.exact, _finish(opened, race).players))
    return np.array(found) / np.ptp(opened.exact)


def until_confident(setting: Setting) -> Confident:
    """Return the calls and failures of cmcs@k."""
    opened = setting.source.open()
    epsilon = EPSILON * float(np.ptp(opened.exact))
    algorithm = CMCSAtK(warm_up=setting.warm_up)  # type: ignore[arg-type]  # a length
    options: Any = {"epsilon": epsilon, "delta": DELTA, "guarantee": "published", "algorithm": algorithm}
    tops = [_finish(opened, _race(opened, K, seed, **options)) for seed in range(setting.runs)]
    failed = [inclusion_exclusion_error(opened.exact, top.players) > epsilon for top in tops]
    return Confident([top.calls for top in tops], failed)


def _race(opened: OpenedGame, k: int, seed: int, **options: Any) -> Race:
    return Race(opened.game.n_players, k, counting="calls", random_state=seed, **options)


def _finish(opened: OpenedGame, race: Race) -> Any:
    while not race.done:
        race.tell(opened.game(race.ask()))
    return race.result()


def _table(errors: Mapping[Setting, Matrix], sources: Sequence[Source], lengths: Sequence[int]) -> Matrix:
    """Return the logarithms of errors by game, warm-up (the rule last) and budget, averaged over k."""
    chosen = {(setting.source, setting.warm_up): np.log(error + FLOOR) for setting, error in errors.items()}
    return np.array([[chosen[source, warm].mean(axis=0) for warm in _warm_ups(lengths)] for source in sources])


def _errors(tables: Mapping[str, Matrix], lengths: Sequence[int], budgets: Sequence[int]) -> str:
    lines = [
        [
            half,
            warm,
            *(f"{error:.5f}" for error in np.exp(table.mean(axis=0)[row])),
            f"{np.exp(table[:, row].mean()):.5f}",
        ]
        for half, table in tables.items()
        for row, warm in enumerate(_warm_ups(lengths))
    ]
    return as_text(["half", "warm-up", *(f"{budget} calls" for budget in budgets), "all budgets"], lines)


def conclusion(half: str, table: Matrix, lengths: Sequence[int]) -> str:
    """Return the ratios of the rule to the best fixed length and to the published one, over all budgets."""
    by_game = table.mean(axis=2)
    best = int(by_game[:, :-1].mean(axis=0).argmin())
    against = {f"the best fixed length, {lengths[best]}": best}
    if 30 in lengths:
        against["the published length, 30"] = list(lengths).index(30)
    ratios = [
        f"{geometric_mean((by_game[:, -1] - by_game[:, column]).tolist())} of {name}"
        for name, column in against.items()
    ]
    return f"{half}, {len(table)} games: the error of {RULE} is {'; '.join(ratios)}"


def _confidence(sure: Mapping[Setting, Confident], lengths: Sequence[int]) -> str:
    lines = []
    for length in lengths:
        outcomes = [outcome for setting, outcome in sure.items() if setting.warm_up == length]
        failed = [failure for outcome in outcomes for failure in outcome.failed]
        calls = np.exp(np.mean([np.log(np.mean(outcome.calls)) for outcome in outcomes]))
        lines.append([length, f"{calls:.0f}", Share(sum(failed), len(failed))])
    return as_text(["warm-up", "calls", "failures"], lines)


def panel(half: str, table: Matrix, lengths: Sequence[int]) -> Panel:
    """Return the geometric mean of the errors by length, as in the report, with the rule as a line."""
    means = np.exp(table.mean(axis=(0, 2)))[None]
    curves = {"fixed length": means[:, :-1], f'warm_up="{RULE}"': np.repeat(means[:, -1:], len(lengths), axis=1)}
    return Panel(f"{half}, {len(table)} games", lengths, curves, "warm-up, rounds", "error, geometric mean")
