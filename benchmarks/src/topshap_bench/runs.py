"""The task of a worker: run races, read their results at the budgets of the settings, and measure the quality."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.race import Race
from topshap.core.validation import check_int
from topshap.reference import metrics
from topshap.statistics.ranking import rank_key
from topshap_bench import external
from topshap_bench.contestants import contestant, version_of
from topshap_bench.rivals import RIVALS
from topshap_bench.settings import MEASURES, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values
    from topshap_bench.settings import Setting
    from topshap_bench.sources import OpenedGame, Source

LEVEL = 0.95
"""The level of the intervals whose coverage is measured."""


def shared_races(pairs: Iterable[tuple[Source, Setting]]) -> list[tuple[Source, list[Setting]]]:
    """Return the settings of each race, by increasing budget.

    Settings that differ only in the budget share a race if the algorithm does not depend on it: the result of the race
    is read at each budget.

    Examples
    --------
    >>> from topshap_bench import Source, fixed_budget_settings
    >>> games, algorithms = [Source("tie", "0")], ["cmcs", "kernelshap"]
    >>> pairs = fixed_budget_settings(games, algorithms, ks=[3], budgets=[50, 100], runs=1)
    >>> [[(setting.algorithm, setting.budget) for setting in race] for _, race in shared_races(pairs)]
    [[('cmcs', 50), ('cmcs', 100)], [('kernelshap', 50)], [('kernelshap', 100)]]
    """
    races: dict[tuple[Source, Setting], list[Setting]] = {}
    for source, setting in pairs:
        shared = setting.budget is not None and not setting.plans_by_budget
        if shared and setting.counting == "distinct":  # a budget for all coalitions leads to enumeration
            shared = (setting.budget or 0) < 2 ** source.open().game.n_players
        races.setdefault((source, setting._replace(budget=None) if shared else setting), []).append(setting)
    return [(source, sorted(race, key=lambda setting: setting.budget or 0)) for (source, _), race in races.items()]


def run_chunk(races: Sequence[tuple[Source, Sequence[Setting]]], seed: int) -> list[Row]:
    """Run some races and return the rows of all their settings."""
    return [row for source, settings in races for row in run_race(source.open(), settings, seed)]


def run_race(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> list[Row]:
    """Run one race and compare its results at all budgets with the exact values."""
    play = _external_answers if settings[0].algorithm in RIVALS else _race_answers
    rows, seconds, start = [], 0.0, time.process_time()
    for setting, answer in zip(settings, play(opened, settings, seed), strict=True):
        seconds += time.process_time() - start
        rows.append(_row(opened, setting, answer, seed, seconds))
        start = time.process_time()
    return rows


class _Answer(NamedTuple):
    players: Any
    estimates: Values | None
    evaluations: int
    calls: int
    stopped: str
    top: TopK | None = None
    """The result of an algorithm of topshap."""


def _race_answers(opened: OpenedGame, settings: Sequence[Setting], seed: int) -> Iterator[_Answer]:
    """Yield the result of a race at each budget."""
    game, race = opened.game, _race(opened, settings[0], seed)
    for setting in settings:
        if setting is not settings[0]:
            race.extend(setting.budget)  # type: ignore[arg-type]  # races with several settings have budgets
        while not race.done:  # faster than an oracle, since values are looked up in a table
            race.tell(game(race.ask()))
        top = race.result()
        yield _Answer(top.players, top.estimates, top.evaluations, top.calls, top.stopped, top)


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
    """Yield the results of an algorithm of another package."""
    for setting in settings:
        budget = check_int("budget", setting.budget, low=2)
        for_estimates, for_ties = setting.seeds(seed).spawn(2)
        answer = external.estimate(
            setting.algorithm,
            opened.game,
            budget=budget,
            seed=int(for_estimates.generate_state(1)[0]),
            counting=setting.counting,  # type: ignore[arg-type]  # checked by the ledger
        )
        if answer.estimates is None:
            yield _Answer(None, None, 0, 0, f"failed: {answer.failure}" if answer.failure else "refused")
            continue
        order = np.random.default_rng(for_ties).permutation(len(answer.estimates))  # ties are broken as in a race
        players = order[np.argsort(-answer.estimates[order], kind="stable")][: setting.k]
        yield _Answer(players, answer.estimates, answer.evaluations, answer.calls, "finished")


def _row(opened: OpenedGame, setting: Setting, answer: _Answer, seed: int, seconds: float) -> Row:
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
        seconds=seconds,
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
