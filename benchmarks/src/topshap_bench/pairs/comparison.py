"""Errors and coverage of odd-gp for pairs of players by magnitude, next to algorithms of shapiq.

All algorithms spend equally many distinct evaluations; budgets that cover all coalitions are left out. The error of a
set of k pairs is its inclusion-exclusion error as a fraction of the range of the magnitudes |SII|. Ratios are geometric
means over games of odd-gp's error divided by that of a rival, both averaged over runs, with `ADDED` of the range added.
The "best rival" is the one with the smallest error on the game and budget, which favours it: the smallest of several
measured errors is biased downwards.

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
from topshap_bench.pairs.model_games import model_games
from topshap_bench.pairs.rivals import RIVALS, estimate_pairs
from topshap_bench.parallel import run_all
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from topshap.core.typing import Values

OURS = "odd-gp"
BEST = "best rival"
BUDGETS = (100, 250, 500, 1000, 2000)
KS = (3, 5, 10)
ADDED = 0.01
PUBLISHED = ("local-adult", "local-image", "local-nlp")
"""Families of which every second game, starting with the first, was used to choose constants."""


class Setting(NamedTuple):
    """One algorithm on one game with one budget."""

    source: Source
    tuned: bool
    budget: int
    algorithm: str
    ks: tuple[int, ...]
    seeds: int

    @property
    def label(self) -> str:
        """The family of the game, and whether constants were chosen on it."""
        return self.source.family + (" (tuned)" if self.tuned else "")


class Outcome(NamedTuple):
    """The results of a setting, averaged over runs."""

    errors: Values
    """The inclusion-exclusion error for every k."""
    precisions: Values
    """The share of the top k that was found, for every k."""
    square: float
    """The mean squared error of all pairs over the squared range of the magnitudes."""
    coverage: float
    """The coverage of 95% intervals of all pairs, nan for rivals."""
    seconds: float
    spent: float
    """The share of the budget that was spent."""


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
    n_jobs
        The number of workers.
    """
    games = [] if folder is None else _published(folder, families, half)
    games += [(source, False) for source in model_games(models)] if models is not None else []
    settings = [
        Setting(source, tuned, budget, name, tuple(ks), seeds)
        for (source, tuned), budget, name in product(games, budgets, [OURS, *rivals])
        if budget < 2 ** source.open().game.n_players
    ]
    results = run_all(run_setting, settings, n_jobs)
    head = f"{len(games)} games, k in {tuple(ks)}, {seeds} runs"
    return "\n\n".join([circumstances(), head, report(results, ks, rivals)])


def _published(folder: Path, families: Sequence[str] | None, half: str) -> list[tuple[Source, bool]]:
    """Return the games of a folder, and whether constants were chosen on them."""
    tuned = {s for s in from_folder(folder, half="tune") if s.family in PUBLISHED}
    tuned |= {s for s in from_folder(folder) if s.family == "global"}
    return [(source, source in tuned) for source in from_folder(folder, families=families, half=half)]


@lru_cache(maxsize=64)
def exact_interactions(source: Source) -> Values:
    """Return the exact interactions of all pairs of a complete game."""
    return interactions_from_table(source.open().game.values)


def run_setting(setting: Setting) -> Outcome:
    """Run a setting for every k and seed; a rival, which does not depend on k, only once for every seed."""
    exact = exact_interactions(setting.source)
    magnitudes = np.abs(exact)
    unit = float(np.ptp(magnitudes)) or 1.0
    errors, precisions, squares, coverage, seconds, spent = ([] for _ in range(6))
    for seed in range(setting.seeds):
        run = None
        for k in setting.ks:
            run = one_run(setting, k, seed) if run is None or setting.algorithm == OURS else run
            top = np.argsort(-np.abs(run.estimates), kind="stable")[:k]
            errors.append(inclusion_exclusion_error(magnitudes, top) / unit)
            precisions.append(ratio_precision(magnitudes, top))
            off = np.abs(run.estimates - exact)
            squares.append(np.mean(off**2) / unit**2)
            if run.std_errors is not None:
                coverage.append(np.mean(off <= 1.96 * run.std_errors + 1e-9 * magnitudes.max()))
            seconds.append(run.seconds)
            spent.append(run.spent)
    by_k = (setting.seeds, len(setting.ks))
    return Outcome(
        np.reshape(errors, by_k).mean(axis=0),
        np.reshape(precisions, by_k).mean(axis=0),
        float(np.mean(squares)),
        float(np.mean(coverage)) if coverage else np.nan,
        float(np.mean(seconds)),
        float(np.mean(spent)),
    )


