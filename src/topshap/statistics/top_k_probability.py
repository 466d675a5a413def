"""Probabilities of membership in the top k when the true values are normal around the estimates.

They are relative frequencies in draws from that distribution. The seed is fixed: equal results have equal
probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

DRAWS = 4096
_NUMBERS_PER_BLOCK = 2**21


def probability_of_set(
    players: Players, estimates: Values, std_errors: Values, covariance: Matrix | None, rank_by: RankBy = "value"
) -> float:
    """Return the probability that exactly `players` are the top k, nan where a standard error is unknown.

    Examples
    --------
    >>> probability_of_set(np.array([0]), np.array([1.0, 0.0]), np.array([0.1, 0.1]), None)
    1.0
    """
    n, k = len(estimates), len(players)
    if k == n:
        return 1.0
    if np.isnan(std_errors).any():
        return float("nan")
    rest = np.setdiff1d(np.arange(n), players)
    right = sum(
        int((keys[:, players].min(axis=1) > keys[:, rest].max(axis=1)).sum())
        for keys in _draw(estimates, std_errors, covariance, rank_by)
    )
    return right / DRAWS


def probability_in_top_k(
    k: int, estimates: Values, std_errors: Values, covariance: Matrix | None, rank_by: RankBy = "value"
) -> Values:
    """Return each player's probability of being one of the top k, nan where a standard error is unknown."""
    n = len(estimates)
    if k == n:
        return np.ones(n)
    if np.isnan(std_errors).any():
        return np.full(n, np.nan)
    times = np.zeros(n)
    for keys in _draw(estimates, std_errors, covariance, rank_by):
        top = np.argpartition(-keys, k - 1, axis=1)[:, :k]
        times += np.bincount(top.ravel(), minlength=n)
    return times / DRAWS


def _draw(estimates: Values, std_errors: Values, covariance: Matrix | None, rank_by: RankBy) -> Iterator[Matrix]:
    """Yield DRAWS draws of the values that players are ranked by, in blocks of bounded size."""
    rng = np.random.default_rng(0)
    n = len(estimates)
    root = np.diag(std_errors) if covariance is None and n <= 64 else _root(covariance)
    block = max(1, _NUMBERS_PER_BLOCK // n)
    for start in range(0, DRAWS, block):
        normal = rng.standard_normal((min(block, DRAWS - start), n))
        yield rank_key(estimates + (normal * std_errors if root is None else normal @ root), rank_by)


def _root(covariance: Matrix | None) -> Matrix | None:
    """Return a matrix R with R'R = covariance; negative eigenvalues of an estimated covariance are set to zero."""
    if covariance is None:
        return None
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T
