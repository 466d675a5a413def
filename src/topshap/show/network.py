"""The network of interactions as data: players on a circle, and a line for each of the leading pairs.

Matplotlib and the report draw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.pairs import all_pairs
from topshap.core.pairs_result import TopPairs
from topshap.core.validation import refuse
from topshap.show.board import has_learned
from topshap.show.labels import NAME_LENGTH, shorten_all
from topshap.show.numbers import negligible

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players

MOST_PLAYERS, MOST_PAIRS = 16, 60
"""The maximum numbers of players and of pairs that are shown by default."""


def check_pairs(top: Any) -> TopPairs:
    """Return a result for pairs; refuse any other.

    Examples
    --------
    >>> import topshap
    >>> check_pairs(topshap.identify(topshap.games.AdditiveGame([1.0, 2.0]), k=1))
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'top' parameter must be a result for pairs, such as that of
    identify(..., order=2) or top.interactions. Got a TopK instead.
    """
    if not isinstance(top, TopPairs):
        must_be = "a result for pairs, such as that of identify(..., order=2) or top.interactions"
        refuse("top", must_be=must_be, got=f"a {type(top).__name__}")
    return top


def leading_players(top: TopPairs, most: int) -> Players:
    """Return at most `most` players to show, in the order of their indices: those of the leading pairs.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[1, 2], [0, 3]], [2.0, -3.0], n_players=5)
    >>> leading_players(topshap.identify(game, k=1, order=2, random_state=0), 3)
    array([0, 1, 3])
    """
    if top.n_players <= most:
        return np.arange(top.n_players)
    in_order = all_pairs(top.n_players)[top.ranking].ravel()
    _, first = np.unique(in_order, return_index=True)
    return np.sort(in_order[np.sort(first)[:most]])


def player_labels(top: TopPairs, players: Players, length: int = NAME_LENGTH) -> list[str]:
    """Return the names of players that are shown together, cut to `length` characters; indices without names."""
    names = top.player_names
    return shorten_all((str(i) if names is None else names[i] for i in players.tolist()), length)


@dataclass(frozen=True)
class Edge:
    """The line between the players of a pair."""

    ends: tuple[int, int]
    """The positions of the players among those that are shown."""
    estimate: float
    strength: float
    """The magnitude of the estimate relative to the largest, from 0 to 1."""
    in_top: bool
    """Whether the pair is one of the top k."""
    rank: int
    """The rank of the pair, from 1."""


@dataclass(frozen=True)
class Network:
    """Players on a circle, and the leading pairs among them, the weakest first.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[1, 2], [0, 3]], [2.0, -3.0], n_players=4)
    >>> network = Network.of(topshap.identify(game, k=1, order=2, random_state=0))
    >>> [(edge.ends, edge.estimate, edge.in_top) for edge in network.edges]
    [((1, 2), 2.0, False), ((0, 3), -3.0, True)]
    """

    players: Players
    labels: list[str]
    places: Matrix
    """The place of each player on a circle around the origin with radius 1, the first at the top, shape (m, 2)."""
    edges: tuple[Edge, ...]
    in_top: frozenset[int]
    """The positions of the players that are part of one of the top k pairs."""

    @classmethod
    def of(
        cls,
        top: TopPairs,
        *,
        most: int = MOST_PLAYERS,
        most_pairs: int = MOST_PAIRS,
        label_length: int = 18,
    ) -> Network:
        """Return the network of a result; there are no lines while nothing distinguishes the pairs."""
        players = leading_players(top, most)
        edges = tuple(_edges(top, players, most_pairs)) if has_learned(top) else ()
        angles = 2.0 * np.pi * np.arange(len(players)) / len(players)
        return cls(
            players=players,
            labels=player_labels(top, players, label_length),
            places=np.stack([np.sin(angles), np.cos(angles)], axis=1),
            edges=edges,
            in_top=frozenset(end for edge in edges if edge.in_top for end in edge.ends),
        )


def _edges(top: TopPairs, players: Players, most: int) -> list[Edge]:
    position = {player: i for i, player in enumerate(players.tolist())}
    pairs, largest = all_pairs(top.n_players), float(np.abs(top.estimates).max())
    edges: list[Edge] = []
    for rank, pair in enumerate(top.ranking.tolist(), start=1):
        first, second = pairs[pair].tolist()
        estimate = float(top.estimates[pair])
        if len(edges) == most:
            break
        if first in position and second in position and not negligible(estimate, largest):
            ends = position[first], position[second]
            edges.append(Edge(ends, estimate, abs(estimate) / largest, rank <= top.k, rank))
    return edges[::-1]
