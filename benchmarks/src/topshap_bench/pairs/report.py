"""The tables of the comparison of pairs: errors of odd-gp, their ratios to those of rivals, and the rivals.

Ratios are geometric means over games and k of odd-gp's error divided by that of a rival, both averaged over runs, with
`ADDED` of the range added. The "best rival" of a game, budget and k is chosen in other runs than those in which it is
measured, see `topshap_bench.best_rival`; rivals with fewer runs than others are not chosen.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap_bench.best_rival import error_of_best
from topshap_bench.summary import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OURS = "odd-gp"
BEST = "best rival"
ADDED = 0.01


class PairRow(NamedTuple):
    """One run for one k."""

    family: str
    game: str
    budget: int
    algorithm: str
    k: int
    seed: int
    tuned: int
    """Whether constants were chosen on the game, 0 or 1."""
    error: float
    """The inclusion-exclusion error over the range of the magnitudes."""
    precision: float
    """The share of the top k that was found."""
    square: float
    """The mean squared error of all pairs over the squared range of the magnitudes."""
    coverage: float | None
    """The coverage of 95% intervals of all pairs, None for rivals."""
    seconds: float
    spent: float
    """The share of the budget that was spent."""

    @property
    def key(self) -> tuple[str, str, int, str, int, int]:
        """The setting of the run."""
        return self[:6]

    @property
    def label(self) -> str:
        """The family of the game, and whether constants were chosen on it."""
        return self.family + (" (tuned)" if self.tuned else "")


def report(rows: Sequence[PairRow], ks: Sequence[int], rivals: Sequence[str]) -> str:
    """Return the tables of errors, of ratios and of rivals."""
    own = [row for row in rows if row.algorithm == OURS]
    labels, budgets = sorted({row.label for row in own}), sorted({row.budget for row in own})
    names = [*rivals, *([BEST] if len(rivals) > 1 else [])]
    errors, ratios = errors_of_runs(rows), []
    ours = []
    for budget, label in product([*budgets, None], [*labels, "not tuned", "all"]):
        chosen = [row for row in own if _belongs(row, label) and budget in (row.budget, None)]
        if chosen:
            where = [label, str(budget or "all")]
            ours.append([*where, len({row[:3] for row in chosen}), *_own_figures(chosen, ks)])
            ratios.append([*where, *(_as_ratio(ratio(errors, chosen, name, rivals)) for name in names)])
    precisions = [f"p@{k}" for k in ks]
    header = ["family", "budget", "games", "error", *precisions, "rmse", "coverage", "s/run"]
    parts = ["odd-gp: errors in thousandths of the range", as_text(header, ours, left=2)]
    if rivals:
        perfect = [f"{_as_ratio(ratio(errors, own, name, rivals, perfect=True))} ({name})" for name in names]
        details = [[name, *_figures([row for row in rows if row.algorithm == name], ks)] for name in rivals]
        parts += [f"ratios of errors, {ADDED} added", as_text(["family", "budget", *names], ratios, left=2)]
        parts += [f"An algorithm without any error would have the ratios {', '.join(perfect)}."]
        parts += ["rivals, all games and budgets", as_text(["rival", *precisions, "spent", "s/run"], details)]
    return "\n\n".join(parts)


def errors_of_runs(rows: Iterable[PairRow]) -> dict[tuple[str, str, int, str, int], list[float]]:
    """Return the errors of the runs in the order of their seeds, by family, game, budget, algorithm and k."""
    groups: dict[tuple[str, str, int, str, int], list[float]] = {}
    for row in sorted(rows, key=lambda row: row.seed):
        groups.setdefault(row[:5], []).append(row.error)
    return groups


def ratio(
    errors: dict[tuple[str, str, int, str, int], list[float]],
    chosen: Iterable[PairRow],
    rival: str,
    rivals: Sequence[str],
    *,
    perfect: bool = False,
) -> float:
    """Return the geometric mean of odd-gp's error divided by that of a rival, or of the best one.

    Parameters
    ----------
    errors
        The errors of all runs, see `errors_of_runs`.
    chosen
        The runs of odd-gp whose games, budgets and k count; those without a run of the rival do not.
    rival, rivals
        The rival, or `BEST`, and all rivals.
    perfect
        Whether to replace odd-gp's error by 0.
    """
    ratios = []
    for family, game, budget, _, k in dict.fromkeys(row[:5] for row in chosen):
        names = rivals if rival == BEST else [rival]
        theirs = {name: errors[cell] for name in names if (cell := (family, game, budget, name, k)) in errors}
        if theirs:
            runs = max(len(each) for each in theirs.values())  # slow rivals have fewer: compare the same seeds
            ours = 0.0 if perfect else float(np.mean(errors[family, game, budget, OURS, k][:runs]))
            ratios.append((ours + ADDED) / (error_of_best(theirs) + ADDED))
    return _geometric_mean(ratios) if ratios else float("nan")


def _as_ratio(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _own_figures(rows: Sequence[PairRow], ks: Sequence[int]) -> list[str]:
    """Return the error, precisions, root mean square error, coverage and seconds of odd-gp as text."""
    *precisions, _, seconds = _figures(rows, ks)
    error = np.mean([row.error for row in rows])
    coverage = np.mean([row.coverage for row in rows if row.coverage is not None])
    root = np.sqrt(_geometric_mean([row.square + 1e-6 for row in rows]))
    return [f"{1000 * error:.1f}", *precisions, f"{root:.4f}", f"{coverage:.3f}", seconds]


def _figures(rows: Sequence[PairRow], ks: Sequence[int]) -> list[str]:
    """Return the precisions, the share of the budget and the seconds of an algorithm as text."""
    precisions = [np.mean([row.precision for row in rows if row.k == k]) for k in ks]
    spent, seconds = np.mean([row.spent for row in rows]), np.mean([row.seconds for row in rows])
    return [f"{value:.3f}" for value in (*precisions, spent, seconds)]


def _belongs(row: PairRow, label: str) -> bool:
    return label in (row.label, "all") or (label == "not tuned" and not row.tuned)


def _geometric_mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))
