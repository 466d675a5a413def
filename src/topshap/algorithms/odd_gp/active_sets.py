"""A Bayesian model of games in which few players matter: a posterior over the set of these, the active set.

Given its active set, a game is a sum of the effects of active players and of pairs of them, of a small effect of every
player, and of a residual for each coalition. Without active players, the effects of all may be large. In this model the
Shapley value of a player is twice its effect, since pairs are even in x = -1, 1. The scale of the values is integrated
out, so that the marginal likelihood of an active set has a closed form. A beam search adds one player at a time; the
sets that it finds are weighted by their posterior probability. So fewer evaluations than players can be enough, as in
compressed sensing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values

_RESIDUALS = (1e-3, 0.03, 0.3)
"""Variances of the residuals, relative to that of the effect of an active player."""
_PAIR = 0.25
"""The variance of the effect of an active pair."""
_SMALL = 0.02
"""The variance of the effect of every player, relative to that of the residuals."""
_DENSE = (1.0, 30.0, 1000.0)
"""The same without active players, if all players matter."""
_CONSTANT = 10.0
"""The variance of the constant."""
_BEAM, _SCREENED, _MORE_THAN_K = 4, 24, 4
"""The number of sets that the search extends at each size, of players that it tries to add to one with their pairs, and
how many players more than k a set may have."""
_PATIENCE = 3
"""The search ends if the best sets of so many sizes in a row are less probable than a smaller one."""
_MEMBERS, _LEAST_WEIGHT = 40, 1e-4
"""The largest number of sets in the posterior, and the smallest weight of one relative to the best."""


class ActiveSet(NamedTuple):
    """A set of active players with a variance of the residuals."""

    players: tuple[int, ...]
    residual: float
    small: float = _SMALL


class _Fitted(NamedTuple):
    """The model of an active set, given the values."""

    members: ActiveSet
    factor: tuple[Matrix, bool]
    solved: Values
    """The inverse covariance times the values."""
    scale: float
    """The posterior mean of the variance that all others are relative to."""


class ActiveSets:
    """The posterior over active sets.

    Parameters
    ----------
    x
        Coalitions as -1 and 1, of shape (m, n).
    values
        Their values.
    k
        The number of players to find, a guess of the number of active ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.sign(rng.normal(size=(40, 50)))
    >>> values = 3.0 * (x[:, 7] > 0) + 2.0 * (x[:, 31] > 0) * (x[:, 40] > 0)
    >>> mean, covariance = ActiveSets(x, values, k=3).shapley_values()
    >>> np.argsort(-mean)[:3].tolist(), mean[[7, 31, 40]].round(1).tolist()
    ([7, 31, 40], [3.0, 1.0, 1.0])
    """

    def __init__(self, x: Matrix, values: Values, k: int) -> None:
        self._x = x
        self._mean, self._scale = float(values.mean()), float(values.std()) or 1.0
        self._z = (values - self._mean) / self._scale
        m, n = x.shape
        self._log_odds = float(np.log((k + 1.0) / max(1.0, n - k - 1.0)))
        found = self._search(min(n, max(1, m // 2), k + _MORE_THAN_K))
        best = sorted(found, key=lambda members: -found[members])[:_MEMBERS]
        weights = np.exp(np.array([found[members] - found[best[0]] for members in best]))
        kept = weights > _LEAST_WEIGHT
        self.weights: Values = weights[kept] / weights[kept].sum()
        """The posterior probabilities of the sets."""
        self._fitted = [self._fit(members) for members, keep in zip(best, kept, strict=True) if keep]

    def shapley_values(self) -> tuple[Values, Matrix]:
        """Return the mean and covariance of the Shapley values."""
        effects, spread = [], np.zeros((self._x.shape[1],) * 2)
        for weight, fitted in zip(self.weights, self._fitted, strict=True):
            prior = np.full(self._x.shape[1], fitted.members.small * fitted.members.residual)
            prior[list(fitted.members.players)] += 1.0
            joint = self._x * prior
            effects.append(joint.T @ fitted.solved)
            covariance = np.diag(prior) - joint.T @ linalg.cho_solve(fitted.factor, joint)
            spread += weight * fitted.scale * covariance
        mean = self.weights @ np.array(effects)
        between = (np.array(effects) - mean) * np.sqrt(self.weights)[:, None]
        covariance = 4.0 * self._scale**2 * (spread + between.T @ between)
        return 2.0 * self._scale * mean, (covariance + covariance.T) / 2.0

    def predict(self, x: Matrix) -> Values:
        """Return the expected values of coalitions."""
        return np.asarray(self._mean + self._scale * (self.weights @ self.predictions(x)))

    def predictions(self, x: Matrix) -> Matrix:
        """Return the values of coalitions as each set predicts them, scaled to a variance of 1."""
        predicted = []
        for members, _, solved, _ in self._fitted:
            features, variances = _features(x, members.players)
            own, _ = _features(self._x, members.players)
            covariance = _CONSTANT + members.small * members.residual * (x @ self._x.T) + (features * variances) @ own.T
            predicted.append(covariance @ solved)
        return np.array(predicted)

    def _search(self, largest: int) -> dict[ActiveSet, float]:
        """Return the logarithms of the posterior probabilities of many sets, up to a constant."""
        dense = [ActiveSet((), 1.0, small) for small in _DENSE]
        found = {members: self._score(members) for members in dense}
        for residual in _RESIDUALS:
            empty = ActiveSet((), residual)
            found[empty] = self._score(empty)
            beam, best, worse = [empty], found[empty], 0
            while beam and worse < _PATIENCE and len(beam[0].players) < largest:
                longer: dict[ActiveSet, float] = {}
                for members in beam:
                    longer |= self._extended(members)
                found |= longer
                beam = sorted(longer, key=lambda members: -longer[members])[:_BEAM]
                worse = worse + 1 if longer[beam[0]] < best else 0
                best = max(best, longer[beam[0]])
        return found

    def _score(self, members: ActiveSet) -> float:
        """Return the logarithm of the posterior probability of a model without active players."""
        factor = np.linalg.cholesky(self._covariance(members))
        solved = linalg.solve_triangular(factor, self._z, lower=True)
        return float(_log_likelihood(len(self._z), solved @ solved, np.log(factor.diagonal()).sum()))

    def _extended(self, members: ActiveSet) -> dict[ActiveSet, float]:
        """Return the sets with one player more, with their scores; only the most promising players are tried."""
        x, active = self._x, list(members.players)
        m, n = x.shape
        factor = np.linalg.cholesky(self._covariance(members))
        solved = linalg.solve_triangular(factor, np.column_stack([self._z, x]), lower=True)
        values, effects = solved[:, 0], solved[:, 1:]
        squares, half_log_det = values @ values, np.log(factor.diagonal()).sum()
        explained = (values @ effects) ** 2 / (1.0 + (effects**2).sum(axis=0))
        explained[active] = -np.inf
        tried = np.argsort(-explained)[: min(_SCREENED, n - len(active))]
        # The effects of a player and of its pairs with active ones are added together.
        ones = np.column_stack([np.ones(m), np.sqrt(_PAIR) * x[:, active]])
        added = (x[:, tried, None] * ones[:, None, :]).reshape(m, -1)
        added = linalg.solve_triangular(factor, added, lower=True).reshape(m, len(tried), -1)
        gram = np.einsum("mcr,mcs->crs", added, added) + np.eye(added.shape[2])
        small = np.linalg.cholesky(gram)
        projected = np.einsum("mcr,m->cr", added, values)
        projected = np.linalg.solve(small, projected[..., None])[..., 0]
        log_dets = np.log(np.diagonal(small, axis1=1, axis2=2)).sum(axis=1)
        scores = _log_likelihood(m, squares - (projected**2).sum(axis=1), half_log_det + log_dets)
        prior = self._log_odds * (len(active) + 1)
        return {
            ActiveSet(tuple(sorted([*active, player])), members.residual): score + prior
            for player, score in zip(tried.tolist(), scores.tolist(), strict=True)
        }

    def _covariance(self, members: ActiveSet) -> Matrix:
        """Return the covariance of the values, relative to their scale."""
        features, variances = _features(self._x, members.players)
        rest = members.small * (self._x @ self._x.T) + np.eye(len(self._x))
        return np.asarray(_CONSTANT + members.residual * rest + (features * variances) @ features.T)

    def _fit(self, members: ActiveSet) -> _Fitted:
        factor = linalg.cho_factor(self._covariance(members), lower=True)
        solved = linalg.cho_solve(factor, self._z)
        return _Fitted(members, factor, solved, float(self._z @ solved) / len(self._z))


def _features(x: Matrix, players: tuple[int, ...]) -> tuple[Matrix, Values]:
    """Return the active players' columns and the products of two of them, with their prior variances."""
    columns = x[:, list(players)]
    first, second = np.triu_indices(len(players), 1)
    variances = np.concatenate([np.ones(len(players)), np.full(len(first), _PAIR)])
    return np.concatenate([columns, columns[:, first] * columns[:, second]], axis=1), variances


def _log_likelihood(m: int, squares: Values, half_log_det: Values) -> Values:
    """Return the marginal log likelihood without constants, with the scale integrated out."""
    return np.asarray(-0.5 * m * np.log(np.maximum(squares, 1e-9)) - half_log_det)
