"""Evaluations until confident on games of many players with known Shapley values.

unanimity-N   a sum of 2 N unanimity games of one to six of N players
trees-N       the prediction of boosted trees with N features for one row, with absent features averaged over 20 other
              rows; the exact values are the interventional ones of the trees

For every game and algorithm, the report shows the mean number of distinct evaluations; the factor by which it is lower
than that of ``cmcs@k`` with its published rule; the failures, runs with an inclusion-exclusion error above epsilon,
with the Clopper-Pearson interval of their rate; and the seconds per run.
"""

from __future__ import annotations

import math
import time
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import make_regression
from sklearn.ensemble import GradientBoostingRegressor

from topshap.games import UnanimityGame
from topshap_bench.fixed_confidence import Outcome, Terms, races
from topshap_bench.parallel import run_all
from topshap_bench.summary import as_text, circumstances

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from topshap.core.typing import Coalitions, Values

GAMES = ("unanimity-30", "unanimity-60", "unanimity-100", "unanimity-300", "trees-30", "trees-50")
PUBLISHED = "cmcs@k"
ALGORITHMS = ("odd-gp@k", "swap@k", PUBLISHED)
ROWS = 20


class Setting(NamedTuple):
    """One algorithm on one game; `epsilon` is a fraction of the range of the Shapley values."""

    game: str
    algorithm: str
    terms: Terms


class Result(NamedTuple):
    """The outcome of the races, and the seconds per race."""

    outcome: Outcome
    seconds: float


class BoostedTrees:
    """The prediction of boosted trees for one row, with absent features taken from other rows."""

    def __init__(self, n_players: int, seed: int) -> None:
        self.n_players = n_players
        x, y = make_regression(600, n_players, n_informative=n_players // 2, noise=5.0, random_state=seed)
        y += 20.0 * x[:, 0] * x[:, 1] + 10.0 * np.abs(x[:, 2])
        self._model = GradientBoostingRegressor(n_estimators=100, max_depth=4, random_state=seed).fit(x, y)
        self._row, self._others = x[0].astype(np.float32), x[1 : 1 + ROWS].astype(np.float32)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the mean prediction for each coalition."""
        mixed = np.where(coalitions[:, None], self._row, self._others)
        predictions: Values = self._model.predict(mixed.reshape(-1, self.n_players))
        return predictions.reshape(len(coalitions), ROWS).mean(axis=1)

    def shapley_values(self) -> Values:
        """Return the exact Shapley values.

        For one other row, a leaf is reached if certain features P come from the explained row and certain features Q do
        not. This is a game with the Shapley values (p-1)! q! / (p+q)! in P and -p! (q-1)! / (p+q)! in Q, times the
        value of the leaf.
        """
        phi = np.zeros(self.n_players)
        for tree, other in product(self._model.estimators_[:, 0], self._others):
            for value, inside, outside in self._leaves(tree.tree_, other):
                p, q = len(inside), len(outside)
                whole = math.factorial(p + q)
                if p:
                    phi[list(inside)] += value * math.factorial(p - 1) * math.factorial(q) / whole
                if q:
                    phi[list(outside)] -= value * math.factorial(p) * math.factorial(q - 1) / whole
        return self._model.learning_rate * phi / ROWS

    def _leaves(self, tree: Any, other: Values) -> Iterator[tuple[float, frozenset[int], frozenset[int]]]:
        """Yield the value of every reachable leaf, with the players that must be present and absent."""
        todo: list[tuple[int, frozenset[int], frozenset[int]]] = [(0, frozenset(), frozenset())]
        while todo:
            node, inside, outside = todo.pop()
            feature = int(tree.feature[node])
            if feature < 0:
                yield float(tree.value[node, 0, 0]), inside, outside
                continue
            own, others = (
                tree.children_left[node] if row[feature] <= tree.threshold[node] else tree.children_right[node]
                for row in (self._row, other)
            )
            if feature not in outside:
                todo.append((own, inside if own == others else inside | {feature}, outside))
            if feature not in inside and own != others:
                todo.append((others, inside, outside | {feature}))
            elif feature in outside:
                todo.append((others, inside, outside))


def unanimity(n: int, seed: int) -> UnanimityGame:
    """Return a sum of unanimity games."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(n, rng.integers(1, 7), replace=False).tolist() for _ in range(2 * n)]
    return UnanimityGame(sets, rng.exponential(size=2 * n), n_players=n)


KINDS = {"unanimity": unanimity, "trees": BoostedTrees}


def large_confidence(
    *,
    games: Sequence[str] = GAMES,
    algorithms: Sequence[str] = ALGORITHMS,
    terms: Terms = Terms(epsilon=0.05, delta=0.05, runs=20),  # noqa: B008 - a named tuple is immutable
    n_jobs: int | None = None,
) -> str:
    """Run the races and return the report; `epsilon` is a fraction of the range of the Shapley values."""
    settings = [Setting(game, algorithm, terms) for game, algorithm in product(games, algorithms)]
    text = f"k={terms.k}, epsilon={terms.epsilon:g} of the range, delta={terms.delta:g}, {terms.runs} runs"
    return f"{circumstances()}\n\n{text}\n{report(run_all(run_setting, settings, n_jobs))}"


def run_setting(setting: Setting) -> Result:
    """Run a setting with different seeds."""
    kind, players = setting.game.split("-")
    game: Any = KINDS[kind](int(players), 0)
    exact = game.shapley_values()
    terms = setting.terms._replace(epsilon=setting.terms.epsilon * float(np.ptp(exact)))
    start = time.perf_counter()
    outcome = races(game, exact, setting.algorithm, terms)
    return Result(outcome, (time.perf_counter() - start) / terms.runs)


def report(results: Mapping[Setting, Result]) -> str:
    """Return a table with a line for every game and algorithm."""
    lines = []
    for setting, (outcome, seconds) in results.items():
        mean = float(np.mean(outcome.evaluations))
        rival = results.get(setting._replace(algorithm=PUBLISHED))
        fewer = float("nan") if rival is None else float(np.mean(rival.outcome.evaluations)) / mean
        numbers = [f"{mean:.0f}", f"{fewer:.2f}", outcome.failures, f"{seconds:.1f}"]
        lines.append([setting.game, setting.algorithm, *numbers])
    return as_text(["game", "algorithm", "evaluations", "fewer", "failures", "seconds"], lines, left=2)
