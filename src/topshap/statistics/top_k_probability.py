"""Probabilities of membership in the top k when the true values are normal around the estimates.

They are relative frequencies in draws from that distribution. The seed is fixed: equal results have equal
probabilities. Among many players, only those that may be on either side of the border are drawn.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from topshap.statistics.partial_covariance import PartialCovariance, deviations
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.partial_covariance import Covariance
    from topshap.statistics.ranking import RankBy

DRAWS = 4096
FEW = 512
"""Up to this many players, all are drawn, and the root of their covariance is symmetric. It is triangular beyond."""
_FAR = 7.0
"""No draw is further from its mean than this many standard deviations, up to a probability of 3e-12."""
_NUMBERS_PER_BLOCK = 2**21
_CACHED_PLAYERS = 64
"""Up to this many players, at most 2 MB of random numbers are kept for the next result."""


class TopKProbabilities(NamedTuple):
    """The probability of a set of players to be the top k, and each player's probability to be one of them."""

    of_set: float
    of_player: Values


def top_k_probabilities(
    players: Players, estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy = "value"
) -> TopKProbabilities:
    """Return the probability that exactly `players` are the top k, and each player's probability to be one of them.

    All are nan where a standard error is unknown.

    Examples
    --------
    >>> top_k_probabilities(np.array([0]), np.array([1.0, 0.0]), np.array([0.1, 0.1]), None)
    TopKProbabilities(of_set=1.0, of_player=array([1., 0.]))
    """
    n, k = len(estimates), len(players)
    if k == n:
        return TopKProbabilities(1.0, np.ones(n))
    if np.isnan(std_errors).any():
        return TopKProbabilities(float("nan"), np.full(n, np.nan))
    inside, outside = _decided(rank_key(estimates, rank_by), deviations(covariance, std_errors), k)
    chosen = np.isin(np.arange(n), players)
    possible = bool(chosen[inside].all() and not chosen[outside].any())
    of_player = inside.astype(np.float64)
    drawn = np.flatnonzero(~inside & ~outside)
    places = k - int(inside.sum())
    if places in (0, len(drawn)):
        of_player[drawn] = float(places > 0)
        return TopKProbabilities(float(possible), of_player)
    mine, others = np.flatnonzero(chosen[drawn]), np.flatnonzero(~chosen[drawn])
    right, times = 0, np.zeros(len(drawn))
    for keys in _draw(estimates[drawn], std_errors[drawn], _among(covariance, drawn, n), rank_by):
        if possible:
            right += int((keys[:, mine].min(axis=1) > keys[:, others].max(axis=1)).sum())
        top = np.argpartition(-keys, places - 1, axis=1)[:, :places]
        times += np.bincount(top.ravel(), minlength=len(drawn))
    of_player[drawn] = times / DRAWS
    return TopKProbabilities(right / DRAWS, of_player)


def _among(covariance: Covariance | None, drawn: Players, n: int) -> Covariance | None:
    """Return a copy of the covariance of the players that are drawn."""
    if isinstance(covariance, PartialCovariance):
        return covariance.among(drawn, n)
    return None if covariance is None else covariance[np.ix_(drawn, drawn)]


def _decided(keys: Values, deviation: Values, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which players are inside the top k in every draw, and which are outside; none of a few players."""
    n = len(keys)
    if n <= FEW:
        return np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    low, high = keys - _FAR * deviation, keys + _FAR * deviation
    return low > np.partition(high, n - k - 1)[n - k - 1], high < np.partition(low, n - k)[n - k]


def _draw(estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy) -> Iterator[Matrix]:
    """Yield DRAWS draws of the values that players are ranked by, in blocks of bounded size.

    The covariance is overwritten.
    """
    n = len(estimates)
    errors_of = _errors(std_errors, covariance)
    if n <= _CACHED_PLAYERS:
        yield rank_key(estimates + errors_of(_standard_normal(n)), rank_by)
        return
    rng = np.random.default_rng(0)
    block = max(1, _NUMBERS_PER_BLOCK // n)
    for start in range(0, DRAWS, block):
        normal = rng.standard_normal((min(block, DRAWS - start), n))
        yield rank_key(estimates + errors_of(normal), rank_by)


@lru_cache(maxsize=1)
def _standard_normal(n: int) -> Matrix:
    """Return the numbers that all draws of n players start from, which take half of the time: rows share them."""
    normal = np.random.default_rng(0).standard_normal((DRAWS, n))
    normal.flags.writeable = False
    return normal


def _errors(std_errors: Values, covariance: Covariance | None) -> Callable[[Matrix], Matrix]:
    """Return the function from rows of independent standard normal numbers to rows of errors."""
    if isinstance(covariance, PartialCovariance):
        return _partly_dependent(std_errors, covariance)
    if covariance is not None and len(covariance) > FEW:
        return _triangular(covariance)
    if covariance is None and len(std_errors) > 64:
        return lambda normal: normal * std_errors
    root = np.diag(std_errors) if covariance is None else _root(covariance)
    return lambda normal: normal @ root


def _partly_dependent(std_errors: Values, covariance: PartialCovariance) -> Callable[[Matrix], Matrix]:
    """Return the function from normal numbers to errors, of which only those with a known covariance depend."""
    watched = covariance.candidates
    errors_of = _errors(std_errors[watched], covariance.matrix.copy())

    def errors(normal: Matrix) -> Matrix:
        drawn = normal * std_errors
        drawn[:, watched] = errors_of(np.ascontiguousarray(normal[:, watched]))
        return drawn

    return errors


def _root(covariance: Matrix) -> Matrix:
    """Return a matrix R with R'R = covariance; negative eigenvalues of an estimated covariance are set to zero."""
    values, vectors = np.linalg.eigh(covariance)
    root: Matrix = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return root


def _triangular(covariance: Matrix) -> Callable[[Matrix], Matrix]:
    """Return the function from normal numbers to errors by a pivoted Cholesky factor, which replaces the covariance.

    It takes much less time than `_root`. A covariance may be singular: the factor then ends at its rank.
    """
    factor: Any
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(covariance.T, overwrite_a=1)
    factor[rank:, rank:] = 0.0
    place = np.argsort(pivots)

    def errors_of(normal: Matrix) -> Matrix:
        errors = scipy.linalg.blas.dtrmm(1.0, factor, normal.T, trans_a=1, overwrite_b=1).T
        in_order: Matrix = errors[:, place]
        return in_order

    return errors_of
