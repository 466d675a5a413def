"""Games of many players whose Shapley values are known exactly."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from topshap.games import UnanimityGame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from topshap.core.typing import Coalitions, Values

    class KnownGame(Protocol):
        """A game whose Shapley values are known."""

        @property
        def n_players(self) -> int:
            """The number of players."""

        def __call__(self, coalitions: Coalitions, /) -> Values:
            """Return the values of the rows."""

        def shapley_values(self) -> Values:
            """Return the exact Shapley values."""


SIGMOID_NODES = 128


def sums_of_sets(
    n: int,
    seed: int,
    *,
    orders: Mapping[int, float],
    relevant: float = 1.0,
    heredity: bool = False,
    signed: bool = False,
    size: float = 1.0,
) -> UnanimityGame:
    """Return a sum of unanimity games.

    `orders` maps the size of a set to the number of such sets per player. Only a fraction `relevant` of the players
    occurs, but at least 20. With `heredity`, players with a large individual effect occur more often and with larger
    coefficients. `size` is the mean coefficient of sets of two or more players; that of single players is 1. Games with
    only single players and pairs would be too easy: least squares on complement pairs is exact for them.
    """
    rng = np.random.default_rng([seed, n])
    active = rng.permutation(n)[: max(20, round(relevant * n))]
    strength = rng.exponential(size=len(active))
    chance = strength / strength.sum() if heredity else None
    sets, coefficients = [[i] for i in active.tolist()], list(strength)
    for order, per_player in orders.items():
        for _ in range(round(per_player * len(active))):
            members = rng.choice(len(active), size=order, replace=False, p=chance)
            sets.append(active[members].tolist())
            coefficients.append(size * rng.exponential() * (strength[members].mean() if heredity else 1.0))
    signs = rng.choice([-1.0, 1.0], size=len(sets)) if signed else np.ones(len(sets))
    return UnanimityGame(sets, signs * coefficients, n)


class DiminishingGame:
    """Diminishing returns: v(S) is 1 minus the product of q_i over S, so each player takes a fraction of the rest."""

    def __init__(self, n: int, seed: int) -> None:
        self.n_players = n
        self._left = np.exp(-np.random.default_rng([seed, n]).exponential(3.0 / n, size=n))

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the values of the rows."""
        return -np.expm1(coalitions @ np.log(self._left))

    def shapley_values(self) -> Values:
        """Return the exact Shapley values.

        They are integrals over the probability t that another player is present, of polynomials of degree n - 1 in t.
        """
        taken = 1.0 - self._left
        nodes, weights = _unit_nodes(self.n_players // 2 + 1)
        factors = 1.0 - np.outer(nodes, taken)
        others = np.exp(np.log(factors).sum(axis=1))[:, None] / factors
        return taken * (weights @ others)


class SigmoidGame:
    """A sigmoid: v(S) is expit(a + b * the sum of integer weights in S), so steep that a few players decide."""

    def __init__(self, n: int, seed: int) -> None:
        self.n_players = n
        rng = np.random.default_rng([seed, n])
        self._weights = np.rint(rng.normal(2.0, 8.0, size=n)).astype(np.int64)
        self._middle = float(self._weights.sum()) / 2.0
        self._steepness = 4.0 / float(np.sqrt((self._weights**2).sum()))

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the values of the rows."""
        return self._of_sum(coalitions.astype(np.float64) @ self._weights)

    def _of_sum(self, total: Values) -> Values:
        return np.asarray(expit(self._steepness * (total - self._middle)))

    def shapley_values(self) -> Values:
        """Return the exact Shapley values.

        They are integrals over the probability t that another player is present. For each t, the distribution of the
        sum of the others is the inverse Fourier transform of a product over them.
        """
        distinct, place, counts = np.unique(self._weights, return_inverse=True, return_counts=True)
        lowest, highest = (int(self._weights[part].sum()) for part in (self._weights < 0, self._weights > 0))
        length = 1 << (highest - lowest + 1).bit_length()
        sums = lowest + np.arange(length, dtype=np.float64)
        gains = [self._of_sum(sums + own) - self._of_sum(sums) for own in distinct.tolist()]
        turns = np.exp(-2j * np.pi * np.outer(distinct, np.arange(length // 2 + 1)) / length)
        phi = np.zeros(len(distinct))
        for node, weight in zip(*_unit_nodes(SIGMOID_NODES), strict=True):
            factors = 1.0 - node + node * turns
            everybody = np.prod(factors ** counts[:, None], axis=0)
            for index, gain in enumerate(gains):
                chances = np.roll(np.fft.irfft(everybody / factors[index], length), -lowest)
                phi[index] += weight * float(chances @ gain)
        return phi[place]


def _unit_nodes(count: int) -> tuple[Values, Values]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1.0) / 2.0, weights / 2.0


KINDS: Mapping[str, Callable[[int, int], KnownGame]] = {
    "heredity": partial(sums_of_sets, orders={2: 2.0, 3: 1.0}, heredity=True),
    "sparse": partial(sums_of_sets, orders={2: 2.0, 3: 1.0}, relevant=0.03),
    "high-order": partial(sums_of_sets, orders={4: 0.5, 6: 0.5, 8: 0.5, 12: 0.5}),
    "signed": partial(sums_of_sets, orders={2: 1.0, 3: 1.0, 4: 1.0}, signed=True),
    "noisy": partial(sums_of_sets, orders={2: 2.0, 3: 2.0}, signed=True, size=0.2),
    "diminishing": DiminishingGame,
    "sigmoid": SigmoidGame,
}
"""The kinds of games: functions of the number of players and a seed."""
