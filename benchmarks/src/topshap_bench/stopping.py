"""Stopping rules: the evaluations of lightshap's rule and of topshap's at matched terms, and how often sets are wrong.

lightshap stops when the standard errors of all estimates are at most `tol`, 0.01 by default, times the range of the
estimates, or after 10 permutations per player. It makes no statement about the top k, so the comparison is of the sets
of the k players with the highest estimates. The matched epsilon is the error that its standard errors would allow with
probability 1 - delta if the rule looked only once at estimates that are normal and independent: the difference of two
estimates has a standard error of at most sqrt(2) tol, and k (n - k) differences are tested. topshap gets this epsilon
and this delta.

A set is wrong if its inclusion-exclusion error is above the matched epsilon, whatever the rule promises.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import norm

import topshap
from topshap.core.extras import import_extra
from topshap_bench.external import random_state_of_numpy
from topshap_bench.instrumented import CountedGame
from topshap_bench.parallel import run_all
from topshap_bench.runs import error_of
from topshap_bench.sources import Source, from_folder
from topshap_bench.summary import Share, as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topshap.core.typing import Players
    from topshap_bench.sources import OpenedGame

TOLERANCE = 0.01
"""The default tolerance of lightshap."""
METHODS = ("kernel", "permutation")
"""The methods of lightshap; the first is its default for more than 8 players."""
RULES: Mapping[str, dict[str, str]] = {
    "odd-gp@k, asymptotic": {"algorithm": "odd-gp@k", "guarantee": "asymptotic"},
    "odd-gp@k, credible": {"algorithm": "odd-gp@k", "guarantee": "credible"},
    "cmcs@k, published": {"algorithm": "cmcs@k", "guarantee": "published"},
}
"""The rules of topshap: with a guarantee, without one, and that of a paper."""
AS_MANY = "odd-gp, as many evaluations"
"""odd-gp with a budget of as many distinct evaluations as lightshap has taken with its default method."""


class Terms(NamedTuple):
    """The goal of a run, and how certain the result should be."""

    k: int = 5
    tolerance: float = TOLERANCE
    delta: float = 0.05
    runs: int = 5

    def matched_epsilon(self, n_players: int) -> float:
        """Return the error that lightshap's standard errors would allow, as a fraction of the range.

        Examples
        --------
        >>> round(Terms(k=5, tolerance=0.01, delta=0.05).matched_epsilon(14), 4)
        0.0433
        """
        comparisons = self.k * (n_players - self.k)
        return float(norm.isf(self.delta / comparisons) * sqrt(2.0) * self.tolerance)


class Setting(NamedTuple):
    """All rules on one game."""

    source: Source
    terms: Terms


class Stop(NamedTuple):
    """The cost of a run and the error of its set."""

    evaluations: int
    calls: int
    stopped: bool
    """Whether the rule has ended the run, and not a limit on its length."""
    error: float
    """The inclusion-exclusion error as a fraction of the range."""
    allowed: float
    """The matched epsilon as a fraction of the range."""


def stopping(
    folder: Path,
    *,
    terms: Terms | None = None,
    families: Sequence[str] | None = None,
    half: str = "all",
    n_jobs: int | None = None,
) -> str:
    """Run all rules on the games in a folder, and return the report.

    Parameters
    ----------
    folder, families, half
        The games, see `topshap_bench.from_folder`.
    terms
        The parameters of the runs.
    n_jobs
        The number of workers.
    """
    import_extra("lightshap", extra="tables", needed_by="topshap-bench stopping")
    terms = terms or Terms()
    settings = [Setting(source, terms) for source in from_folder(folder, families=families, half=half)]
    results = run_all(run_rules, settings, n_jobs)
    head = f"k={terms.k}, tol={terms.tolerance:g}, delta={terms.delta:g}, {terms.runs} runs, {len(settings)} games"
    return f"{circumstances('lightshap')}\n\n{head}\n{report(results)}"


def run_rules(setting: Setting) -> dict[str, list[Stop]]:
    """Return the runs of every rule on a game."""
    opened, terms = setting.source.open(), setting.terms
    found: dict[str, list[Stop]] = {}
    for seed in range(terms.runs):
        runs = {f"lightshap:{method}": lightshap_run(opened, terms, method, seed) for method in METHODS}
        budget = runs[f"lightshap:{METHODS[0]}"].evaluations
        runs[AS_MANY] = _race(opened, terms, seed, algorithm="odd-gp", budget=budget)
        epsilon = terms.matched_epsilon(opened.game.n_players) * float(np.ptp(opened.exact))
        for name, rule in RULES.items():
            runs[name] = _race(opened, terms, seed, epsilon=epsilon, delta=terms.delta, **rule)
        for name, stop in runs.items():
            found.setdefault(name, []).append(stop)
    return found


def lightshap_run(opened: OpenedGame, terms: Terms, method: str, seed: int) -> Stop:
    """Run lightshap with its rule; absent players are zeros in the only background row."""
    lightshap = import_extra("lightshap", extra="tables", needed_by="topshap-bench stopping")
    counted = CountedGame(opened.game)
    n = counted.n_players
    with random_state_of_numpy(seed):
        found = lightshap.explain_any(
            lambda rows: counted(np.asarray(rows)).reshape(-1, 1),
            np.ones((1, n)),
            bg_X=np.zeros((1, n)),
            method=method,
            tol=terms.tolerance,
            random_state=seed,
            verbose=False,
        )
    players = np.argsort(-found.shap_values.reshape(-1), kind="stable")[: terms.k]
    cost = counted.ledger.evaluations, counted.ledger.calls
    return Stop(*cost, bool(found.converged.all()), *_errors(opened, terms, players))


def _race(opened: OpenedGame, terms: Terms, seed: int, **options: Any) -> Stop:
    top = topshap.identify(opened.game, k=terms.k, random_state=seed, **options)
    return Stop(top.evaluations, top.calls, top.stopped != "budget", *_errors(opened, terms, top.players))


def _errors(opened: OpenedGame, terms: Terms, players: Players) -> tuple[float, float]:
    """Return the error of a set and the matched epsilon, as fractions of the range."""
    error = error_of(opened.exact, players, ordered=False) / float(np.ptp(opened.exact))
    return error, terms.matched_epsilon(opened.game.n_players)


def report(results: Mapping[Setting, Mapping[str, Sequence[Stop]]]) -> str:
    """Return a table of the rules for every family and for all games."""
    families: dict[str, list[Mapping[str, Sequence[Stop]]]] = {}
    for setting, found in results.items():
        families.setdefault(setting.source.family, []).append(found)
    groups = {**families, "all games": list(results.values())} if len(families) > 1 else families
    lines = [
        [family, rule, *_summary([stop for found in group for stop in found[rule]])]
        for family, group in groups.items()
        for rule in group[0]
    ]
    head = ["family", "rule", "evaluations", "calls", "stopped", "error", "wrong", "not the top k"]
    return as_text(head, lines, left=2)


def _summary(runs: Sequence[Stop]) -> list[str]:
    wrong = Share(sum(stop.error > stop.allowed for stop in runs), len(runs))
    other = sum(stop.error > 0.0 for stop in runs)
    means = [f"{np.mean([getattr(stop, name) for stop in runs]):.0f}" for name in ("evaluations", "calls")]
    stopped = f"{np.mean([stop.stopped for stop in runs]):.2f}"
    return [
        *means,
        stopped,
        f"{1000 * np.mean([stop.error for stop in runs]):.2f}",
        str(wrong),
        f"{other} of {len(runs)}",
    ]
