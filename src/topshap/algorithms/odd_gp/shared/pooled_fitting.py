"""The fit of hyper-parameters to several games whose players are some of the same ones.

Each game has its own coalitions and its own process. What the games have in common is how their hyper-parameters
deviate from the prior means, which depend on the number of players and on the observations of each game:

    parameters of a game = its prior means + deviations,

with one deviation for each of the general parameters, and one for the relevance of each player. The relevances still
follow the main effects of each game. The deviations are fitted to the likelihoods of all games together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.fitting import HEREDITY, OWN, SHARED_TOLERANCE, SLOPE, priors
from topshap.algorithms.odd_gp.minimise import Curvature, minimise
from topshap.algorithms.odd_gp.shared.fitting import SharedObjective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.algorithms.odd_gp.fitting import Observations
    from topshap.core.typing import Players, Values

FITTED_GAMES = 8
"""The number of games that deviations are fitted to, those with the most outputs first.

With 4 or 16 instead of 8 games, errors on adult (XGBoost and MLP, mean/mode imputation, three seeds) change by at most
6% at 70 and 100 evaluations; with 16 everything takes 1.2 times as long.
"""
_FURTHEST = 20.0
"""The bound of deviations of logarithms of variances; the parameters themselves have narrower ones."""


class PooledGame(NamedTuple):
    """One of the games: its observations, and its players among all players."""

    data: Observations
    players: Players


class PooledFit(NamedTuple):
    """The most probable deviations of the parameters of several games, and the curvature of their fit."""

    deviations: Values
    curvature: Curvature

    def parameters_of(self, game: PooledGame) -> Values:
        """Return the hyper-parameters of a game, within their bounds."""
        means, _, bounds = priors(game.data, own=True)
        low, high = np.array(bounds).T
        return _parameters(means, low, high, game.players, self.deviations)

    def curvature_for(self, game: PooledGame) -> Curvature:
        """Return the curvature to expect of a fit to a game alone, from its share of all pairs and the prior."""
        if self.curvature.inverse_hessian is None:
            return Curvature()
        _, prior_deviation, _ = priors(game.data, own=True)
        kept, n_pairs = np.concatenate([np.arange(OWN), OWN + game.players]), len(game.data.x)
        hessian = np.linalg.inv(self.curvature.inverse_hessian)[np.ix_(kept, kept)]
        hessian *= n_pairs / self.curvature.n_pairs
        return Curvature(np.linalg.inv(hessian + np.diag(prior_deviation**-2.0)), n_pairs)


def _parameters(means: Values, low: Values, high: Values, players: Players, deviations: Values) -> Values:
    own = np.concatenate([deviations[:OWN], deviations[OWN + players]])
    return np.clip(means + own, low, high)


class PooledObjective:
    """The negative log posterior of the deviations that games have in common, with its gradient.

    Parameters
    ----------
    games
        The games.
    rows
        For each game, the pairs that the deviations are fitted to.
    n
        The number of all players.
    """

    def __init__(self, games: Sequence[PooledGame], rows: Sequence[Players], n: int) -> None:
        objectives = [SharedObjective(game.data, own, own=True) for game, own in zip(games, rows, strict=True)]
        self._games = [
            (objective, np.array(objective.bounds).T, game.players)
            for objective, game in zip(objectives, games, strict=True)
        ]
        self.prior_deviation = np.concatenate([objectives[0].prior_deviation[:OWN], np.ones(n)])
        _, _, bounds = priors(games[0].data, own=True)
        self.low, self.high = np.full(OWN + n, -_FURTHEST), np.full(OWN + n, _FURTHEST)
        for position in (HEREDITY, SLOPE):  # their prior means are the same for all games
            self.low[position], self.high[position] = bounds[position] - objectives[0].prior_mean[position]
        self.low[OWN:], self.high[OWN:] = bounds[OWN]

    def __call__(self, deviations: Values) -> tuple[float, Values]:
        """Return the objective and its gradient."""
        z = deviations / self.prior_deviation
        total, gradient = float(z @ z) / 2.0, z / self.prior_deviation
        for objective, (low, high), players in self._games:
            parameters = _parameters(objective.prior_mean, low, high, players, deviations)
            value, slope = objective.misfit(parameters)
            slope = np.where((parameters > low) & (parameters < high), slope, 0.0)
            total += value
            gradient[:OWN] += slope[:OWN]
            gradient[OWN + players] += slope[OWN:]
        return total, gradient


def fit_pooled(
    games: Sequence[PooledGame], rows: Sequence[Players], n: int, *, iterations: int, start: PooledFit | None = None
) -> PooledFit:
    """Return the most probable deviations of the parameters of several games.

    Parameters
    ----------
    games, rows, n
        See `PooledObjective`. Only some of the games are used, see `FITTED_GAMES`.
    iterations
        The largest number of iterations.
    start
        The fit to continue, by default none.
    """
    outputs = [game.data.g.shape[1] for game in games]
    used = np.argsort(-np.array(outputs), kind="stable")[:FITTED_GAMES].tolist()
    objective = PooledObjective([games[i] for i in used], [rows[i] for i in used], n)
    n_pairs = sum(len(rows[i]) for i in used)
    before = PooledFit(np.zeros(OWN + n), Curvature()) if start is None else start
    deviations, inverse_hessian = minimise(
        objective,
        before.deviations,
        objective.low,
        objective.high,
        before.curvature.at_start(objective.prior_deviation, n_pairs),
        iterations=iterations,
        tolerance=SHARED_TOLERANCE,
    )
    return PooledFit(deviations, Curvature(inverse_hessian, n_pairs))
