"""A run for the most important players over many rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.importance_result import IMPORTANCE_KINDS, POPULATIONS, TopImportance
from topshap.core.options import CheckedOptions
from topshap.core.standing import FittedStanding
from topshap.core.stopping.credible import probability_of_larger_error
from topshap.core.validation import check_choice, check_rng, refuse
from topshap.global_importance.estimate import MeanEstimate, RowMeans
from topshap.global_importance.permutations import contributions, opposite_permutations, prefixes
from topshap.global_importance.sampled_rows import MOST_AT_ONCE, spread_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.importance_result import ImportanceKind, Population
    from topshap.core.result import Stopped
    from topshap.core.typing import Matrix, Players
    from topshap.global_importance.sampled_rows import SampledRows

BLOCK = 64
"""The largest number of rows whose coalitions are evaluated together."""
REPEATED = 8
"""One row in this many gets a second, independent sample of permutations, which shows the error due to coalitions."""
FIRST_REPEATED, FEWEST_ROWS = 2, 4
"""So many of the first rows get a second sample, and at least so many rows are visited."""
EVALUATIONS_PER_PLAYER = 1000
"""The default budget, a coalition of one row being one evaluation."""
MOST_PASSES = 20
"""With `epsilon` and without a budget, the number of times that the whole table is visited at most."""
PROCESS_FROM = 3
"""One process models the average over all rows if the budget covers this many coalitions per player and row."""
MORE_WALKS_FROM = 1.25
"""Mean magnitudes: each part of a row gets more permutations if the budget covers them this many times for all rows."""
LOOKS_APART = 1.3
"""With `epsilon`, the number of evaluations grows by this factor between two looks."""


@dataclass(frozen=True)
class Settings:
    """The options of a run."""

    k: int
    by: ImportanceKind
    population: Population = "table"
    budget: int | None = None
    epsilon: float | None = None
    delta: float = 0.05
    random_state: Any = None
    player_names: tuple[str, ...] | None = None
    output_name: str | None = None

    @classmethod
    def checked(cls, *, by: Any, population: Any, budget: Any, epsilon: Any, delta: Any, **others: Any) -> Settings:
        """Return options after a check of each of them."""
        check_choice("by", by, IMPORTANCE_KINDS)
        check_choice("population", population, POPULATIONS)
        race = CheckedOptions(budget=budget, epsilon=epsilon, delta=delta)
        return cls(by=by, population=population, budget=race.budget, epsilon=race.epsilon, delta=race.delta, **others)


class ImportanceRun:
    """A run that samples rows and permutations until the budget is spent or the top k is clear.

    Parameters
    ----------
    sampled
        The rows.
    settings
        The options.
    """

    def __init__(self, sampled: SampledRows, settings: Settings) -> None:
        self._sampled, self._settings = sampled, settings
        self._rng = check_rng(settings.random_state)
        self._magnitude = settings.by == "mean_abs"
        # A larger error of a row makes its magnitudes larger, so they need a permutation and its reverse. These are of
        # different parts if there are several.
        self._walks = 2 if self._magnitude and sampled.n_parts == 1 else 1
        self.budget = self._check_budget(settings.budget)
        """The largest number of evaluations."""
        if self._magnitude and settings.epsilon is None:
            self._walks = self._most_walks()
        self._block = max(1, min(BLOCK, MOST_AT_ONCE // max(1, self._cost * sampled.n_parts)))
        self._owner: list[Players] = []
        self._contributed: list[Matrix] = []
        self._ranks: list[Matrix] = []
        self._spent = 0

    @property
    def _cost(self) -> int:
        """The number of evaluations of a visit of a row."""
        return self._walks * (self._sampled.n_players - 1)

    def _most_walks(self) -> int:
        """Return the number of permutations for each part of a row: first all rows are visited, then they get more."""
        one_of_each = self._sampled.n_rows * (self._sampled.n_players - 1)
        covered = [walks for walks in (2, 4) if MORE_WALKS_FROM * walks * one_of_each <= self.budget]
        return max([self._walks, *covered])

    def result(self) -> TopImportance:
        """Run, and return the result."""
        per_row = self.budget // self._sampled.n_rows
        n, fixed = self._sampled.n_players, self._settings.epsilon is None
        # Mean magnitudes are not an average of the rows' games.
        averages = not self._magnitude and n > 1
        if averages and fixed and per_row >= min(PROCESS_FROM * n, 2 ** min(n, 30) - 2):
            return self._from_process(per_row)
        stopped: Stopped = "budget"
        looks, next_look = 0, 0.0
        for _ in self._blocks():
            if fixed or self._spent < next_look:
                continue
            looks, next_look = looks + 1, LOOKS_APART * self._spent
            if self._clear(self._estimate(), looks):
                stopped = "confident"
                break
        means = self._means()
        everything = self._cost == 0  # one player
        return self._top(self._estimate(), means.rows, means.values, "exact" if everything else stopped, "permutations")

    def _check_budget(self, budget: int | None) -> int:
        sampled, settings = self._sampled, self._settings
        if budget is None:
            passes = MOST_PASSES * sampled.n_rows * self._cost
            return passes if settings.epsilon is not None else EVALUATIONS_PER_PLAYER * sampled.n_players
        rows = min(sampled.n_rows, FEWEST_ROWS)
        least = (rows + FIRST_REPEATED) * self._cost
        if budget < least:
            refuse("budget", budget, must_be=f"an int of at least {least}, enough for {rows} rows")
        return budget

    def _blocks(self) -> Iterator[None]:
        """Visit rows block by block, until the budget is spent; one player needs no evaluations."""
        order = spread_order(self._sampled.gains, self._rng)
        visited = 0
        for number in range(1) if self._cost == 0 else count():
            for start in range(0, len(order), self._block):
                rows = self._affordable(order[start : start + self._block], visited, first=number == 0)
                if len(rows) == 0:
                    return
                self._visit(rows)
                visited += self._block
                yield

    def _affordable(self, rows: Players, visited: int, *, first: bool) -> Players:
        """Return the rows to visit, some of them twice on the first pass, as far as the budget goes."""
        if first and self._cost > 0:
            places = visited + np.arange(len(rows))
            twice = (places < FIRST_REPEATED) | (places % REPEATED == 0)
            rows = np.repeat(rows, np.where(twice, 2, 1))
        if self._cost > 0:
            rows = rows[: (self.budget - self._spent) // self._cost]
        return rows

    def _visit(self, chosen: Players) -> None:
        """Evaluate rows along permutations.

        If each part gets one, parts next to each other get opposite ones; rows with one part are in the order of gains.
        """
        sampled, n, parts = self._sampled, self._sampled.n_players, self._sampled.n_parts
        rows, owner = np.unique(chosen, return_inverse=True)
        owner = owner[np.argsort(sampled.gains[rows[owner]], kind="stable")]
        # A row that is visited twice gets two independent samples, not opposite ones.
        again = np.concatenate([[False], owner[1:] == owner[:-1]])
        owner = np.concatenate([owner[~again], owner[again]])
        numbers = np.repeat(rows[owner][:, None] * parts + np.arange(parts), self._walks)
        permutations = opposite_permutations(len(numbers), n, self._rng, halves=self._walks == 4)
        values = sampled.values(prefixes(permutations), np.repeat(numbers, n - 1)).reshape(len(numbers), n - 1)
        added = contributions(permutations, values, sampled.part_ends.reshape(2, -1)[:, numbers])
        self._owner.append(rows[owner])
        of_parts = added.reshape(len(owner), parts, self._walks, n).mean(axis=2)
        self._contributed.append(np.einsum("p,mpn->mn", sampled.weights, of_parts))
        if not self._magnitude:
            self._ranks.append(np.argsort(permutations, axis=1).astype(np.float64))
        self._spent += len(owner) * self._cost

    def _means(self) -> RowMeans:
        ranks = None if self._magnitude else np.concatenate(self._ranks)
        return RowMeans(np.concatenate(self._owner), np.concatenate(self._contributed), ranks)

    def _estimate(self) -> MeanEstimate:
        """Return the estimate from all rows visited so far."""
        population = None if self._settings.population == "infinite" else self._sampled.n_rows
        estimate = self._means().mean(self._sampled.covariates, magnitude=self._magnitude, population=population)
        if self._magnitude or self._settings.population == "infinite":
            return estimate
        return estimate.adding_up_to(float(self._sampled.gains.mean()))

    def _clear(self, estimate: MeanEstimate, looks: int) -> bool:
        """Return whether the top k is clear: looks share delta, as delta / (t (t + 1)) for look t."""
        settings = self._settings
        share = settings.delta / (looks * (looks + 1))
        standing = self._standing(estimate)
        return probability_of_larger_error(standing, settings.k, settings.epsilon or 0.0) <= share

    def _standing(self, estimate: MeanEstimate) -> FittedStanding:
        standing = FittedStanding(np.arange(len(estimate.means)), estimate.means)
        standing.set(estimate.means, estimate.covariance)
        return standing

    def _from_process(self, per_row: int) -> TopImportance:
        from topshap.global_importance.process import play_mean_game  # noqa: PLC0415 - imports slow parts of scipy

        sampled, settings = self._sampled, self._settings
        infinite = settings.population == "infinite"
        found = play_mean_game(
            sampled.of_all,
            sampled.ends,
            n=sampled.n_players,
            k=settings.k,
            budget=per_row,
            infinite=infinite,
            rng=self._rng,
        )
        self._spent = found.coalitions * sampled.n_rows
        stopped: Stopped = "exact" if found.exact and not infinite else "budget"
        return self._top(found.estimate, np.arange(sampled.n_rows), found.row_values, stopped, "odd-gp")

    def _top(
        self, estimate: MeanEstimate, rows: Players, row_values: Matrix, stopped: Stopped, algorithm: str
    ) -> TopImportance:
        settings, gains = self._settings, self._sampled.gains
        covariance = np.zeros_like(estimate.covariance) if stopped == "exact" else estimate.covariance
        seed = settings.random_state
        return TopImportance(
            players=self._standing(estimate).ranking(resolution=1e-12)[: settings.k].copy(),
            estimates=estimate.means,
            std_errors=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
            covariance=covariance,
            player_names=settings.player_names,
            evaluations=self._spent,
            calls=self._spent,
            budget=self.budget,
            epsilon=settings.epsilon,
            delta=None if settings.epsilon is None else settings.delta,
            stopped=stopped,
            algorithm=algorithm,
            counting="distinct",
            empty=0.0,
            grand=float(estimate.means.sum() if self._magnitude else gains.mean()),
            guarantee=None if settings.epsilon is None else "asymptotic",
            random_state=int(seed) if isinstance(seed, Integral) else None,
            output_name=settings.output_name,
            by=settings.by,
            population=settings.population,
            n_rows=len(rows),
            n_table_rows=self._sampled.n_rows,
            row_std_errors=_deviations(estimate.row_covariance),
            coalition_std_errors=_deviations(estimate.coalition_covariance),
            rows=rows,
            row_values=row_values,
        )


def _deviations(covariance: Matrix) -> Matrix:
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
