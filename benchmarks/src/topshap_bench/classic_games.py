"""Random games of well-known classes: voting, unanimity, cuts, bankruptcy, polynomials, satisfiability, trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Players, Values

CLAUSES_PER_PLAYER = 4.26
"""The number of clauses per variable at which random formulas of three literals are hardest to satisfy."""


def unanimity(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a sum of unanimity games."""
    n = x.shape[1]
    sets = [rng.choice(n, rng.integers(2, 9), replace=False) for _ in range(2 * n)]
    return np.sum([rng.exponential() * x[:, members].all(axis=1) for members in sets], axis=0)


def voting(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a weighted majority game."""
    votes = rng.integers(1, 30, x.shape[1])
    return (x @ votes >= int(votes.sum() * rng.uniform(0.4, 0.8))).astype(np.float64)


def step(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the sum of one to three decision trees of depth three to five with random leaves."""
    players = np.arange(x.shape[1])
    return np.sum([_tree(x, players, int(depth), rng) for depth in rng.integers(3, 6, rng.integers(1, 4))], axis=0)


def _tree(x: Coalitions, unused: Players, depth: int, rng: np.random.Generator) -> Values:
    """Return the leaves of all coalitions in a tree that splits by random players, each once on a path."""
    if depth == 0:
        return np.full(len(x), rng.normal())
    player = int(rng.choice(unused))
    rest = unused[unused != player]
    return np.where(x[:, player], _tree(x, rest, depth - 1, rng), _tree(x, rest, depth - 1, rng))


def product(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the product of one factor per player."""
    return np.exp(x @ rng.normal(0.0, 0.4, x.shape[1]))


def maximum(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the largest weight of a player in the coalition."""
    return np.asarray((x * rng.exponential(size=x.shape[1])).max(axis=1), dtype=np.float64)


def synergy(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return weights, and as many positive and negative products of two to five players as there are players."""
    n = x.shape[1]
    table = x @ (0.5 * rng.normal(size=(n,)))
    for _ in range(n):
        members = rng.choice(n, int(rng.integers(2, 6)), replace=False)
        table = table + rng.normal() * x[:, members].all(axis=1)
    return table


def graph_cut(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the weight of the arcs of a random directed graph from the coalition to the other players.

    In an undirected graph, all Shapley values are zero.
    """
    n = x.shape[1]
    arcs = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.4)
    return ((x @ arcs) * ~x).sum(axis=1)


def bankruptcy(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the part of an estate that is left after all claims of the other players."""
    claims = rng.exponential(size=(x.shape[1],))
    estate = rng.uniform(0.3, 0.9) * claims.sum()
    return np.maximum(estate - ~x @ claims, 0.0)


def sparse_polynomial(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a sum of products of one to four signs, +1 for players inside and -1 for those outside."""
    n = x.shape[1]
    signs = np.where(x, 1.0, -1.0)
    sets = [rng.choice(n, int(rng.integers(1, 5)), replace=False) for _ in range(2 * n)]
    return np.sum([rng.normal() * signs[:, members].prod(axis=1) for members in sets], axis=0)


def three_sat(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return the fraction of clauses of three literals that are true if the players inside are true."""
    n = x.shape[1]
    count = round(CLAUSES_PER_PLAYER * n)
    clauses = [(rng.choice(n, 3, replace=False), rng.random(3) < 0.5) for _ in range(count)]
    return np.sum([(x[:, variables] == wanted).any(axis=1) for variables, wanted in clauses], axis=0) / count


def additive(x: Coalitions, rng: np.random.Generator) -> Values:
    """Return a sum of weights."""
    return x @ rng.normal(size=(x.shape[1],))
