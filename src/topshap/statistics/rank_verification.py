"""Rank verification: tests of whether the leading players are ahead of all others.

The estimates X are normal around the true values with a known covariance, which may be any. The border of size k is
verified if its smallest standardised lead,

    m_k = minimum over i among the leading k and j among the others of (X_i - X_j) / sd(X_i - X_j),

passes a two-sided test: p_k = 2 P(Z > m_k). This is corrected neither for the other players nor for the choice of the
leading k by the same data (Gutmann and Maymin 1987 and Hung and Fithian 2019 for a winner with equal variances,
Goldwasser, Fithian and Hooker 2025 for unequal variances, Sood 2025 for any k and covariance).

Proof. Given that the set A leads, suppose that mu_i <= mu_j for some i in A and j outside, and let D be their
standardised difference. Given also the part of X that is independent of D, the set A leads if and only if D is in an
interval with a lower end V of at most max(0, D - m_k): any other lead is E = r D + a constant with a correlation
0 < r <= 1, so E > 0 is the condition D > D - E / r, and E / r >= m_k. So the conditional p-value of D is at most
P(Z > D) / P(Z > max(0, D - m_k)), which falls as D grows, since the normal distribution has an increasing hazard rate.
At D = m_k, its smallest value, this is 2 P(Z > m_k). An upper end of the interval only makes the p-value smaller.

Ranks are verified in order, up to the first border with p_k above 1 - level. The probability that any of them is wrong
is at most 1 - level too: consider the first rank k whose player is not ahead of all that follow. Given the ordered
players 1 .. k, which determine that k is the first, the conditions are leads at the borders 1 .. k, and all of these
were verified, so the proof holds with the smallest of m_1 .. m_k.

If several sizes may be chosen from, each of the n - 1 has the level (1 - level) / (n - 1). For this, no smaller number
is valid in general: half of the borders may separate players that tie, independently of each other.

By magnitude, |phi_i| > |phi_j| means that s phi_i - phi_j > 0 and s phi_i + phi_j > 0, with s the sign of X_i. If it is
wrong, one of the two has a mean of at most 0 for either s, so the proof holds with the leads s X_i -+ X_j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from topshap.statistics.partial_covariance import covariance_with
from topshap.statistics.ranking import rank_signs
from topshap.statistics.ties import EXACT_ROUNDING, ROUNDING

if TYPE_CHECKING:
    from topshap.core.typing import Players, Values
    from topshap.statistics.partial_covariance import Covariance
    from topshap.statistics.ranking import RankBy

NO_VARIANCE = 1e-12
"""The variance of a difference is a rounding error below this fraction of the sum of both variances."""


def border_p_values(
    ranking: Players, estimates: Values, std_errors: Values, covariance: Covariance | None, rank_by: RankBy = "value"
) -> Values:
    """Return the p-value of the border after each of the first n - 1 ranks.

    The p-value is 1 where players at the border tie or have an unknown standard error, and 0 where all differences
    across the border are known exactly. Estimates are independent if the covariance is None.

    Parameters
    ----------
    ranking
        All players, best first.
    estimates, std_errors, covariance
        The estimates and their uncertainty.
    rank_by
        The order in which players are ranked.

    Examples
    --------
    >>> border_p_values(np.arange(3), np.array([9.0, 3.0, 0.0]), np.ones(3), None).round(4)
    array([0.    , 0.0339])
    """
    n = len(ranking)
    estimated = _Estimated(estimates, std_errors, covariance, rank_by)
    leads = np.full(n, np.inf)  # at l: the smallest lead of the players so far over the players at l and after it
    borders = np.empty(n - 1)
    for rank in range(n - 1):
        after = leads[rank + 1 :]
        over_each = estimated.leads(ranking[rank], ranking[rank + 1 :])
        np.minimum(after, np.minimum.accumulate(over_each[::-1])[::-1], out=after)
        borders[rank] = after[0]
    return np.asarray(np.minimum(2.0 * scipy.special.ndtr(-borders), 1.0))


class _Estimated(NamedTuple):
    """Estimates, their uncertainty and the order in which players are ranked."""

    estimates: Values
    std_errors: Values
    covariance: Covariance | None
    rank_by: RankBy

    def leads(self, i: np.intp, others: Players) -> Values:
        """Return the lead of a player over each of the others, in units of its standard deviation, at least 0."""
        sign = float(rank_signs(self.estimates[[i]], self.rank_by)[0])
        if self.rank_by == "magnitude":
            return np.minimum(self._leads(i, others, sign, 1.0), self._leads(i, others, sign, -1.0))
        return self._leads(i, others, sign, sign)

    def _leads(self, i: np.intp, others: Players, sign: float, of_others: float) -> Values:
        """Return the standardised lead of `sign` times the value of i over `of_others` times the others' values."""
        values, errors, shared = self.estimates, self.std_errors, self.covariance
        lead = sign * values[i] - of_others * values[others]
        variance = independent = errors[i] ** 2 + errors[others] ** 2
        if shared is not None:
            with_others = covariance_with(int(i), shared, len(values))[others]
            variance = independent - 2.0 * sign * of_others * with_others
            # An estimated covariance may not be positive definite; a variance that is not positive is not certainty.
            variance = np.where(variance > NO_VARIANCE * independent, variance, independent)
        standardised = np.divide(lead, np.sqrt(variance), out=np.full_like(lead, np.inf), where=variance != 0.0)
        tie = (ROUNDING if errors.any() else EXACT_ROUNDING) * float(np.abs(values).max())
        return np.where((lead > tie) & ~np.isnan(standardised), standardised, 0.0)
