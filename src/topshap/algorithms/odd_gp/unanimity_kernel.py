"""The covariance of the odd part of a sum of unanimity games of all sizes, with the covariances of its Shapley values.

A unanimity game of a set C is 1 on the coalitions that contain C and 0 elsewhere. Draw a time r from the standard
exponential distribution, and let each player i join C with probability 1 - exp(-r a_i), independently of the others.
With equal relevances a_i = 1, all sizes of C are equally likely. A sum of many such games with random coefficients has

    Cov(v(S), v(T)) = P(C is in S and in T) = E exp(-r a(N - S & T)) = 1 / (1 + a(N - S & T)),

where a(A) is the sum of the relevances of A. For g(S) = (v(S) - v(N - S)) / 2, with the four parts A of the players
that two coalitions and their complements have in common,

    Cov(g(S), g(T)) = 1/4 * sum over the parts A of sign / (1 + a(N - A)),   sign + for S & T and for neither.

The sinh of `odd_kernel` spreads interactions evenly over all coalitions. Here they are concentrated where almost all
players are present, or almost none: the odd part is the same for the dual games, which are 1 unless C is absent. Sums
of unanimity games of all sizes and the scores of retrained models are closer to this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.integrals import pair_functional, unit_nodes
from topshap.algorithms.odd_gp.odd_kernel import extremeness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topshap.core.typing import Matrix, Values

TIMES, PROBABILITIES = 60, 24
"""The numbers of nodes of the two integrals, for an error of about 1e-9 with 120 and 2e-7 with 500 players."""
FIRST_TIME, LAST_TIME = 1e-4, 36.0
"""The first time, divided by 1 + the sum of all relevances, and the last one, which has a weight of exp(-36)."""
BLOCK = 2048
"""The number of rows computed together, which bounds memory."""


@dataclass(frozen=True, eq=False)
class UnanimityKernel:
    """The covariance of the odd part of a sum of an additive game, unanimity games of all sizes, and a residual.

    Examples
    --------
    >>> kernel = UnanimityKernel(relevance=np.ones(2), smooth=1.0, linear=0.0, residual_level=0.0)
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> kernel.covariance(x, x).round(3)
    array([[1. , 0. ],
           [0. , 0.5]])
    """

    relevance: Values
    """The relevance a_i > 0 of each player: how soon it joins a set."""
    smooth: float
    """The variance of the unanimity games on the grand coalition."""
    linear: float
    """The variance of each linear coefficient."""
    residual_level: float
    """The residual variance of a pair of two halves."""
    residual_slope: float = 0.0
    """The slope of the log residual variance in log(n^2 / (4 s (n - s))), which grows towards extreme sizes."""

    @property
    def scale(self) -> float:
        """The factor of the sum over the four parts."""
        total = float(self.relevance.sum())
        return self.smooth * (1.0 + total) / total

    def covariance(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the covariance of g between the rows of x and of y, without the residual."""
        covariance = self.linear * (x @ y.T)
        for part, sign, _ in common_parts(x, y, self.relevance):
            covariance += np.multiply(part, sign * self.scale, out=part)  # in place, since the matrix is large
        return covariance

    def rows_among(self, x: Matrix) -> Callable[[int], Values]:
        """Return a function that gives the covariance of row i of x with all rows of x, without the residual."""
        return lambda i: np.asarray(self.covariance(x[i : i + 1], x)[0])

    def variances(self, x: Matrix) -> Values:
        """Return the variance of g in each pair, without the residual."""
        total, own = float(self.relevance.sum()), x @ self.relevance
        outside, inside = (total - own) / 2.0, (total + own) / 2.0
        smooth = 1.0 / (1.0 + outside) + 1.0 / (1.0 + inside) - 2.0 / (1.0 + total)
        return np.asarray(self.scale * smooth + self.linear * x.shape[1])

    def residual(self, x: Matrix) -> Values:
        """Return the residual variance of each pair."""
        return np.asarray(self.residual_level * np.exp(self.residual_slope * extremeness(x)))

    def functional(self, x: Matrix) -> Matrix:
        """Return Cov(phi_i, observed g(x)) for every row x (rows) and player i (columns)."""
        parts = np.array_split(x, len(x) // BLOCK + 1)
        smooth = np.concatenate([self._members(part) - self._members(-part) for part in parts])
        return 2.0 * self.scale * smooth + 2.0 * self.linear * x + self.residual(x)[:, None] * pair_functional(x)

    def _members(self, x: Matrix) -> Matrix:
        """Return Cov(phi_i, v(x)) for unanimity games with a variance of 1: zero for players outside x.

        The Shapley values of a unanimity game are 1 / |C| for the members of C, and 1 / |C| is the integral of
        t^(|C| - 1). So Cov(phi_i, v(T)) is the expectation over r and the integral over t of

            (1 - e_i) * prod over j != i in T of (e_j + t (1 - e_j)) * prod over j outside T of e_j,  e_j = exp(-r a_j).
        """
        inside = (x > 0).astype(np.float64)
        log_inside, log_outside, ratio = self._factors
        return inside * (np.exp(inside @ log_inside + log_outside) @ ratio)

    @cached_property
    def _factors(self) -> tuple[Matrix, Values, Matrix]:
        """The factors at the nodes of both integrals.

        They are the logarithms of the factors of players inside T, relative to those outside; the logarithm of the
        product of all factors outside, with the weight of the node; and what player i has instead of its factor.
        """
        total = float(self.relevance.sum())
        first, last = np.log(FIRST_TIME / (1.0 + total)), np.log(LAST_TIME)
        nodes, weights = unit_nodes(TIMES)
        times = np.exp(first + (last - first) * nodes)
        time_weights = (last - first) * weights * times * np.exp(-times)
        nodes, weights = unit_nodes(PROBABILITIES)
        t, t_weights = 1.0 - nodes**3, 3.0 * nodes**2 * weights  # the product is steep near t = 1 if T is large
        r = np.repeat(times, PROBABILITIES)
        outside = np.exp(-np.outer(r, self.relevance))
        factor = outside + np.tile(t, TIMES)[:, None] * (1.0 - outside)
        log_inside = np.log(factor) + np.outer(r, self.relevance)
        return log_inside.T, np.log(np.outer(time_weights, t_weights).ravel()) - r * total, (1.0 - outside) / factor


def common_parts(x: Matrix, y: Matrix, relevance: Values) -> Iterator[tuple[Matrix, float, tuple[float, float]]]:
    """Yield 1 / (1 + a(N - A)) between the rows of x and of y for the four parts A, with the sign of the part.

    A part has the players of x or of -x that are also in y or in -y. The two signs tell which.
    """
    total, own, others = float(relevance.sum()), (x @ relevance)[:, None], y @ relevance
    both = (x * relevance) @ y.T
    for s, t in product((1.0, -1.0), repeat=2):
        # a(A) is (total + s own + t others + s t both) / 4, since x and y are signs.
        missing = (-0.25 * s * t) * both
        missing -= 0.25 * s * own
        missing += 1.0 + 0.75 * total - 0.25 * t * others
        yield np.reciprocal(missing, out=missing), s * t, (s, t)
