"""A surrogate for sums of unanimity games of all sizes, next to that of the odd part.

It predicts sums of unanimity games and the scores of retrained models better, since their interactions are concentrated
where almost all players are present, or almost none. Whether a game is like that shows in the leave-one-out residuals.
If those of this surrogate are clearly smaller, its Shapley values are stacked with those of the other one, and in games
of many players it chooses the pairs.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.gp import FunctionalGP
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.algorithms.odd_gp.regime import FITTED_PER_PLAYER, RICH_MODEL_UP_TO, STACKED_LEFT_OUT, STACKED_PAIRS
from topshap.algorithms.odd_gp.unanimity_fitting import fit_unanimity_kernel
from topshap.algorithms.odd_gp.unanimity_kernel import UnanimityKernel

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.core.typing import Matrix, Players, Values

PAIRS_PER_PLAYER, PAIRS_PER_PLAYER_IF_LARGE = 4, 1.5
"""The smallest number of pairs per player, up to `RICH_MODEL_UP_TO` players and beyond.

With fewer, the first design is a large part of the pairs, and leave-one-out residuals at its extreme sizes favour this
surrogate: with 1.8 and 3.6 pairs per player, the mean squared errors on the tuning games of local-nlp are 1.2 and 1.09
times as large. In games of 300 and 500 players, where relevances have no parameters of their own, they are 0.8 times as
large with 1.7 to 3.3 pairs per player (standard error 0.13).
"""
FITTED = (150, 300)
"""The smallest and the largest number of pairs that hyper-parameters are fitted to, if there are more."""
FIRST_FIT, REFIT = 12, 8
"""BFGS iterations of the first fit, and of later ones, which continue it."""

CLEARLY_BETTER = 0.95
"""The largest root mean square of its leave-one-out residuals with which it is used, divided by that of the other one.

If its residuals are 0.95 to 1.1 times those of the other surrogate, it does not improve Shapley values on average: with
250 evaluations, mean squared errors on the tuning games are up to 1.05 times as large, except in the family global.
"""


class UnanimityPosterior(FunctionalGP[UnanimityKernel]):
    """A Gaussian process for sums of unanimity games, conditioned on the odd parts of observed pairs.

    Parameters
    ----------
    kernel, x, observed
        See `ConditionedGP`.
    rows
        The pairs whose leave-one-out residuals are compared with those of other surrogates.
    """

    def __init__(self, kernel: UnanimityKernel, x: Matrix, observed: Values, rows: Players) -> None:
        super().__init__(kernel, x, observed)
        self._rows = rows

    def functional_of(self, x: Matrix) -> Matrix:
        """Return the prior Cov(g(x), phi) of any pairs."""
        return self.kernel.functional(x)

    @cached_property
    def shapley_values(self) -> Values:
        """The posterior mean of the Shapley values, which add up to v(N) - v(empty)."""
        values = self.weights @ self.functional
        # The covariances are those of exact Shapley values but for errors of the quadrature.
        return np.asarray(values + (2.0 * self.observed[0] - values.sum()) / len(values))

    @cached_property
    def residuals(self) -> Values:
        """The leave-one-out residuals of the compared pairs."""
        return self.leave_one_out(self._rows)[0]


class UnanimitySurrogate:
    """A process for sums of unanimity games, refitted as pairs are observed.

    Parameters
    ----------
    rng
        Draws the pairs that the hyper-parameters are fitted to, where there are many.

    Examples
    --------
    >>> from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    >>> from topshap.games import UnanimityGame
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.choice(20, size, replace=False).tolist() for size in rng.integers(1, 21, 60).tolist()]
    >>> game = UnanimityGame(sets, rng.uniform(-1.0, 1.0, 60), n_players=20)
    >>> coalitions = rng.random((200, 20)) < rng.random((200, 1))
    >>> coalitions[0] = True
    >>> values, others = game(coalitions), game(~coalitions)
    >>> surrogate = OddSurrogate(np.random.default_rng(0))
    >>> surrogate.learn(np.where(coalitions, 1.0, -1.0), (values - others) / 2.0, (values + others) / 2.0)
    >>> posterior = UnanimitySurrogate(np.random.default_rng(0)).learn(surrogate)
    >>> exact = game.shapley_values()
    >>> errors = [surrogate.scale * posterior.shapley_values - exact, surrogate.shapley_values()[0] - exact]
    >>> [round(float(linalg.norm(error)), 2) for error in errors]
    [0.27, 0.34]
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._parameters: Values | None = None
        self._curvature = Curvature()

    def learn(self, surrogate: OddSurrogate) -> UnanimityPosterior | None:
        """Fit the hyper-parameters to the pairs of another surrogate, and return the posterior on its scale.

        Return None if there are too few or too many pairs, or if the other surrogate predicts them about as well.
        """
        known = surrogate.posterior
        m, n = known.x.shape
        residuals = known.left_out.residuals[-STACKED_LEFT_OUT:]
        own = n <= RICH_MODEL_UP_TO
        fewest = (PAIRS_PER_PLAYER if own else PAIRS_PER_PLAYER_IF_LARGE) * n
        if not fewest <= m <= STACKED_PAIRS or surrogate.further_pairs > 0 or is_perfect(residuals):
            return None
        fitted = self._rng.permutation(m)[: int(np.clip(FITTED_PER_PLAYER * n, *FITTED))]
        kernel, self._parameters = fit_unanimity_kernel(
            known.x[fitted],
            known.g[fitted],
            known.kernel.relevance,
            own=own,
            iterations=FIRST_FIT if self._parameters is None else REFIT,
            start=self._parameters,
            curvature=self._curvature,
        )
        posterior = UnanimityPosterior(kernel, known.x, known.g, known.left_out.rows[-STACKED_LEFT_OUT:])
        return posterior if linalg.norm(posterior.residuals) < CLEARLY_BETTER * linalg.norm(residuals) else None
