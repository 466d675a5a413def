"""Few evaluations for many players: random halves, and a model of games in which few players matter.

Where there are fewer evaluations than players, comparing single players says nothing about most of them. Random
coalitions of half of the players say something about all, and are enough to find few important ones; see `active_sets`.
Half of the budget is spent on these at once. Further batches contain the coalitions that the plausible active sets
disagree about most.

With somewhat more evaluations than players, the first coalitions decide: if a model of some of them predicts the
others, the game is sparse. Otherwise single players are compared, see `small_budget`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap.algorithms.odd_gp.active_sets import ActiveSets
from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate, adding_up
from topshap.core.algorithm import Round
from topshap.core.coalitions import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from topshap.core.typing import Coalitions, Matrix, Values

MAX_PLAYERS, MAX_EVALUATIONS, MAX_OUTPUTS = 200, 256, 16
"""The largest numbers of players, evaluations and outputs for the model, whose cost grows with all of them."""
FIRST_SHARE, BATCHES = 0.5, 3
"""The share of the first coalitions, and the number of batches after them."""
CANDIDATES = 200
"""The number of coalitions that a batch is chosen from."""
CHECKED, CHECKED_PER_PLAYER, PREDICTED = 24, 0.1, 8
"""The number of first coalitions that decide whether a game is sparse, in addition per player, and how many of them are
predicted from the others."""
EXPLAINED = 0.4
"""The share of the variance of the values that must be predicted in a sparse game.

