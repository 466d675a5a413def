"""Contrasts: the statements about two candidates each that together show a set, or an ordered list, to be right.

Every ranking is a family of contrasts s_i phi_i + c phi_j of two linear functionals of the game, where i is ranked
before j, and it is right up to epsilon if all of them are at least -epsilon.

By value, a set needs phi_i - phi_j for i inside and j outside. By magnitude, it needs both s_i phi_i - phi_j and
s_i phi_i + phi_j, where s_i is the sign of the estimate: then |phi_i| >= s_i phi_i >= max(phi_j, -phi_j) - epsilon. An
ordered list needs, in addition, the same for every two of its members. Adjacent ones are not enough, since t steps
that are right up to epsilon add up to t epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.ranking import rank_signs

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy


@dataclass(frozen=True, eq=False)
class Contrasts:
    """A family of contrasts, one per element of these arrays."""

    ahead: Players
    """The candidate i that is ranked before the other one."""
    behind: Players
    """The other candidate j."""
    sign_ahead: Values
    """The coefficient of phi_i: 1 or -1."""
    sign_behind: Values
    """The coefficient of phi_j: -1 or 1."""

    @property
    def count(self) -> int:
        """The number of contrasts."""
        return len(self.ahead)

    @property
    def are_differences(self) -> bool:
        """Whether all contrasts are differences phi_i - phi_j, up to their sign."""
        return bool((self.sign_ahead * self.sign_behind < 0.0).all())

    def part(self, rows: Players | slice) -> Contrasts:
        """Return some of the contrasts."""
        ahead, behind = self.ahead[rows], self.behind[rows]
        return Contrasts(ahead, behind, self.sign_ahead[rows], self.sign_behind[rows])

    def of(self, values: Values | Matrix) -> Matrix:
        """Return the contrasts of values with one element, or column, per candidate.

        Examples
        --------
        >>> contrasts_to_show(np.array([1, 0, 2]), 1, np.array([2.0, 3.0, 0.5])).of(np.array([2.0, 3.0, 0.5]))
        array([1. , 2.5])
        """
        found: Matrix = self.sign_ahead * values[..., self.ahead] + self.sign_behind * values[..., self.behind]
        return found

    def quadratic(self, matrix: Matrix) -> Values:
        """Return c' M c for the coefficients c of every contrast: its variance, if M is a covariance."""
        own = np.diag(matrix)
        shared = 2.0 * self.sign_ahead * self.sign_behind * matrix[self.ahead, self.behind]
        found: Values = own[self.ahead] + own[self.behind] + shared
        return found


def contrasts_to_show(
    ranking: Players, k: int, estimates: Values, rank_by: RankBy = "value", *, ordered: bool = False
) -> Contrasts:
    """Return the contrasts that have to be at least -epsilon for the top k of a ranking to be right.

    Parameters
    ----------
    ranking
        All candidates, the best first.
    k
        The number of candidates in the set or list.
    estimates
        Their estimates.
    rank_by
        The order, ``"value"`` or ``"magnitude"``.
    ordered
        Whether the order of the top k matters.

    Examples
    --------
    >>> found = contrasts_to_show(np.array([0, 1, 2]), 2, np.array([-3.0, 1.0, 0.5]), "magnitude", ordered=True)
    >>> found.count, found.of(np.array([-3.0, 1.0, 0.5])).tolist()
    (6, [2.5, 0.5, 2.0, 3.5, 1.5, 4.0])
    """
    top, rest = ranking[:k], ranking[k:]
    ahead, behind = np.repeat(top, len(rest)), np.tile(rest, len(top))
    if ordered:
        first, second = np.triu_indices(len(top), 1)
        ahead, behind = np.concatenate([ahead, top[first]]), np.concatenate([behind, top[second]])
    minus = np.full(len(ahead), -1.0)
    if rank_by != "magnitude":
        return Contrasts(ahead, behind, -minus, minus)
    signs = rank_signs(estimates, rank_by)[ahead]
    both = np.concatenate([minus, -minus])
    return Contrasts(np.tile(ahead, 2), np.tile(behind, 2), np.tile(signs, 2), both)


def most_errors(n: int, rank_by: RankBy = "value") -> int:
    """Return the number of contrasts one of which is wrong if a set or list of strictly positive contrasts is.

    Sort the n candidates by their true values. If i was shown to be ahead of j, which in truth is before i, then on
    the way down from j to i the position in the result falls somewhere (all candidates left out share the last one):
    some candidate was shown to be ahead of its immediate predecessor in truth. There are n - 1 of these pairs, with one
    contrast each by value and two by magnitude. This needs strictly positive bounds, so epsilon = 0: with a tolerance,
    every single step may be within it.

    Examples
    --------
    >>> most_errors(14), most_errors(14, "magnitude")
    (13, 26)
    """
    return (2 if rank_by == "magnitude" else 1) * (n - 1)
