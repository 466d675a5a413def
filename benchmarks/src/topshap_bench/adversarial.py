"""Adversarial games for stopping rules: random games that are small enough for exact Shapley values.

near-tie      interactions and noise; players k and k + 1 differ by 1% of the range
tie           the same, but the two players are equal
rare-pivot    weights, and three players that add up to ten times as much in a few coalitions
all-rare      every player contributes only if the others form one of a few patterns
unanimity     sums of unanimity games of two to eight players
voting        weighted majorities
heavy-tail    weights, and noise with infinite variance
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table
from topshap.core.validation import check_choice, check_int, front_door
from topshap.games import TableGame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topshap.core.typing import Coalitions, Values

K = 4
"""Ties and near ties are between the players ranked K and K + 1."""
N_PLAYERS = 10


@front_door
def adversarial_game(kind: str, number: int, n_players: int = N_PLAYERS) -> TableGame:
    """Return the game of this kind and number.

    Examples
    --------
    >>> phi = np.sort(adversarial_game("tie", 0).shapley_values())[::-1]
    >>> bool(abs(phi[K - 1] - phi[K]) < 1e-9)
    True
    """
    check_choice("kind", kind, KINDS)
    n = check_int("n_players", n_players, low=8, high=20)
    x = from_ids(np.arange(2**n), n)
    return TableGame(KINDS[kind](x, np.random.default_rng([list(KINDS).index(kind), number])))


def _with_gap(table: Values, x: Coalitions, fraction: float) -> Values:
    """Raise the value of player K + 1 until it is below that of player K by this fraction of the range."""
    phi = shapley_from_table(table)
    order = np.argsort(-phi)
    gap = phi[order[K - 1]] - phi[order[K]]
    return table + x[:, order[K]] * (gap - fraction * np.ptp(phi))


def _noisy_pairs(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights, pairwise interactions and noise."""
    n = x.shape[1]
    interactions = np.triu(rng.normal(size=(n, n)), 1) * 0.5
    return x @ rng.normal(size=n) + ((x @ interactions) * x).sum(axis=1) + 0.3 * rng.normal(size=len(x))


def _pattern(x: Coalitions, player: int, size: int, rng: np.random.Generator) -> Coalitions:
    """Return whether each coalition contains the player and matches a random pattern of `size` others."""
    others = rng.choice(np.delete(np.arange(x.shape[1]), player), size, replace=False)
    return x[:, player] & (x[:, others] == (rng.random(size) < 0.5)).all(axis=1)


def _rare_pivot(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights, and three players that add much in a few coalitions."""
    n = x.shape[1]
    table = x @ np.sort(rng.random(n))
    for player in rng.choice(n, 3, replace=False):
        table = table + 10.0 ** rng.uniform(0.0, 1.0) * _pattern(x, int(player), int(rng.integers(6, n)), rng)
    return table


def _all_rare(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the number of patterns that a coalition matches, over the patterns of all its players."""
    n = x.shape[1]
    players = np.repeat(np.arange(n), rng.integers(1, 6, n))
    return np.sum([_pattern(x, int(i), int(rng.integers(5, n - 2)), rng) for i in players], axis=0).astype(np.float64)


def _unanimity(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a sum of unanimity games."""
    n = x.shape[1]
    sets = [rng.choice(n, rng.integers(2, 9), replace=False) for _ in range(2 * n)]
    return np.sum([rng.exponential() * x[:, members].all(axis=1) for members in sets], axis=0)


def _voting(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a weighted majority game."""
    votes = rng.integers(1, 30, x.shape[1])
    return (x @ votes >= int(votes.sum() * rng.uniform(0.4, 0.8))).astype(np.float64)


def _heavy_tail(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights and noise with infinite variance."""
    return x @ (0.1 * np.arange(x.shape[1])) + 0.2 * rng.standard_t(1.5, len(x))


KINDS: Mapping[str, Callable[[Coalitions, np.random.Generator], Values]] = {
    "near-tie": lambda x, rng: _with_gap(_noisy_pairs(x, rng), x, 0.01),
    "tie": lambda x, rng: _with_gap(_noisy_pairs(x, rng), x, 0.0),
    "rare-pivot": _rare_pivot,
    "all-rare": _all_rare,
    "unanimity": _unanimity,
    "voting": _voting,
    "heavy-tail": _heavy_tail,
}
"""The kinds of games: functions that draw a table, given all coalitions."""
