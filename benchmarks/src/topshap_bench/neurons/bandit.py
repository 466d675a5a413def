"""The truncated multi-armed bandit of Neuron Shapley (Ghorbani and Zou, 2020), for the top k players.

In every iteration, the players are removed one by one in a random order. A player whose confidence interval contains
the value of the border is active, up to a tolerance, and only active players are sampled. An iteration is truncated
when the value has been close to that of a useless network six times in a row; the contributions of the remaining
players are then 0. Constants are those of the authors' code: delta = 0.2 for every player, truncation 0.2 above chance,
empirical Bernstein bounds with range 1. As an alternative, the bounds are 95% intervals of the normal distribution,
which are much narrower and do not hold at all looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.typing import Coalition, Coalitions, Game, Players, Values

Bound = Literal["bernstein", "normal"]
DELTA, TRUNCATION, IN_A_ROW, RANGE = 0.2, 0.2, 6, 1.0
LEAST_SAMPLES = 10
"""The number of samples of a player before its normal interval counts."""
_BLOCK = 20
"""The number of coalitions that are evaluated together. Those after a truncation are not counted."""


@dataclass
class Bandit:
    """The state of a run.

    Attributes
    ----------
    evaluations : int
        The number of evaluations so far.
    stopped : bool
        Whether at most one player is active.
    history : list of (int, Values)
        The number of evaluations and the estimates after every iteration.
    """

    n: int
    k: int
    bound: Bound
    tolerance: float
    evaluations: int = 1  # the grand coalition
    stopped: bool = False
    history: list[tuple[int, Values]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._counts, self._sums, self._squares = (np.zeros(self.n) for _ in range(3))
        self.active: Coalition = np.ones(self.n, dtype=np.bool_)

    @property
    def estimates(self) -> Values:
        """The mean contribution of each player."""
        return self._sums / np.maximum(self._counts, 1.0)

    def add(self, marginals: Values) -> None:
        """Add a sample of each active player, and decide which players remain active."""
        self._counts += self.active
        self._sums += np.where(self.active, marginals, 0.0)
        self._squares += np.where(self.active, marginals**2, 0.0)
        means, radius = self.estimates, self._radius()
        border = np.sort(means)[-self.k - 1]
        self.active = (means - radius + self.tolerance < border) & (means + radius - self.tolerance > border)
        self.stopped = int(self.active.sum()) <= 1
        self.history.append((self.evaluations, means))

    def _radius(self) -> Values:
        t = np.maximum(self._counts, 2.0)
        variances = np.maximum(self._squares - self._sums**2 / t, 0.0) / (t - 1.0)
        if self.bound == "normal":
            return np.where(self._counts < LEAST_SAMPLES, np.inf, 1.96 * np.sqrt(variances / t))
        log = np.log(2.0 / DELTA)
        radius = np.sqrt(2.0 * variances * log / t) + 7.0 / 3.0 * RANGE * log / (t - 1.0)
        return np.where(self._counts < 2, np.inf, radius)


def run_bandit(
    game: Game, n: int, k: int, *, bound: Bound, tolerance: float, chance: float, budget: int, seed: int
) -> Bandit:
    """Run the bandit until at most one player is active or the budget is spent."""
    rng = np.random.default_rng(seed)
    grand = float(game(np.ones((1, n), dtype=np.bool_))[0])
    state = Bandit(n, k, bound, tolerance)
    while not state.stopped and state.evaluations < budget:
        marginals, evaluations = _iteration(game, rng.permutation(n), state.active, grand, chance + TRUNCATION)
        state.evaluations += evaluations
        state.add(marginals)
    return state


def _iteration(game: Game, order: Players, active: Coalition, grand: float, floor: float) -> tuple[Values, int]:
    """Return the contributions of the active players in one order of removal, and the number of evaluations."""
    steps, coalitions = _plan(order, active)
    marginals, low, used, value = np.zeros(len(order)), 0, 0, grand
    values = _values(game, coalitions)
    for player, is_new in steps:
        if is_new:  # inactive players were removed since the last value
            value, used = next(values), used + 1
        after, used = next(values), used + 1
        marginals[player] = value - after
        value = after
        low = low + 1 if value <= floor else 0
        if low >= IN_A_ROW:
            break
    return marginals, used


def _plan(order: Players, active: Coalition) -> tuple[list[tuple[int, bool]], Coalitions]:
    """Return the active players in order, whether each needs a value before its removal, and all coalitions.

    Examples
    --------
    >>> steps, coalitions = _plan(np.array([2, 0, 1]), np.array([True, False, True]))
    >>> [(int(player), is_new) for player, is_new in steps]
    [(2, False), (0, False)]
    >>> coalitions.astype(int)
    array([[1, 1, 0],
           [0, 1, 0]])
    """
    present = np.ones(len(order), dtype=np.bool_)
    steps, rows, known = [], [], True
    for player in order:
        if active[player]:
            if not known:
                rows.append(present.copy())
            steps.append((player, not known))
        present[player] = False
        if active[player]:
            rows.append(present.copy())
        known = bool(active[player])
    return steps, np.array(rows)


def _values(game: Game, coalitions: Coalitions) -> Iterator[float]:
    for start in range(0, len(coalitions), _BLOCK):
        yield from game(coalitions[start : start + _BLOCK]).tolist()
