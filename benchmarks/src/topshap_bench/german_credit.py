"""The German credit game of Table 1 in arXiv 2504.02019, whose 2**20 coalitions are too many to enumerate.

The races play the game itself: a random forest of 20 trees is trained when a race asks for a coalition, and every value
is kept in a store that all races share. An interrupted run continues where it ended.

The exact Shapley values are unknown. They are estimated by KernelSHAP with many evaluations, with the covariance of its
random draws. The error of a race is judged with that uncertainty: a run is right or wrong if its inclusion-exclusion
error is at most or above epsilon with a probability of at least 97.5%, and undecided otherwise.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tqdm import tqdm

import topshap
from topshap.core.errors import ParameterError
from topshap.core.validation import check_choice, check_int, front_door
from topshap.games import RetrainingGame
from topshap.reference.metrics import inclusion_exclusion_error
from topshap_bench.contestants import version_of
from topshap_bench.datasets import load_dataset
from topshap_bench.paper import DELTA, EPSILON, OURS, PAC, PAC_K
from topshap_bench.parallel import in_order
from topshap_bench.results_file import ResultsFile
from topshap_bench.settings import Setting
from topshap_bench.summary import as_text, circumstances, mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from topshap.core.typing import Matrix

NAME = "german-credit"
ALGORITHMS = ("cmcs@k", "samplingshap@k", OURS)
"""The algorithms that are run by default; `cmcs` and `greedy-cmcs` need the most calls."""
TRUTH = "kernelshap"
DRAWS = 4000
SURE = 0.975
"""The probability from which on a run counts as right or wrong."""
LISTED = 8


class Race(NamedTuple):
    """The result of one race: a row of the results file."""

    algorithm: str
    run: int
    seed: int
    version: str
    fingerprint: str
    calls: int
    evaluations: int
    stopped: str
    players: str
    """The indices of the returned players, separated by spaces."""


class Verdicts(NamedTuple):
    """The number of runs that are right, undecided and wrong."""

    right: int
    undecided: int
    wrong: int


@front_door
def german_credit(
    folder: Path,
    *,
    datasets: Path | None = None,
    algorithms: Sequence[str] = ALGORITHMS,
    runs: int = 2,
    truth: int = 40_000,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> str:
    """Play the races of Table 1 on the German credit game; write ``german-credit.csv`` and ``german-credit.txt``.

    Parameters
    ----------
    folder
        The output folder. It also has the store ``german-credit.db`` with the values of all trained coalitions.
    datasets
        The folder with the dataset, instead of OpenML.
    algorithms
        Algorithms of Table 1 or ``"odd-gp@k"``.
    runs
        The number of races of each algorithm.
    truth
        The number of evaluations of the long run that estimates the Shapley values.
    seed
        The seed of the experiment.
    n_jobs
        The number of workers: each plays a race, and they share the evaluations of the long run.
    progress
        Whether to show a progress bar of the races.
    """
    check_int("runs", runs, low=1)
    for name in algorithms:
        check_choice("algorithms", name, (*PAC, OURS))
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / f"{NAME}.db"
    long_run = estimate(store, truth, datasets=datasets, seed=seed, n_jobs=n_jobs)
    tasks = list(product(algorithms, range(runs)))
    races = play(folder, tasks, datasets=datasets, seed=seed, n_jobs=n_jobs, progress=progress)
    text = f"{circumstances('scikit-learn')}\n\n{report(races, long_run)}"
    (folder / f"{NAME}.txt").write_text(text + "\n", encoding="utf-8")
    return text


@lru_cache(maxsize=1)
def game_of(datasets: Path | None) -> RetrainingGame:
    """Return the game, as the paper defines its global games."""
    X, y, task = load_dataset(NAME, folder=datasets)
    return RetrainingGame.random_forest(X, y, task=task)


def estimate(store: Path, budget: int, *, datasets: Path | None, seed: int, n_jobs: int | None) -> topshap.TopK:
    """Return the long run that estimates the Shapley values."""
    game = game_of(datasets)
    setting = Setting("global", NAME, TRUTH, PAC_K, str(game.fingerprint)[:12], budget=budget)
    rng = np.random.default_rng(setting.seeds(seed))
    top = topshap.identify(game, k=PAC_K, budget=budget, algorithm=TRUTH, random_state=rng, store=store, n_jobs=n_jobs)
    if not isinstance(top.covariance, np.ndarray):
        raise ParameterError(f"The standard errors of the Shapley values need more than {budget} evaluations.")
    return top


def play(
    folder: Path,
    tasks: Sequence[tuple[str, int]],
    *,
    datasets: Path | None,
    seed: int,
    n_jobs: int | None,
    progress: bool = False,
) -> list[Race]:
    """Play the races, given by algorithm and number, that are not yet in the results file, and return all of them."""
    fingerprint = str(game_of(datasets).fingerprint)[:12]
    with ResultsFile(folder / f"{NAME}.csv", Race) as results:
        known = {race[:5]: race for race in results.rows}
        keys = [(name, run, seed, version_of(name), fingerprint) for name, run in tasks]
        missing = [key for key in keys if key not in known]
        answers = in_order(partial(play_one, store=folder / f"{NAME}.db", datasets=datasets), missing, n_jobs)
        for race in tqdm(answers, total=len(missing), unit="race", disable=not progress):
            results.add([race])
            known[race[:5]] = race
    return [known[key] for key in keys]


def play_one(key: tuple[str, int, int, str, str], store: Path, datasets: Path | None) -> Race:
    """Play one race until it is confident."""
    name, run, seed, _, fingerprint = key
    guarantee, counting = ("asymptotic", "distinct") if name == OURS else ("published", "calls")
    terms: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "guarantee": guarantee, "counting": counting}
    setting = Setting("global", NAME, name, PAC_K, fingerprint, unit="value", run=run, **terms)
    rng = np.random.default_rng(setting.seeds(seed))
    top = topshap.identify(game_of(datasets), k=PAC_K, algorithm=name, random_state=rng, store=store, n_jobs=1, **terms)
    players = " ".join(map(str, sorted(top.players.tolist())))
    return Race(*key, top.calls, top.evaluations, top.stopped, players)


def probability_right(races: Sequence[Race], draws: Matrix) -> list[float]:
    """Return the fraction of draws of the Shapley values, one per row, in which the error is at most epsilon."""
    by_set = {
        text: float(np.mean([inclusion_exclusion_error(values, map(int, text.split())) <= EPSILON for values in draws]))
        for text in {race.players for race in races}
    }
    return [by_set[race.players] for race in races]


def verdicts(probabilities: Sequence[float]) -> Verdicts:
    """Count the runs that are right, undecided and wrong.

    Examples
    --------
    >>> verdicts([1.0, 0.98, 0.6, 0.01])
    Verdicts(right=2, undecided=1, wrong=1)
    """
    right = sum(p >= SURE for p in probabilities)
    wrong = sum(1.0 - p >= SURE for p in probabilities)
    return Verdicts(right, len(probabilities) - right - wrong, wrong)


def report(races: Sequence[Race], long_run: topshap.TopK) -> str:
    """Return the row of Table 1, a line per algorithm, and the estimated Shapley values."""
    covariance = np.asarray(long_run.covariance)
    draws = np.random.default_rng(0).multivariate_normal(long_run.estimates, covariance, DRAWS)
    lines = []
    for name in dict.fromkeys(race.algorithm for race in races):
        group = [race for race in races if race.algorithm == name]
        calls, distinct = (mean_of(getattr(race, column) for race in group) for column in ("calls", "evaluations"))
        judged = verdicts(probability_right(group, draws))
        lines.append([name, str(calls), str(distinct), *judged, len(group)])
    columns = ["algorithm", "calls", "distinct", *Verdicts._fields, "runs"]
    terms = (
        f"Table 1, German credit, {long_run.n_players} players: k = {PAC_K}, epsilon = {EPSILON:g}, delta = {DELTA:g}"
    )
    return f"{terms}\n{as_text(columns, lines)}\n\n{report_of_values(long_run)}"


def report_of_values(long_run: topshap.TopK) -> str:
    """Return the highest values with their standard errors, and the gap between those on both sides of the border."""
    order = np.argsort(-long_run.estimates, kind="stable")
    lines = [
        [long_run.name_of(i), f"{long_run.estimates[i]:.5f}", f"{long_run.std_errors[i]:.5f}"] for i in order[:LISTED]
    ]
    i, j = order[PAC_K - 1 : PAC_K + 1]
    covariance = np.asarray(long_run.covariance)
    error = np.sqrt(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
    gap = long_run.estimates[i] - long_run.estimates[j]
    about = f"Shapley values by {TRUTH} with {long_run.evaluations:,} evaluations, and their standard errors"
    border = f"gap between ranks {PAC_K} and {PAC_K + 1}: {gap:.5f}, standard error {error:.5f}"
    return f"{about}\n{as_text(['feature', 'value', 'error'], lines)}\n\n{border}"
