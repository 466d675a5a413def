"""Errors and calibration of odd-gp for fixed budgets of distinct evaluations, on complete games.

The parameters of odd-gp were tuned on every second game of each family (half "tune"), not on the others ("judge"),
although earlier versions were evaluated on those as well. For every budget and family, the report shows the mean
inclusion-exclusion error as a fraction of the range of the Shapley values, and the geometric mean over games of
odd-gp's error divided by that of its rivals, with 0.001 of the range added to both. The last lines show the same with
one ratio per game, computed from the errors averaged over budgets.

The best of the three rivals is chosen separately for every ratio, in two ways. The "luckiest rival" is chosen by the
same runs that are reported, which favours the rival, because the smallest of three measured errors is biased downwards.
The "best rival" is chosen by one half of the runs and measured on the other, which slightly favours odd-gp, because
with few runs the choice is not always the best one. The truth lies between the two.

The second part of the report shows the coverage of odd-gp's 95% intervals for differences across the border, and how
often the set is correct, by stated confidence.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.reference.metrics import binary_precision, inclusion_exclusion_error
from topshap_bench.parallel import run_all
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

    from topshap.core.typing import Matrix, Values

OURS = "odd-gp"
RIVALS = ("kernelshap", "stratified-svarm", "greedy-cmcs")
LUCKIEST, BEST = "luckiest rival", "best rival"
BUDGETS = (50, 100, 250, 500, 1000, 2000)
KS = (1, 3, 5, 7)
ADDED = 0.001
LEAST_RUNS_OF_GLOBAL_GAMES = 10
CONFIDENCE_BINS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)


class Setting(NamedTuple):
    """One algorithm on one game with one budget; `algorithm` may be the path of a prototype."""

    source: Source
    budget: int
    algorithm: str
    runs: int

    @property
    def family(self) -> str:
        """The family of the game."""
        return self.source.family


class Outcome(NamedTuple):
    """The errors of a setting, and the data for its calibration."""

    errors: Values
    """One error per run, averaged over all k."""
    seconds: float = 0.0
    covered: Sequence[bool] = ()
    confident: Sequence[tuple[float, float]] = ()

    @property
    def error(self) -> float:
        """The mean error over all runs."""
        return float(self.errors.mean())


def fixed_budget(
    folder: Path,
    *,
    half: str = "judge",
    budgets: Sequence[int] = BUDGETS,
    runs: int = 3,
    prototype: Path | None = None,
    n_jobs: int | None = None,
) -> str:
    """Run odd-gp and its rivals on the games in a folder, and return the report.

    Parameters
    ----------
    folder, half
        The games, see `topshap_bench.from_folder`.
    budgets
        The budgets.
    runs
        The number of runs for every k, at least 10 in the family "global".
    prototype
        A Python file with a function ``topk(game, n, budget, k, seed)`` that returns estimates, as another rival.
    n_jobs
        The number of workers.
    """
    sources = from_folder(folder, half=half)
    rivals = [*RIVALS, *([str(prototype)] if prototype is not None else [])]
    settings = [
        Setting(source, budget, name, max(LEAST_RUNS_OF_GLOBAL_GAMES, runs) if source.family == "global" else runs)
        for source, budget, name in product(sources, budgets, [OURS, *rivals])
    ]
    results = run_all(run_setting, settings, n_jobs)
    head = f"{len(sources)} games ({half}), k in {KS}, topshap {topshap.__version__}"
    return "\n\n".join([head, error_report(results, rivals), calibration_report(results)])


def run_setting(setting: Setting) -> Outcome:
    """Run a setting for every k and seed."""
    game, exact, _ = setting.source.open()
    start = time.process_time()
    errors, covered, confident = [], [], []
    for k, seed in product(KS, range(setting.runs)):
        if setting.algorithm.endswith(".py"):
            estimates = _prototype(setting.algorithm).topk(game, game.n_players, setting.budget, k, seed)
            players = np.argsort(-estimates, kind="stable")[:k]
        else:
            top = topshap.identify(game, k=k, budget=setting.budget, algorithm=setting.algorithm, random_state=seed)
            players = top.players
            if setting.algorithm == OURS and top.covariance is not None:
                covered += border_coverage(top, exact)
                confident.append((top.confidence, binary_precision(exact, players)))
        errors.append(inclusion_exclusion_error(exact, players) / np.ptp(exact))
    by_run = np.reshape(errors, (len(KS), setting.runs)).mean(axis=0)
    return Outcome(by_run, (time.process_time() - start) / len(errors), covered, confident)


@lru_cache
def _prototype(path: str) -> ModuleType:
    """Import a prototype from its file."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def border_coverage(top: topshap.TopK, exact: Values, depth: int = 2) -> list[bool]:
    """Return whether the 95% intervals of differences between players at the border contain the true differences."""
    order = np.argsort(-top.estimates, kind="stable")
    covariance = top.covariance
    if not isinstance(covariance, np.ndarray):
        return []
    held = []
    for i, j in product(order[max(0, top.k - depth) : top.k], order[top.k : top.k + depth]):
        deviation = np.sqrt(max(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0))
        off = abs((top.estimates[i] - top.estimates[j]) - (exact[i] - exact[j]))
        held.append(bool(off <= 1.96 * deviation + 1e-9 * np.abs(exact).max()))
    return held


