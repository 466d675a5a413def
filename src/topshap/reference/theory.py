"""The theory of CMCS on a game whose values are all known: variances, covariances, identification probability.

A round of `cmcs` draws one coalition S, with a size uniform in 0..n and then uniform among the sets of this
size, and gives every player i the sample D_i(S) = v(S with i) - v(S without i). The mean of D_i is the Shapley
value of player i. All functions are about these samples, and exact: they sum over all 2**n coalitions, in
blocks. The paper is "Antithetic Sampling for Top-k Shapley Identification" (Kolpaczki, Nielen
and Hüllermeier, arXiv 2504.02019).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from topshap.core.tables import check_table, coalition_sizes, n_players_of, shapley_from_table
from topshap.core.validation import check_int, check_real, front_door
from topshap.reference.metrics import tie_tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from topshap.core.typing import Coalition, Matrix, Values

_BLOCK = 2**14
"""The number of coalitions in one block: a few megabytes for the players of any table that fits in memory."""


@front_door
def covariance(table: ArrayLike) -> Matrix:
    """Return the covariance of the samples of every two players in one round.

    Parameters
    ----------
    table
        The complete table of a game: entry b is the value of the coalition whose members are the set bits of
        b.

    Returns
    -------
    Matrix
        Entry (i, j) is Cov(D_i, D_j), both against the same coalition.

    Examples
    --------
    Where only the grand coalition has a value, the covariance of two of n players is 1/(n+1) - 1/n**2.

    >>> covariance([0.0, 0.0, 0.0, 1.0]) * 12
    array([[3., 1.],
           [1., 3.]])
    """
    return _covariance(check_table("table", table))


@front_door
def variances(table: ArrayLike) -> Values:
    """Return the variance of every player's sample in one round.

    Parameters
    ----------
    table
        The complete table of a game.

    Returns
    -------
    Values
        Entry i is Var(D_i).

    Examples
    --------
    >>> variances([0.0, 0.0, 0.0, 1.0])
    array([0.25, 0.25])
    """
    return _variances(check_table("table", table))


@front_door
def difference_variances(table: ArrayLike, *, shared: bool = True) -> Matrix:
    """Return the variance of the difference between the samples of every two players in one round.

    Parameters
    ----------
    table
        The complete table of a game.
    shared
        Whether both players are sampled against the same coalition, as in `cmcs`, or against independent
        coalitions, where the variances add up.

    Returns
    -------
    Matrix
        Entry (i, j) is Var(D_i - D_j). The diagonal is zero in both cases, since a player has one sample in a
        round.

    Examples
    --------
    >>> table = [0.0, 0.0, 0.0, 1.0]
    >>> difference_variances(table) * 3
    array([[0., 1.],
           [1., 0.]])
    >>> difference_variances(table, shared=False)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    checked = check_table("table", table)
    if shared:
        return _difference_variances(checked)
    single = _variances(checked)
    sums = single[:, None] + single
    np.fill_diagonal(sums, 0.0)
    return sums


@front_door
def identification_bound(table: ArrayLike, k: int, rounds: int, epsilon: float = 0.0) -> float:
    """Return the paper's lower bound on the probability that `cmcs` has an error of at most epsilon.

    The bound is the sum of 1 - sum(Phi(sqrt(M) (phi_j - phi_i) / s_ij) for i in K and j not in K) over all
    sets K of k players with an inclusion-exclusion error of at most `epsilon`. Here M is the number of
    rounds, s_ij the standard deviation of D_i - D_j, and Phi the normal distribution function: the bound
    rests on the central limit theorem. It is not clipped: with few rounds, or with ties, it can be negative
    and is then void.

    Parameters
    ----------
    table
        The complete table of a game.
    k
        The number of players to find.
    rounds
        The number M of rounds, each with a sample of every player.
    epsilon
        The allowed error, in units of the value. Ties are allowed as in `topshap.metrics`.

    Returns
    -------
    float
        The bound, at most the number of sets in the sum.

    Examples
    --------
    >>> table = [0.0, 3.0, 2.0, 4.0, 1.0, 3.0, 2.0, 6.0]
    >>> [round(identification_bound(table, k=1, rounds=m), 4) for m in (1, 3, 10)]
    [0.8491, 0.971, 0.9997]
    """
    checked = check_table("table", table)
    n = n_players_of(checked)
    k = check_int("k", k, low=1, high=n)
    rounds = check_int("rounds", rounds, low=1)
    epsilon = check_real("epsilon", epsilon, low=0.0)
    phi = shapley_from_table(checked)
    gaps = phi - np.sort(phi)[-k]
    allowed = epsilon + tie_tolerance(phi)
    sets, separating = _count_sets(gaps > allowed, np.abs(gaps) <= allowed, k)
    mistakes = _chance_of_swap(phi, _difference_variances(checked), rounds)
    return float(sets - (separating * mistakes).sum())


