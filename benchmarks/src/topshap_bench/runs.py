"""The task of a worker: run races, read their results at the budgets of the settings, and measure the quality."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.race import Race
from topshap.core.validation import check_int
from topshap.games import AdditiveGame
from topshap.reference import metrics
from topshap.statistics.ranking import rank_key
from topshap_bench import external
from topshap_bench.contestants import contestant, version_of
from topshap_bench.rivals import RIVALS
from topshap_bench.settings import MEASURES, Row, Setting
from topshap_bench.sources import OpenedGame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values
    from topshap_bench.sources import Source

LEVEL = 0.95
"""The level of the intervals whose coverage is measured."""


def shared_races(pairs: Iterable[tuple[Source, Setting]]) -> list[tuple[Source, list[Setting]]]:
    """Return the settings of each race, by increasing budget.

    Settings that differ only in the budget share a race if the algorithm does not depend on it: the result of the race
    is read at each budget. Settings of an external algorithm that differ only in k share its estimates.

    Examples
    --------
    >>> from topshap_bench import Source, fixed_budget_settings
    >>> games, algorithms = [Source("tie", "0")], ["cmcs", "kernelshap"]
    >>> pairs = fixed_budget_settings(games, algorithms, ks=[3], budgets=[50, 100], runs=1)
    >>> [[(setting.algorithm, setting.budget) for setting in race] for _, race in shared_races(pairs)]
    [[('cmcs', 50), ('cmcs', 100)], [('kernelshap', 50)], [('kernelshap', 100)]]
    >>> pairs = fixed_budget_settings(games, ["shap:kernel"], ks=[3, 5], budgets=[50], runs=1)
    >>> [[setting.k for setting in race] for _, race in shared_races(pairs)]
    [[3, 5]]
    """
    races: dict[tuple[Source, Setting], list[Setting]] = {}
    for source, setting in pairs:
        shared = setting.shared
        if shared.budget != setting.budget and setting.counting == "distinct":
            enumerates = (setting.budget or 0) >= 2 ** source.open().game.n_players  # a budget for all coalitions
            shared = setting if enumerates else shared
        races.setdefault((source, shared), []).append(setting)
    return [(source, sorted(race, key=lambda setting: setting.budget or 0)) for (source, _), race in races.items()]


def run_chunk(races: Sequence[tuple[Source, Sequence[Setting]]], seed: int) -> list[Row]:
    """Run some races and return the rows of all their settings."""
    return [row for source, settings in races for row in run_race(source.open(), settings, seed)]


def run_race(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> list[Row]:
    """Run one race and compare its results at all budgets with the exact values."""
    _import_what_it_needs(settings[0].algorithm)
    answers = _answers(opened, settings, seed)
    return [_row(opened, setting, answer, seed) for setting, answer in zip(settings, answers, strict=True)]


@cache
def _import_what_it_needs(algorithm: str) -> None:
    """Run an algorithm once on a small game, so that the time of imports does not count as that of its first run."""
    small = AdditiveGame(np.arange(6.0))
    opened = OpenedGame(small, small.shapley_values(), "")
    list(_answers(opened, [Setting("additive", "small", algorithm, k=2, budget=30)], seed=0))


class _Answer(NamedTuple):
    players: Any
    estimates: Values | None
    evaluations: int
    calls: int
    stopped: str
    seconds: float
    top: TopK | None = None
    """The result of an algorithm of topshap."""


def _answers(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> Iterator[_Answer]:
    play = _external_answers if settings[0].algorithm in RIVALS else _race_answers
    return play(opened, settings, seed)


def _race_answers(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> Iterator[_Answer]:
    """Yield the result of a race at each budget."""
    start, seconds = time.process_time(), 0.0
    game, race = opened.game, _race(opened, settings[0], seed)
    for setting in settings:
        if setting is not settings[0]:
            race.extend(setting.budget)  # type: ignore[arg-type]  # races with several settings have budgets
        while not race.done:  # faster than an oracle, since values are looked up in a table
            race.tell(game(race.ask()))
        top = race.result()
        seconds += time.process_time() - start
        yield _Answer(top.players, top.estimates, top.evaluations, top.calls, top.stopped, seconds, top)
        start = time.process_time()


def _race(opened: OpenedGame, setting: Setting, seed: int) -> Race:
    options: dict[str, Any] = {}
    if setting.epsilon is not None:
        epsilon = setting.epsilon * opened.in_unit(setting.unit, setting.order)
        options = {"epsilon": epsilon, "delta": setting.delta, "guarantee": setting.guarantee}
        options |= {"rank_by": setting.rank_by, "ordered": bool(setting.ordered), "order": setting.order}
    if setting.guarantee == "exact":  # the range of the values in a table is known
        options["value_range"] = float(opened.game.values.min()), float(opened.game.values.max())
    return Race(
        opened.game.n_players,
        setting.k or "clear",
        budget=setting.budget,
        algorithm=contestant(setting.algorithm),
        counting=setting.counting,  # type: ignore[arg-type]  # checked by Race
        random_state=np.random.default_rng(setting.seeds(seed)),
        **options,
    )


def _external_answers(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> Iterator[_Answer]:
    """Yield the results of an algorithm of another package, which estimates the values once for all k."""
    first = settings[0]
    for_estimates, for_ties = first.seeds(seed).spawn(2)
    answer = external.estimate(
        first.algorithm,
        opened.game,
        budget=check_int("budget", first.budget, low=2),
        seed=int(for_estimates.generate_state(1)[0]),
        counting=first.counting,  # type: ignore[arg-type]  # checked by the ledger
    )
    if answer.estimates is None:
        stopped = f"failed: {answer.failure}" if answer.failure else "refused"
        yield from [_Answer(None, None, 0, 0, stopped, answer.seconds) for _ in settings]
        return
    order = np.random.default_rng(for_ties).permutation(len(answer.estimates))  # ties are broken as in a race
    ranked = order[np.argsort(-answer.estimates[order], kind="stable")]
    for setting in settings:
        cost = answer.evaluations, answer.calls
        yield _Answer(ranked[: setting.k], answer.estimates, *cost, "finished", answer.seconds)


def _row(opened: OpenedGame, setting: Setting, answer: _Answer, seed: int) -> Row:
    exact = opened.exact_of(setting.order)
    quality: tuple[float, ...] = (float("nan"),) * 4
    lead = None
    if answer.players is not None and answer.estimates is not None:
        keys = rank_key(exact, setting.rank_by)  # type: ignore[arg-type]  # checked by Race
        lead = lead_of_set(keys, answer.players)
        quality = (
            metrics.binary_precision(keys, answer.players),
            metrics.ratio_precision(keys, answer.players),
            error_of(keys, answer.players, ordered=bool(setting.ordered)),
            metrics.mean_squared_error(exact, answer.estimates),
        )
    confidence, coverage, rare = _certainty(answer.top, exact)
    return Row(
        **setting._asdict(),
        seed=seed,
        version=version_of(setting.algorithm),
        n_players=opened.game.n_players,
        value_range=float(np.ptp(exact)),
        stopped=answer.stopped,
        evaluations=answer.evaluations,
        calls=answer.calls,
        seconds=answer.seconds,
        **dict(zip(MEASURES, quality, strict=True)),  # type: ignore[arg-type]  # all of them are floats
        range_of_v=opened.range_of_v,
        confidence=confidence,
        coverage=coverage,
        rare_contributions=rare,
        lead=lead,
    )


def error_of(keys: Values, players: Players, *, ordered: bool) -> float:
    """Return the error of a set, or of an ordered list: by how much a player is ahead of one before it.

    Parameters
    ----------
    keys
        The exact values that players are ranked by, the highest first.
    players
        The returned players, best first.
    ordered
        Whether their order matters.

    Examples
    --------
    >>> keys = np.array([3.0, 2.0, 1.5, 0.0])
    >>> error_of(keys, np.array([1, 0]), ordered=False), error_of(keys, np.array([1, 0]), ordered=True)
    (0.0, 1.0)
    """
    error = float(metrics.inclusion_exclusion_error(keys, players))
    if not ordered:
        return error
    rest = np.setdiff1d(np.arange(len(keys)), players)
    listed = np.append(keys[players], keys[rest].max(initial=-np.inf))
    return max(error, 0.0, float(np.max(listed[1:] - np.minimum.accumulate(listed)[:-1])))


def lead_of_set(keys: Values, players: Players) -> float:
    """Return by how much the worst player of a set is ahead of the best one outside, 0 if they tie.

    Examples
    --------
    >>> lead_of_set(np.array([5.0, 1.0, 4.0]), np.array([0, 2]))
    3.0
    """
    outside = np.setdiff1d(np.arange(len(keys)), players)
    lead = float(keys[players].min() - keys[outside].max(initial=-np.inf))
    return lead if abs(lead) > metrics.tie_tolerance(keys) else 0.0


def _certainty(top: TopK | None, exact: Values) -> tuple[float | None, float | None, int | None]:
    """Return the confidence, the coverage of the intervals, and whether contributions may be rare."""
    if top is None:
        return None, None, None
    low, high = top.interval(LEVEL).T
    rounding = metrics.tie_tolerance(exact)
    coverage = float(np.mean((low - rounding <= exact) & (exact <= high + rounding)))
    return None if np.isnan(top.confidence) else top.confidence, coverage, int(top.rare_contributions)
