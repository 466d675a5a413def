"""Adversarial games for stopping rules: random games that are small enough for exact Shapley values.

near-tie           interactions and noise; players k and k + 1 differ by 1% of the range
tie                the same, but the two players are equal
rare-pivot         weights, and three players that add up to ten times as much in a few coalitions
all-rare           every player contributes only if the others form one of a few patterns
unanimity          sums of unanimity games of two to eight players
voting             weighted majorities
heavy-tail         weights, and noise with infinite variance
rare-dummies       four players that contribute in one pattern of seven others only, beside three small weights
rare-signed        small weights, and positive and negative spikes of most players
rare-smooth        a logistic function of weights, with spikes of a few players
rare-border        weights, with spikes of players k and k + 1, whose weights are nearly equal
step               sums of decision trees
product            a factor per player
max                the largest weight in the coalition
synergy            weights, and positive and negative products of two to five players
graph-cut          the weight of the arcs that leave the coalition
bankruptcy         what is left of an estate after the claims of the others
sparse-polynomial  sums of products of up to four signs
3-sat              the fraction of the clauses that are satisfied
additive           sums of weights

These are for other goals than the set of the highest values, `OF_GOAL`:

near-tie-magnitude  as near-tie, with the magnitudes of players k and k + 1, half of them with different signs
tie-magnitude       the same, but the magnitudes are equal
near-tie-order      as near-tie, with players k - 1 and k
tie-order           the same, but the two players are equal
near-tie-pairs      as near-tie, with the magnitudes of the interactions of pairs k and k + 1
tie-pairs           the same, but the magnitudes are equal
near-tie-lowest     as near-tie, with the players ranked k and k + 1 from the lowest
tie-lowest          the same, but the two players are equal
near-tie-gap        as near-tie, with equal gaps between all neighbours, 5% below epsilon
tie-gap             the same, but all players are equal, and epsilon is 0
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.coalitions import from_ids
from topshap.core.interactions import interactions_from_table
from topshap.core.pairs import all_pairs
from topshap.core.tables import shapley_from_table
from topshap.core.validation import check_choice, check_int, front_door
from topshap.games import TableGame
from topshap_bench import classic_games as classic
from topshap_bench import rare_patterns as rare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topshap.core.typing import Coalitions, Values

K = 4
"""Ties and near ties are between the players ranked K and K + 1."""


class Kind(NamedTuple):
    """A kind of games."""

    draw: Callable[[Coalitions, np.random.Generator], Values]
    """A function that draws a table, given all coalitions."""
    n_players: tuple[int, int] = (10, 14)
    """The smallest and the largest number of players, between which it is drawn for each game."""
    epsilon: float = 0.02
    """The allowed error in races that stop when confident, in this unit."""
    unit: str = "range of v"
    """The unit of `epsilon`, see `topshap_bench.Setting`."""


@front_door
def adversarial_game(kind: str, number: int, n_players: int | None = None) -> TableGame:
    """Return the game of this kind and number; by default, the kind determines the number of players.

    Examples
    --------
    >>> phi = np.sort(adversarial_game("tie", 0).shapley_values())[::-1]
    >>> bool(abs(phi[K - 1] - phi[K]) < 1e-9)
    True
    """
    check_choice("kind", kind, KINDS)
    rng = np.random.default_rng([list(KINDS).index(kind), number])
    low, high = KINDS[kind].n_players
    drawn = low if low == high else int(rng.integers(low, high + 1))
    n = drawn if n_players is None else check_int("n_players", n_players, low=8, high=20)
    return TableGame(KINDS[kind].draw(from_ids(np.arange(2**n), n), rng))


def _with_gap(fraction: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game whose player K + 1 is below player K by this fraction of the range."""
    table = _noisy_pairs(x, rng)
    phi = shapley_from_table(table)
    order = np.argsort(-phi)
    gap = phi[order[K - 1]] - phi[order[K]]
    return table + x[:, order[K]] * (gap - fraction * np.ptp(phi))


