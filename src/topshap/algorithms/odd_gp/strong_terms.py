"""Strong terms: interactions of three or five players with variances of their own.

The process spreads interactions over all sets of players in proportion to the product of their relevances. In sums of
trees or of unanimity games, and in sparse polynomials, a few sets interact far more than that. The Walsh function of a
set T is z_T(x), the product of the signs of its players. With K the covariance of the observed pairs,

    t^2 = (z' K^-1 g)^2 / (z' K^-1 z)

is about the square of a standard normal number if the process is right about T. Sets whose t^2 exceeds that of the
most extreme set of their size by chance get a variance of their own: the covariance becomes K + Z diag(variances) Z'.
Only significant sets are admitted, since the leave-one-out residuals are those of pairs that chose the sets: with
variances for many sets, they fall where the errors of the Shapley values rise.

A Walsh function of an odd set T has the Shapley values 2 / |T| for the players of T and 0 for others, see `integrals`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.integrals import log_choose
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.core import coalitions as co
from topshap.core.tables import coalition_sizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.core.typing import Matrix, Values

    Term = tuple[int, ...]

PAIRS_PER_PLAYER = 8
"""The smallest number of pairs per player: with fewer, chance and misfit look like strong terms.

On sums of unanimity games of up to twelve players with 60 and 120 players, and 2 to 4 pairs per player, strong terms
increase the mean squared error to 1.6 to 2.4 times; with 8 or more per player, to at most 1.2 times.
"""
LARGEST_ORDER, TRANSFORMED_UP_TO = 5, 16
"""The largest number of players of a term; and of players of a game in which terms of five players are considered,
whose fast Walsh transform gives those of all sets at once."""
MARGIN = 2.0
"""Added to 2 log(number of sets of that size), about the largest t^2 among so many by chance."""
SCANS, SHORTLIST, ADDED = 6, 48, 16
"""The largest number of scans of all sets; the number of sets whose t^2 is computed after a scan; and the largest
number of terms added before the t^2 of the others are updated."""
MOST = 0.3
"""The largest number of terms per pair."""
STEPS = 3
"""The number of times that variances are set to the squares of the estimated coefficients."""


class StrongTerms:
    """A process on the odd part with strong terms, given the posterior without them.

    Parameters
    ----------
    posterior
        The posterior of the process without strong terms.

    Examples
    --------
    >>> from topshap.algorithms.odd_gp.odd_kernel import OddKernel
    >>> from topshap.algorithms.odd_gp.posterior import OddPosterior
    >>> x = np.where(np.random.default_rng(0).random((100, 12)) < 0.5, 1.0, -1.0)
    >>> kernel = OddKernel(relevance=np.full(12, 0.1), smooth=0.1, linear=1.0, residual_level=0.01)
    >>> strong = StrongTerms.found_by(OddPosterior(kernel, x, x[:, 0] + x[:, 3] * x[:, 5] * x[:, 7]))
    >>> strong.terms[0], strong.shapley_values[[0, 3]].round(2)
    ((3, 5, 7), array([2.  , 0.67]))
    """

    def __init__(self, posterior: OddPosterior) -> None:
        m = len(posterior.x)
        self._posterior = posterior
        self.terms: list[Term] = []
        """The sets of players."""
        self.coefficients: Values = np.empty(0)
        """The posterior means of the coefficients of the Walsh functions."""
        self.variances: Values = np.empty(0)
        """Their prior variances."""
        self.weights: Values = posterior.weights
        """The inverse covariance times the observed values."""
        self._z, self._solved = np.empty((m, 0)), np.empty((m, 0))
        self._inner = np.empty((0, 0))

    @classmethod
    def found_by(cls, posterior: OddPosterior) -> StrongTerms:
        """Return the process with all strong terms, which may be none."""
        m, n = posterior.x.shape
        strong = cls(posterior)
        if m < PAIRS_PER_PLAYER * n:
            return strong
        limits = MARGIN + 2.0 * log_choose(n, np.arange(n + 1))
        scan = _scan_transformed(posterior.x, limits) if n <= TRANSFORMED_UP_TO else _scan_triples(posterior.x)
        for _ in range(SCANS):
            before = len(strong.terms)
            strong.add_significant(scan(strong.weights), limits)
            if len(strong.terms) == before or is_perfect(strong.residuals):
                break
        return strong

    @property
    def shapley_values(self) -> Values:
        """The posterior mean of the Shapley values."""
        values = self.weights @ self._posterior.functional
        for term, coefficient in zip(self.terms, self.coefficients.tolist(), strict=True):
            values[list(term)] += 2.0 / len(term) * coefficient
        return values

    @property
    def residuals(self) -> Values:
        """The leave-one-out residuals of the pairs that the posterior left out."""
        return self.weights[self._posterior.left_out.rows] / self._precisions

    @property
    def _precisions(self) -> Values:
        """The diagonal elements of the inverse covariance for the pairs that the posterior left out."""
        rows, _, deviations = self._posterior.left_out
        solved = self._solved[rows]
        return 1.0 / deviations**2 - np.einsum("mr,mr->m", solved @ self._inner, solved)

    def add_significant(self, candidates: list[Term], limits: Values) -> None:
        """Add the candidates with a t^2 above the limit of their size, the most significant first."""
        posterior = self._posterior
        z = np.stack([posterior.x[:, term].prod(axis=1) for term in candidates], axis=1)
        solved = posterior.solve(z)
        limit = limits[[len(term) for term in candidates]]
        alone = np.einsum("mc,mc->c", z, solved)  # z' K^-1 z without the strong terms
        free = np.array([term not in self.terms for term in candidates])
        while free.any():
            across = self._z.T @ solved
            expected = np.maximum(alone - np.einsum("rc,rc->c", across, self._inner @ across), 1e-9 * alone)
            scores = z.T @ self.weights
            misfit = float(np.mean(self.weights[posterior.left_out.rows] ** 2 / self._precisions))
            excess = np.where(free, scores**2 / (expected * max(misfit, 1e-300)) - limit, -np.inf)
            chosen = np.argsort(-excess, kind="stable")[:ADDED]
            chosen = chosen[excess[chosen] > 0.0]
            if len(chosen) == 0 or len(self.terms) + len(chosen) > MOST * len(z):
                return
            free[chosen] = False
            self.terms += [candidates[i] for i in chosen]
            self._z = np.concatenate([self._z, z[:, chosen]], axis=1)
            self._solved = np.concatenate([self._solved, solved[:, chosen]], axis=1)
            self._estimate(np.concatenate([self.coefficients, scores[chosen] / expected[chosen]]))

    def _estimate(self, coefficients: Values) -> None:
        """Estimate the coefficients, each with the square of its estimate as variance, from these first ones."""
        information, observed = self._z.T @ self._solved, self._solved.T @ self._posterior.g
        for _ in range(STEPS):
            self.variances = np.maximum(coefficients**2, 1e-12 * float(np.max(coefficients**2)))
            self._inner = linalg.inv(np.diag(1.0 / self.variances) + information)
            coefficients = self._inner @ observed
        self.coefficients = coefficients
        self.weights = self._posterior.weights - self._solved @ coefficients


def _scan_transformed(x: Matrix, limits: Values) -> Callable[[Values], list[Term]]:
    """Return a function that lists the sets with the largest (z' weights)^2 relative to the limits of their sizes."""
    n = x.shape[1]
    ids, sizes = co.to_ids(x > 0), coalition_sizes(n).astype(np.intp)
    considered = (sizes % 2 == 1) & (sizes > 1) & (sizes <= LARGEST_ORDER)
    scale = np.where(considered, 1.0 / limits[sizes], 0.0)

    def scan(weights: Values) -> list[Term]:
        table = np.zeros(2**n)
        table[ids] = weights
        found = np.argpartition(-scale * walsh_transform(table) ** 2, SHORTLIST)[:SHORTLIST]
        return [tuple(np.flatnonzero(members).tolist()) for members in co.from_ids(found, n)]

    return scan


def _scan_triples(x: Matrix) -> Callable[[Values], list[Term]]:
    """Return a function that lists the sets of three players with the largest (z' weights)^2."""
    n = x.shape[1]
    signs = x.astype(np.float32)

    def scan(weights: Values) -> list[Term]:
        scores, terms = np.empty(0), np.empty((0, 3), dtype=np.intp)
        for i in range(n - 2):
            others = signs[:, i + 1 :]
            sums = np.triu(np.abs((others * (weights.astype(np.float32) * signs[:, i])[:, None]).T @ others), 1)
            best = np.argpartition(-sums, min(SHORTLIST, sums.size - 1), axis=None)[:SHORTLIST]
            j, k = np.unravel_index(best, sums.shape)
            scores = np.concatenate([scores, sums[j, k]])
            terms = np.concatenate([terms, np.stack([np.full(len(j), i), j + i + 1, k + i + 1], axis=1)])
            kept = np.argsort(-scores, kind="stable")[:SHORTLIST]
            scores, terms = scores[kept], terms[kept]
        return [tuple(term) for term in terms[scores > 0.0].tolist()]

    return scan


def walsh_transform(table: Values) -> Values:
    """Return, for every set T, the sum over all coalitions x of table[x] times the product of the signs of T in x.

    Examples
    --------
    >>> walsh_transform(np.array([1.0, 2.0, 3.0, 4.0]))
    array([10.,  2.,  4.,  0.])
    """
    n = len(table).bit_length() - 1
    for i in range(n):
        without, inside = np.moveaxis(table.reshape(-1, 2, 2**i), 1, 0)
        table = np.stack([inside + without, inside - without], axis=1)
    return table.ravel()