The check is rough, since few coalitions are predicted. If a game passes in which all players matter, the model still
has the alternative of effects of all players.
"""
NOISE = 0.01
"""The variance of a value that is predicted for certain, when coalitions of a batch are chosen."""


Plan: TypeAlias = Literal["sparse", "check", "single players"]
"""How a small budget is spent: on a sparse model, on one if the first coalitions suggest it, or on single players."""


def plan_for(n: int, budget: int, n_outputs: int = 1) -> Plan:
    """Return how a budget of less than one complement pair per player is spent.

    Examples
    --------
    >>> plan_for(104, 62), plan_for(104, 126), plan_for(14, 20)
    ('sparse', 'check', 'single players')
    """
    if n > MAX_PLAYERS or budget > MAX_EVALUATIONS or n_outputs > MAX_OUTPUTS:
        return "single players"
    if budget < n:
        return "sparse"
    checked = n_checked(n)
    return "check" if budget >= n + checked or n >= 3 * checked else "single players"


def n_checked(n: int) -> int:
    """Return the number of first coalitions that decide whether a game of n players is sparse."""
    return CHECKED + int(CHECKED_PER_PLAYER * n)


class SparseRun:
    """The coalitions and values of a run, and the estimate from them.

    Parameters
    ----------
    n, k
        The number of players, and of those to find.
    budget
        The number of evaluations after the empty and the grand coalition.
    ends
        The values of the empty and of the grand coalition, of shape (2,), or (2, R) with several outputs.
    rng
        Draws the coalitions.
    batches, min_batch
        The number of batches after the first coalitions, and the smallest number of evaluations in one.

    Examples
    --------
    >>> def game(coalitions):
    ...     return 3.0 * coalitions[:, 7] + 2.0 * (coalitions[:, 31] & coalitions[:, 40])
    >>> run = SparseRun(50, 3, 40, np.array([0.0, 5.0]), np.random.default_rng(0))
    >>> for planned in run.rounds(lambda: None):
    ...     planned.add(game(planned.rows))
    >>> values, covariances = run.shapley_values()
    >>> np.argsort(-values[0])[:3].tolist()
    [7, 31, 40]
    """

    def __init__(
        self,
        n: int,
        k: int,
        budget: int,
        ends: Values,
        rng: np.random.Generator,
        *,
        batches: int = BATCHES,
        min_batch: int = 1,
    ) -> None:
        self._n, self._k, self._budget, self._rng = n, k, budget, rng
        self._batches, self._min_batch = batches, min_batch
        self.coalitions: Coalitions = np.array([[False] * n, [True] * n])
        """The coalitions so far, the empty and the grand coalition first."""
        self.values: Matrix = np.asarray(ends, dtype=np.float64).reshape(2, -1)
        """Their values, of shape (m, R)."""
        self._models: list[ActiveSets] = []

    def rounds(self, show: Callable[[], object], *, check: bool = False) -> Generator[Round, None, bool]:
        """Yield the first coalitions and the batches after them; return whether the game is treated as sparse.

        Parameters
        ----------
        show
            Called whenever there are new values.
        check
            Whether the first coalitions decide. If the game is not sparse, the rest of the budget is not spent.
        """
        share = FIRST_SHARE if self._batches else 1.0
        yield self._round(self._drawn(n_checked(self._n) if check else int(np.ceil(share * self._budget))), show)
        if check and not self.is_sparse():
            return False
        for batch in self._sizes():
            yield self._round(self._chosen(batch), show)
        return True

    def _sizes(self) -> list[int]:
        """Return the sizes of the batches after the first coalitions."""
        left = self._budget + 2 - len(self.coalitions)
        count = max(1, min(self._batches, left // self._min_batch))
        return [size for size in np.diff(np.arange(count + 1) * left // count).tolist() if size > 0]

    def _round(self, coalitions: Coalitions, show: Callable[[], object]) -> Round:
        return Round(coalitions, partial(self._add, coalitions, show))

    def _add(self, coalitions: Coalitions, show: Callable[[], object], values: Values) -> None:
        if len(values) > 0:
            self.add(coalitions, values)
            show()

    def add(self, coalitions: Coalitions, values: Values) -> None:
        """Add the values of coalitions, or of a prefix of them."""
        values = np.asarray(values, dtype=np.float64).reshape(-1, self.values.shape[1])
        self.coalitions = np.concatenate([self.coalitions, coalitions[: len(values)]])
        self.values = np.concatenate([self.values, values])
        self._models = []

    def is_sparse(self) -> bool:
        """Return whether a model of the other coalitions predicts the last ones, averaged over the outputs."""
        x, shares = _signs(self.coalitions), []
        for values in self.values.T:
            model = ActiveSets(x[:-PREDICTED], values[:-PREDICTED], self._k)
            errors = model.predict(x[-PREDICTED:]) - values[-PREDICTED:]
            shares.append(1.0 - np.mean(errors**2) / (np.var(values[2:]) or 1.0))
        return float(np.mean(shares)) > EXPLAINED

    def shapley_values(self) -> tuple[Matrix, Matrix]:
        """Return the estimates of all outputs, of shape (R, n), and their covariances, of shape (R, n, n)."""
        means, covariances = zip(*(model.shapley_values() for model in self._fitted()), strict=True)
        return adding_up(np.array(means), self.values[1] - self.values[0]), np.array(covariances)

    def _fitted(self) -> list[ActiveSets]:
        if not self._models:
            x = _signs(self.coalitions)
            self._models = [ActiveSets(x, values, self._k) for values in self.values.T]
        return self._models

    def _chosen(self, count: int) -> Coalitions:
        """Return the coalitions that the active sets disagree about most, one after the other given those before."""
        candidates = self._drawn(max(CANDIDATES, 3 * count))
        x = _signs(candidates)
        disagreement = np.zeros((len(x), len(x)))
        for model in self._fitted():
            predicted = model.predictions(x)
            off = (predicted - model.weights @ predicted) * np.sqrt(model.weights)[:, None]
            disagreement += off.T @ off
        chosen: list[int] = []
        for _ in range(min(count, len(candidates))):
            variances = disagreement.diagonal().copy()
            variances[chosen] = -1.0
            best = int(np.argmax(variances))
            chosen.append(best)
            column = disagreement[best]
            disagreement = disagreement - np.outer(column, column) / (column[best] + NOISE)
        return candidates[chosen]

    def _drawn(self, count: int) -> Coalitions:
        """Return about `count` distinct coalitions of half of the players that have not been evaluated."""
        order = np.argsort(self._rng.random((2 * count, self._n)), axis=1)
        sizes = self._n // 2 + self._rng.integers(self._n % 2 + 1, size=2 * count)
        drawn = np.zeros((2 * count, self._n), dtype=np.bool_)
        np.put_along_axis(drawn, order, np.arange(self._n) < sizes[:, None], axis=1)
        used = set(keys(self.coalitions))
        new = {key: position for position, key in enumerate(keys(drawn)) if key not in used}
        return drawn[list(new.values())[:count]]


class _OwnCovariances:
    """Separate covariances of all outputs, as reductions of their mean; see `SharedEstimate`."""

    def __init__(self, covariances: Matrix) -> None:
        self.mean: Matrix = covariances.mean(axis=0)
        self._covariances = covariances

    def of_output(self, output: int) -> Matrix:
        return np.asarray(self.mean - self._covariances[output])

    def diagonals(self) -> Matrix:
        return np.asarray(self.mean.diagonal() - np.diagonal(self._covariances, axis1=1, axis2=2))


def sparse_estimate(coalitions: Coalitions, values: Matrix, k: int) -> SharedEstimate | None:
    """Return the estimate of all outputs from the coalitions of a `SparseRun`, None if these are not random halves.

    Parameters
    ----------
    coalitions
        The coalitions, the empty and the grand coalition first.
    values
        Their values, of shape (m, R).
    k
        The number of players to find.
    """
    m, n = coalitions.shape
    off = np.abs(coalitions[2:].sum(axis=1) - n / 2.0)
    if (
        m > MAX_EVALUATIONS + 2
        or n > MAX_PLAYERS
        or values.shape[1] > MAX_OUTPUTS
        or not off.size
        or off.mean() > n / 4
    ):
        return None
    run = SparseRun(n, k, 0, values[:2], np.random.default_rng(0))
    run.add(coalitions[2:], values[2:])
    estimates, covariances = run.shapley_values()
    own = _OwnCovariances(covariances)
    return SharedEstimate(estimates, own.mean, np.ones(values.shape[1]), own)


def _signs(coalitions: Coalitions) -> Matrix:
    return np.where(coalitions, 1.0, -1.0)