def _with_gap_of_magnitudes(fraction: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game in which player K + 1 by magnitude is below player K by this fraction of the range."""
    table = _noisy_pairs(x, rng)
    phi = shapley_from_table(table)
    order = np.argsort(-np.abs(phi))
    wanted = rng.choice([-1.0, 1.0]) * (abs(phi[order[K - 1]]) - fraction * np.ptp(phi))
    return table + x[:, order[K]] * (wanted - phi[order[K]])


def _with_gap_in_list(fraction: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game whose player K is below player K - 1 by this fraction of the range."""
    table = _noisy_pairs(x, rng)
    phi = shapley_from_table(table)
    order = np.argsort(-phi)
    gap = phi[order[K - 2]] - phi[order[K - 1]]
    return table + x[:, order[K - 1]] * (gap - fraction * np.ptp(phi))


def _with_gap_of_pairs(fraction: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game whose interaction K + 1 by magnitude is below interaction K by this fraction of the range."""
    table = _noisy_pairs(x, rng, noise=0.05)
    found = interactions_from_table(table)
    order = np.argsort(-np.abs(found))
    wanted = rng.choice([-1.0, 1.0]) * (abs(found[order[K - 1]]) - fraction * np.ptp(found))
    i, j = all_pairs(x.shape[1])[order[K]]
    return table + (x[:, i] & x[:, j]) * (wanted - found[order[K]])


def _with_gap_of_lowest(fraction: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game whose player K + 1 from the lowest is above player K by this fraction of the range."""
    return -_with_gap(fraction, x, rng)


def _with_equal_gaps(gap: float, x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a noisy game whose Shapley values are 0, gap, 2 gap, ... in random order."""
    table = _noisy_pairs(x, rng)
    return table + x @ (gap * rng.permutation(x.shape[1]) - shapley_from_table(table))


def _noisy_pairs(x: Coalitions, rng: np.random.Generator, noise: float = 0.3) -> Values:
    """Return weights, pairwise interactions and noise."""
    n = x.shape[1]
    interactions = np.triu(rng.normal(size=(n, n)), 1) * 0.5
    return x @ rng.normal(size=n) + ((x @ interactions) * x).sum(axis=1) + noise * rng.normal(size=len(x))


def _heavy_tail(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights and noise with infinite variance."""
    return x @ (0.1 * np.arange(x.shape[1])) + 0.2 * rng.standard_t(1.5, len(x))


_of_ten_players = partial(Kind, n_players=(10, 10), epsilon=0.002, unit="range")
_of_equal_gaps = partial(Kind, n_players=(10, 10), unit="value")

KINDS: Mapping[str, Kind] = {  # the position of a kind is part of the seed of its games: append new ones
    "near-tie": _of_ten_players(partial(_with_gap, 0.01)),
    "tie": _of_ten_players(partial(_with_gap, 0.0)),
    "rare-pivot": _of_ten_players(rare.rare_pivot),
    "all-rare": _of_ten_players(rare.all_rare),
    "unanimity": _of_ten_players(classic.unanimity),
    "voting": _of_ten_players(classic.voting),
    "heavy-tail": _of_ten_players(_heavy_tail),
    "rare-dummies": Kind(rare.rare_dummies, n_players=(12, 14)),
    "rare-signed": Kind(rare.rare_signed),
    "rare-smooth": Kind(rare.rare_smooth),
    "rare-border": Kind(partial(rare.rare_border, k=K)),
    "step": Kind(classic.step),
    "product": Kind(classic.product),
    "max": Kind(classic.maximum),
    "synergy": Kind(classic.synergy),
    "graph-cut": Kind(classic.graph_cut),
    "bankruptcy": Kind(classic.bankruptcy),
    "sparse-polynomial": Kind(classic.sparse_polynomial),
    "3-sat": Kind(classic.three_sat),
    "additive": Kind(classic.additive),
    "near-tie-magnitude": _of_ten_players(partial(_with_gap_of_magnitudes, 0.01)),
    "tie-magnitude": _of_ten_players(partial(_with_gap_of_magnitudes, 0.0)),
    "near-tie-order": _of_ten_players(partial(_with_gap_in_list, 0.01)),
    "tie-order": _of_ten_players(partial(_with_gap_in_list, 0.0)),
    "near-tie-pairs": _of_ten_players(partial(_with_gap_of_pairs, 0.01)),
    "tie-pairs": _of_ten_players(partial(_with_gap_of_pairs, 0.0)),
    "near-tie-lowest": _of_ten_players(partial(_with_gap_of_lowest, 0.01)),
    "tie-lowest": _of_ten_players(partial(_with_gap_of_lowest, 0.0)),
    "near-tie-gap": _of_equal_gaps(partial(_with_equal_gaps, 0.5), epsilon=0.525),
    "tie-gap": _of_equal_gaps(partial(_with_equal_gaps, 0.0), epsilon=0.0),
}
"""The kinds of games."""
OF_GOAL: Mapping[str, str] = {
    "near-tie-magnitude": "magnitude",
    "tie-magnitude": "magnitude",
    "near-tie-order": "ordered",
    "tie-order": "ordered",
    "near-tie-pairs": "pairs",
    "tie-pairs": "pairs",
    "near-tie-lowest": "lowest",
    "tie-lowest": "lowest",
    "near-tie-gap": "clear",
    "tie-gap": "clear",
}
"""The kinds that are for one goal only: magnitudes, ordered lists, pairs, the lowest values, or clear gaps."""


def kinds_for(rank_by: str = "value", *, ordered: bool = False, order: int = 1, clear: bool = False) -> tuple[str, ...]:
    """Return the kinds of games for a goal.

    Examples
    --------
    >>> kinds_for("magnitude")[-2:], len(kinds_for())
    (('near-tie-magnitude', 'tie-magnitude'), 20)
    """
    goals = ("pairs",) if order == 2 else ("clear",) if clear else (rank_by, "ordered" if ordered else "")
    return tuple(kind for kind in KINDS if OF_GOAL.get(kind, goals[0]) in goals)
