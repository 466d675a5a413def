"""Games in which players contribute much, but only in a few coalitions.

A pattern is a set of other players and which of them are present. A spike is a value that a coalition has if it
contains the player and matches the pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Coalition, Coalitions, Players, Values


def rare_pivot(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights, and three players that add much in a few coalitions."""
    n = x.shape[1]
    table = x @ np.sort(rng.random(n))
    for player in rng.choice(n, 3, replace=False):
        table = table + 10.0 ** rng.uniform(0.0, 1.0) * _matches(x, int(player), int(rng.integers(6, n)), rng)
    return table


def all_rare(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the number of patterns that a coalition matches, over the patterns of all its players."""
    n = x.shape[1]
    players = np.repeat(np.arange(n), rng.integers(1, 6, n))
    return np.sum([_matches(x, int(i), int(rng.integers(5, n - 2)), rng) for i in players], axis=0).astype(np.float64)


def rare_dummies(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return three small weights, and four players that contribute in one pattern of seven others, and else nothing.

    The four players have the same seven others in half of the games. They are not in the patterns of each other.
    """
    n = x.shape[1]
    order = rng.permutation(n)
    dummies, rest = order[:4], order[4:]
    weights = np.zeros(n)
    weights[rng.choice(rest, 3, replace=False)] = rng.uniform(0.01, 0.02, 3)
    size = min(7, len(rest))
    shared = rng.choice(rest, size, replace=False) if rng.random() < 0.5 else None
    table = x @ weights
    for player in dummies:
        others = rng.choice(rest, size, replace=False) if shared is None else shared
        table = table + rng.uniform(0.5, 1.0) * _contains(x, int(player), others, rng.random(size) < 0.5)
    return table


def rare_signed(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return small weights, and up to three positive and negative spikes per player in patterns of 3 to 9 others."""
    n = x.shape[1]
    players = np.repeat(np.arange(n), rng.integers(0, 4, n))
    return x @ (0.02 * rng.normal(size=n)) + _spikes(x, players, (3, 9), rng)


def rare_smooth(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a logistic function of a sum of weights, and spikes of three to six players in patterns of 5 to 8."""
    n = x.shape[1]
    weights = rng.normal(size=(n,))
    logits = x @ weights - 0.5 * weights.sum() + rng.normal()
    players = rng.choice(n, int(rng.integers(3, 7)), replace=False)
    return 1.0 / (1.0 + np.exp(-logits)) + _spikes(x, players, (5, 8), rng)


def rare_border(x: Coalitions, rng: np.random.Generator, *, k: int) -> Values:
    """Return weights and spikes of the players ranked k and k + 1, whose weights differ by 1% of the largest weight.

    Each of the two has two spikes, in patterns of five to eight others. The weights of the others are well apart.
    """
    n = x.shape[1]
    weights = np.linspace(1.0, 0.0, n)
    weights[k] = weights[k - 1] - 0.01
    order = rng.permutation(n)
    placed = np.empty(n)
    placed[order] = weights
    return x @ placed + _spikes(x, np.repeat(order[[k - 1, k]], 2), (5, 8), rng)


def _spikes(x: Coalitions, players: Players, sizes: tuple[int, int], rng: np.random.Generator) -> Values:
    """Return the sum of one spike per entry of `players`, each 0.3 to 1 up or down, in patterns of these sizes."""
    low, high = (min(size, x.shape[1] - 1) for size in sizes)
    table = np.zeros(len(x))
    for player in players:
        height = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 1.0)
        table += height * _matches(x, int(player), int(rng.integers(low, high + 1)), rng)
    return table


def _matches(x: Coalitions, player: int, size: int, rng: np.random.Generator) -> Coalition:
    """Return whether each coalition contains the player and matches a random pattern of `size` others."""
    others = rng.choice(np.delete(np.arange(x.shape[1]), player), size, replace=False)
    return _contains(x, player, others, rng.random(size) < 0.5)


def _contains(x: Coalitions, player: int, others: Players, pattern: Coalition) -> Coalition:
    """Return whether each coalition contains the player and those of the others that the pattern says."""
    matches: Coalition = x[:, player] & (x[:, others] == pattern).all(axis=1)
    return matches