def _count_sets(must: Coalition, may: Coalition, k: int) -> tuple[int, Matrix]:
    """Return the number of sets of k players with a small error, and of those with i inside and j outside.

    Such a set has all players that must be inside, and fills the other places with any of those that may be.
    So the sum over sets in the bound needs no enumeration: each pair counts as often as there are sets that
    separate it.
    """
    m, places = int(may.sum()), k - int(must.sum())
    sets = _choose(m, places)
    out = ~(must | may)
    separating = sets * np.outer(must, out).astype(np.float64)
    separating += _choose(m - 1, places) * np.outer(must, may)
    separating += _choose(m - 1, places - 1) * np.outer(may, out)
    separating += _choose(m - 2, places - 1) * np.outer(may, may)
    np.fill_diagonal(separating, 0.0)
    return sets, separating


def _choose(n: int, k: int) -> int:
    return math.comb(n, k) if 0 <= k <= n else 0


def _chance_of_swap(phi: Values, squares: Matrix, rounds: int) -> Matrix:
    """Return Phi(sqrt(M) (phi_j - phi_i) / s_ij), the probability that j is estimated to be above i."""
    gap = phi - phi[:, None]
    # If s is zero, z is infinite, except for tied players: both orders are then equally likely.
    with np.errstate(all="ignore"):
        z = np.where(gap == 0.0, 0.0, math.sqrt(rounds) * gap / np.sqrt(squares))
    chance: Matrix = scipy.special.ndtr(z)
    return chance


def _variances(table: Values) -> Values:
    total = np.zeros(n_players_of(table))
    for chance, deviations in _deviations(table):
        total += (deviations**2 * chance).sum(axis=1)
    return total


def _covariance(table: Values) -> Matrix:
    n = n_players_of(table)
    upper = np.zeros((n, n))
    for chance, deviations in _deviations(table):
        # No matrix product: for such a small result, the threads of BLAS cost more than they save.
        for i in range(n):
            upper[i, i:] += (deviations[i:] * (deviations[i] * chance)).sum(axis=1)
    return upper + np.triu(upper, 1).T


def _difference_variances(table: Values) -> Matrix:
    """Return the variances of the differences, summed directly: the covariance would lose small ones."""
    n = n_players_of(table)
    upper = np.zeros((n, n))
    for chance, deviations in _deviations(table):
        for i in range(n - 1):
            upper[i, i + 1 :] += ((deviations[i + 1 :] - deviations[i]) ** 2 * chance).sum(axis=1)
    return upper + upper.T


def _deviations(table: Values) -> Iterator[tuple[Values, Matrix]]:
    """Yield blocks of coalitions: their probabilities, and D_i - phi_i with one row per player."""
    n = n_players_of(table)
    phi = shapley_from_table(table)[:, None]
    chance_of_size = np.array([1.0 / ((n + 1) * math.comb(n, s)) for s in range(n + 1)])
    sizes = coalition_sizes(n)
    player = (1 << np.arange(n))[:, None]
    for start in range(0, len(table), _BLOCK):
        ids = np.arange(start, min(start + _BLOCK, len(table)))
        samples = table[ids | player] - table[ids & ~player]
        yield chance_of_size[sizes[ids]], samples - phi