def ratio(
    results: Mapping[Setting, Outcome], settings: Iterable[Setting], rival: str, *, perfect: bool = False
) -> float:
    """Return the geometric mean over games of odd-gp's error (0 if `perfect`) divided by that of a rival."""
    logs = [
        np.log(((0.0 if perfect else results[setting].error) + ADDED) / (rival_error(results, setting, rival) + ADDED))
        for setting in settings
        if setting.algorithm == OURS
    ]
    return float(np.exp(np.mean(logs)))


def rival_error(results: Mapping[Setting, Outcome], setting: Setting, rival: str) -> float:
    """Return the error of a rival, or of the best rival, for the same game and budget."""
    if rival not in (LUCKIEST, BEST):
        return results[setting._replace(algorithm=rival)].error
    errors = np.array([results[setting._replace(algorithm=name)].errors for name in RIVALS])
    return luckiest_error(errors) if rival == LUCKIEST else best_error(errors)


def luckiest_error(errors: Matrix) -> float:
    """Return the smallest mean error, given one algorithm per row and one run per column."""
    return float(errors.mean(axis=1).min())


def best_error(errors: Matrix) -> float:
    """Return the error of the best algorithm, chosen by one half of the runs and measured on the other, both ways.

    Examples
    --------
    >>> best_error(np.array([[1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 1.0]]))
    2.0
    """
    if errors.shape[1] == 1:
        return luckiest_error(errors)
    one, other = errors[:, ::2].mean(axis=1), errors[:, 1::2].mean(axis=1)
    return float(other[one.argmin()] + one[other.argmin()]) / 2.0


def averaged_over_budgets(results: Mapping[Setting, Outcome]) -> dict[Setting, Outcome]:
    """Return one setting per game and algorithm, with the errors averaged over budgets."""
    by_game: dict[Setting, list[Values]] = {}
    for setting, outcome in results.items():
        by_game.setdefault(setting._replace(budget=0), []).append(outcome.errors)
    return {setting: Outcome(np.mean(errors, axis=0)) for setting, errors in by_game.items()}


def error_report(results: Mapping[Setting, Outcome], rivals: Sequence[str]) -> str:
    """Return a table with a line for every budget and family, and the ratios over all of them."""
    names = {rival: Path(rival).stem + " (prototype)" if rival.endswith(".py") else rival for rival in rivals}
    families = sorted({setting.family for setting in results})
    budgets = sorted({setting.budget for setting in results})
    columns = ["budget", "family", OURS, *(text for name in names.values() for text in (name, "ratio"))]
    lines = []
    for budget, family in [*product(budgets, [*families, "all"]), (None, "all")]:
        chosen = [s for s in results if budget in (s.budget, None) and family in (s.family, "all")]
        ours = [results[s] for s in chosen if s.algorithm == OURS]
        line = [str(budget or "all"), family, f"{1000 * np.mean([o.error for o in ours]):.2f}"]
        for rival in rivals:
            mean = 1000 * np.mean([results[s].error for s in chosen if s.algorithm == rival])
            line += [f"{mean:.2f}", f"{ratio(results, chosen, rival):.3f}"]
        line += [f"{ratio(results, chosen, name):.3f}" for name in (LUCKIEST, BEST)]
        lines.append([*line, f"{np.mean([o.seconds for o in ours]):.3f}"])
    every = {**names, LUCKIEST: LUCKIEST, BEST: BEST}
    perfect = {name: ratio(results, results, name, perfect=True) for name in (*RIVALS, LUCKIEST, BEST)}
    by_game = averaged_over_budgets(results)
    averaged = {name: ratio(by_game, by_game, rival) for rival, name in every.items()}
    return "\n\n".join(
        [
            "mean errors in thousandths of the range, ratios of errors",
            as_text([*columns, LUCKIEST, BEST, "s/run"], lines, left=2),
            f"An algorithm without any error would have the ratios {_listed(perfect)}.",
            f"With one ratio per game, of the errors averaged over budgets: {_listed(averaged)}.",
        ]
    )


def _listed(ratios: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.3f} ({name})" for name, value in ratios.items())


def calibration_report(results: Mapping[Setting, Outcome]) -> str:
    """Return the coverage of intervals by family, and the rate of correct sets by confidence."""
    coverage = []
    for family in [*sorted({setting.family for setting in results}), "all"]:
        held = [h for s, o in results.items() if family in (s.family, "all") for h in o.covered]
        coverage.append([family, f"{np.mean(held):.3f}", len(held)])
    stated, right = np.array([pair for outcome in results.values() for pair in outcome.confident]).T
    by_confidence = []
    for low, high in pairwise(CONFIDENCE_BINS):
        inside = (stated >= low) & (stated < high)
        if inside.any():
            means = [f"{numbers[inside].mean():.3f}" for numbers in (stated, right)]
            by_confidence.append([f"{low:.2f}-{min(high, 1):.2f}", *means, inside.sum()])
    return "\n\n".join(
        [
            "95% intervals of differences across the border",
            as_text(["family", "coverage", "intervals"], coverage),
            as_text(["confidence", "stated", "right", "runs"], by_confidence),
        ]
    )
