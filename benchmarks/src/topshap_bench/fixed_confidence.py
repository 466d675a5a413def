"""Evaluations until confident, and failure rates, on complete games.

For every game and algorithm, the report shows the mean number of distinct evaluations until a race for the top k is
confident, and the failures: runs with an inclusion-exclusion error (for ordered lists, see `topshap_bench.runs`) above
epsilon, with the Clopper-Pearson interval of
their rate. If the published calls are given, it also shows the calls of CMCS@K in Table 1 of arXiv 2504.02019 divided
by the number of evaluations.
"""

from __future__ import annotations

import csv
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.statistics.ranking import rank_key
from topshap_bench.parallel import run_all
from topshap_bench.runs import error_of
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import Share, as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Game, Values


class Terms(NamedTuple):
    """The parameters of a race that stops when it is confident."""

    k: int = 5
    epsilon: float = 0.0005
    delta: float = 0.01
    runs: int = 100
    relative: bool = False
    """Whether `epsilon` is a fraction of v(N) - v(empty)."""
    rank_by: str = "value"
    ordered: bool = False
    order: int = 1
    """What is ranked: players (1) or pairs of players (2)."""


class Setting(NamedTuple):
    """One algorithm on one game."""

    source: Source
    algorithm: str
    terms: Terms


class Outcome(NamedTuple):
    """The evaluations of every run, and whether its error was above epsilon."""

    evaluations: list[int]
    failed: list[bool]

    @property
    def failures(self) -> Share:
        """The failure rate."""
        return Share(sum(self.failed), len(self.failed))


def fixed_confidence(
    folder: Path,
    *,
    terms: Sequence[Terms] = (Terms(),),
    families: Sequence[str] = ("global",),
    algorithms: Sequence[str] = ("auto",),
    baselines: Path | None = None,
    single_games: bool = False,
    n_jobs: int | None = None,
) -> str:
    """Run the races on the games in a folder, and return the report.

    Parameters
    ----------
    folder, families
        The games, see `topshap_bench.from_folder`.
    terms
        The parameters of the races, with the same k, delta and number of runs.
    algorithms
        The algorithms.
    baselines
        A folder with ``pac_global.csv``, the published calls.
    single_games
        Whether to print a line for every game of all families instead of only "global".
    n_jobs
        The number of workers.
    """
    sources = from_folder(folder, families=families)
    settings = [Setting(source, name, term) for term, source, name in product(terms, sources, algorithms)]
    results = run_all(run_setting, settings, n_jobs)
    what = "pairs " if terms[0].order == 2 else ""
    goal = f"{what}by {terms[0].rank_by}{', in order' if terms[0].ordered else ''}"
    head = f"{circumstances()}\n\nk={terms[0].k} {goal}, delta={terms[0].delta:g}, {terms[0].runs} runs"
    return f"{head}\n{report(results, published_calls(baselines), single_games=single_games)}"


def run_setting(setting: Setting) -> Outcome:
    """Run a setting with different seeds."""
    opened, terms = setting.source.open(), setting.terms
    game, exact = opened.game, opened.exact_of(terms.order)
    if terms.relative:
        terms = terms._replace(epsilon=terms.epsilon * abs(game.values[-1] - game.values[0]))
    return races(game, exact, setting.algorithm, terms)


def races(game: Game, exact: Values, algorithm: str, terms: Terms) -> Outcome:
    """Run races until confident on a game with known exact values, with different seeds."""
    epsilon = terms.epsilon
    only_published = algorithm in ALGORITHMS and "asymptotic" not in ALGORITHMS[algorithm].guarantees
    guarantee: Guarantee = "published" if only_published else "asymptotic"
    options: Any = {"epsilon": epsilon, "delta": terms.delta, "guarantee": guarantee, "algorithm": algorithm}
    options |= {"rank_by": terms.rank_by, "ordered": terms.ordered, "order": terms.order}
    tops = [topshap.identify(game, k=terms.k, random_state=seed, **options) for seed in range(terms.runs)]
    allowed = epsilon + 1e-9 * float(np.abs(exact).max())
    keys = rank_key(exact, terms.rank_by)  # type: ignore[arg-type]  # checked by identify
    failed = [error_of(keys, top.players, ordered=terms.ordered) > allowed for top in tops]
    return Outcome([top.evaluations for top in tops], failed)


def published_calls(baselines: Path | None) -> dict[str, float]:
    """Return a dict from games to the calls of CMCS@K in Table 1."""
    if baselines is None:
        return {}
    with (baselines / "pac_global.csv").open(newline="") as file:
        return {row["game"]: float(row["paper_calls"]) for row in csv.DictReader(file) if row["algorithm"] == "cmcs@k"}


def report(results: Mapping[Setting, Outcome], calls: Mapping[str, float], *, single_games: bool) -> str:
    """Return a table of the games, with a line for all games of every family, epsilon and algorithm."""
    lines = []
    groups: dict[tuple[str, float, str], list[Setting]] = {}
    for setting in results:
        groups.setdefault((setting.source.family, setting.terms.epsilon, setting.algorithm), []).append(setting)
    for (family, epsilon, algorithm), settings in sorted(groups.items()):
        means = [float(np.mean(results[setting].evaluations)) for setting in settings]
        fewer = [calls.get(s.source.name, np.nan) / mean for s, mean in zip(settings, means, strict=True)]
        if single_games or family == "global":
            for setting, mean, times in zip(settings, means, fewer, strict=True):
                name = [family, setting.source.name, algorithm, f"{epsilon:g}"]
                lines.append([*name, f"{mean:.0f}", f"{times:.1f}", results[setting].failures])
        failed = [value for setting in settings for value in results[setting].failed]
        geometric = float(np.exp(np.mean(np.log(fewer))))
        name = [family, "all, mean and geometric mean", algorithm, f"{epsilon:g}"]
        rate = Share(sum(failed), len(failed))
        lines.append([*name, f"{np.mean(means):.0f}", f"{geometric:.1f}", rate])
    return as_text(["family", "game", "algorithm", "epsilon", "evaluations", "fewer", "failures"], lines, left=3)