def one_run(setting: Setting, k: int, seed: int) -> Run:
    """Run an algorithm once; a rival whose smallest budget is larger estimates 0."""
    game, start = setting.source.open().game, time.process_time()
    if setting.algorithm == OURS:
        top = topshap.identify(game, k=k, budget=setting.budget, order=2, algorithm=OURS, random_state=seed)
        seconds = time.process_time() - start
        return Run(top.estimates, top.std_errors, seconds, top.evaluations / setting.budget)
    answer = estimate_pairs(setting.algorithm, game, budget=setting.budget, seed=seed)
    found = np.zeros(len(exact_interactions(setting.source))) if answer.estimates is None else answer.estimates
    return Run(found, None, time.process_time() - start, answer.evaluations / setting.budget)


def report(results: Mapping[Setting, Outcome], ks: Sequence[int], rivals: Sequence[str]) -> str:
    """Return the tables of errors, of ratios and of rivals."""
    labels, budgets = sorted({s.label for s in results}), sorted({s.budget for s in results})
    names = [*rivals, *([BEST] if len(rivals) > 1 else [])]
    ours, ratios = [], []
    for budget, label in product([*budgets, None], [*labels, "not tuned", "all"]):
        chosen = [s for s in results if _belongs(s, label) and budget in (s.budget, None) and s.algorithm == OURS]
        if chosen:
            where = [label, str(budget or "all")]
            ours.append([*where, len(chosen), *_own_figures([results[s] for s in chosen])])
            ratios.append([*where, *(f"{ratio(results, chosen, name):.3f}" for name in names)])
    precisions = [f"p@{k}" for k in ks]
    header = ["family", "budget", "games", "error", *precisions, "rmse", "coverage", "s/run"]
    parts = ["odd-gp: errors in thousandths of the range", as_text(header, ours, left=2)]
    if rivals:
        every = [s for s in results if s.algorithm == OURS]
        limits = ", ".join(f"{ratio(results, every, name, perfect=True):.3f} ({name})" for name in names)
        details = [[name, *_figures([o for s, o in results.items() if s.algorithm == name])] for name in rivals]
        parts += [f"ratios of errors, {ADDED} added", as_text(["family", "budget", *names], ratios, left=2)]
        parts += [f"An algorithm without any error would have the ratios {limits}."]
        parts += ["rivals, all games and budgets", as_text(["rival", *precisions, "spent", "s/run"], details)]
    return "\n\n".join(parts)


def _own_figures(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the error, precisions, root mean square error, coverage and seconds of odd-gp as text."""
    *precisions, _, seconds = _figures(outcomes)
    error, coverage = (np.mean([getattr(o, field) for o in outcomes]) for field in ("errors", "coverage"))
    root = np.sqrt(_geometric_mean([o.square + 1e-6 for o in outcomes]))
    return [f"{1000 * error:.1f}", *precisions, f"{root:.4f}", f"{coverage:.3f}", seconds]


def _figures(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the precisions, the share of the budget and the seconds of an algorithm as text."""
    spent, seconds = (np.mean([getattr(o, field) for o in outcomes]) for field in ("spent", "seconds"))
    return [f"{value:.3f}" for value in (*np.mean([o.precisions for o in outcomes], axis=0), spent, seconds)]


def _belongs(setting: Setting, label: str) -> bool:
    return label in (setting.label, "all") or (label == "not tuned" and not setting.tuned)


def _geometric_mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def ratio(
    results: Mapping[Setting, Outcome], settings: Iterable[Setting], rival: str, *, perfect: bool = False
) -> float:
    """Return the geometric mean over games and k of odd-gp's error divided by that of a rival, with `ADDED` to both.

    If `perfect`, odd-gp's error is replaced by 0.
    """
    ratios: list[float] = []
    for setting in settings:
        others = [o for s, o in results.items() if s[:3] == setting[:3] and s.algorithm in (rival, *_all(rival))]
        theirs = np.min([o.errors for o in others], axis=0)
        ours = 0.0 * theirs if perfect else results[setting].errors
        ratios += ((ours + ADDED) / (theirs + ADDED)).tolist()
    return _geometric_mean(ratios)


def _all(rival: str) -> Sequence[str]:
    return tuple(RIVALS) if rival == BEST else ()
