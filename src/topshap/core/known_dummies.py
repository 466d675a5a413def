"""Known dummies: players that contribute nothing and need not be played, and results that include them again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.history import History
from topshap.core.pairs import PairEstimates, all_pairs, n_candidates, pair_positions
from topshap.core.pairs_result import TopPairs, interactions_of, with_interactions
from topshap.core.result import ESTIMATE_INTERACTIONS
from topshap.statistics.partial_covariance import PartialCovariance
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from topshap.core.player_values import PlayerValue
    from topshap.core.result import TopK
    from topshap.core.results import TopKs
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.partial_covariance import Covariance


def players_to_play(
    dummies: np.ndarray[tuple[int], np.dtype[np.bool_]], k: int, *, guaranteed: bool, order: int = 1
) -> Players:
    """Return the players of the smaller game.

    With a guarantee, one dummy plays for all of them, so that the bounds compare the other players with zero: dummies
    tie exactly, so a set that is right in the smaller game is right with all of them. That needs a set which does not
    contain all players of the smaller game; otherwise all players play. The same holds for pairs: one with a dummy is
    worth nothing.

    Parameters
    ----------
    dummies
        Whether each player is a dummy.
    k
        The number of players, or pairs, to find.
    guaranteed
        Whether the race stops when its result is guaranteed.
    order
        1 if players are ranked, 2 if pairs of players are.

    Examples
    --------
    >>> players_to_play(np.array([False, True, False, True]), 1, guaranteed=False).tolist()
    [0, 2]
    >>> players_to_play(np.array([False, True, False, True]), 1, guaranteed=True).tolist()
    [0, 1, 2]
    """
    plays = ~dummies
    if guaranteed and dummies.any():
        plays[np.argmax(dummies)] = True
        if k >= n_candidates(int(np.count_nonzero(plays)), order):
            plays[:] = True
    least = min(order, len(plays))  # a game has at least one player, or two if it has pairs
    if (missing := least - int(np.count_nonzero(plays))) > 0:
        plays[np.flatnonzero(~plays)[:missing]] = True
    return np.flatnonzero(plays)


def with_dummies(
    top: TopK,
    players: Players,
    n: int,
    k: int,
    *,
    names: tuple[str, ...] | None = None,
    values: tuple[PlayerValue, ...] | None = None,
) -> TopK:
    """Return the result of a smaller game as one of the whole game, in which the other players are worth nothing.

    Parameters
    ----------
    top
        The result of the smaller game.
    players
        The players of the smaller game, see `players_to_play`.
    n, k
        The number of players of the whole game, and the number of players, or pairs, to find.
    names, values
        The names of all players, and their values in the explained input.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, -2.0]), k=1)
    >>> whole = with_dummies(top, np.array([0, 2]), 3, 2)
    >>> whole.players, whole.estimates
    (array([0, 1]), array([ 3.,  0., -2.]))
    """
    if len(players) == n:
        return top
    places, total = players, n_candidates(n, top.order)
    own: dict[str, Any] = {}
    if isinstance(top, TopPairs):
        places = pair_positions(players[all_pairs(len(players))], n)
        own["shapley_values"] = None if top.shapley_values is None else _spread(top.shapley_values, players, n)
        own["left_out"] = None if top.left_out is None else players[top.left_out]
    estimates = _spread(top.estimates, places, total)
    found = places[top.players]
    if top.epsilon is None or top.stopped == "exact":  # otherwise the guarantee is for this set
        # The order of the smaller game first, so that its ties are broken as there.
        order = np.concatenate([places[top.ranking], np.setdiff1d(np.arange(total), places)])
        found = order[np.argsort(-rank_key(estimates[order], top.rank_by), kind="stable")][:k]
    history = top.history
    whole = replace(
        top,
        players=found,
        estimates=estimates,
        std_errors=_spread(top.std_errors, places, total),
        covariance=_spread_covariance(top.covariance, places, total, order=top.order),
        player_names=names,
        player_values=values,
        history=None
        if history is None
        else History(
            history.evaluations, _spread(history.estimates, places, total), _spread(history.std_errors, places, total)
        ),
        **own,
    )
    if ESTIMATE_INTERACTIONS not in vars(top) and len(players) > 1:
        return whole
    return with_interactions(whole, partial(_interactions_with_dummies, top, players, n))


def _interactions_with_dummies(top: TopK, players: Players, n: int) -> PairEstimates:
    """Return the interactions of the smaller game as those of the whole game."""
    if len(players) < 2:
        return PairEstimates(np.zeros(n_candidates(n, 2)), np.zeros(n_candidates(n, 2)))
    pairs = interactions_of(top)
    whole = with_dummies(pairs, players, n, pairs.k)
    left_out = getattr(whole, "left_out", None)
    return PairEstimates(whole.estimates, whole.std_errors, whole.covariance, left_out)


def _spread_covariance(covariance: Covariance | None, places: Players, total: int, *, order: int) -> Covariance | None:
    """Return the covariance of a smaller game as one of the whole game."""
    if covariance is None:
        return None
    if isinstance(covariance, PartialCovariance):
        return PartialCovariance(places[covariance.candidates], covariance.matrix)
    if order == 2:  # pairs may be too many for a matrix of all of them
        return PartialCovariance(places, covariance)
    return _spread(_spread(covariance, places, total).T, places, total).T


def tops_with_dummies(tops: TopKs, players: Players, n: int, k: int) -> Players:
    """Return the top k of each output as `with_dummies` does, for results of races without `epsilon`.

    Examples
    --------
    >>> import topshap
    >>> def game(coalitions):
    ...     return coalitions @ np.array([[3.0, -1.0], [-2.0, -2.0]])
    >>> tops_with_dummies(topshap.identify(game, 2, k=1), np.array([0, 2]), 3, 2)
    array([[0, 1],
           [1, 0]])
    """
    outputs, playing = tops.estimates.shape
    found = np.full((outputs, playing), tops.k)
    np.put_along_axis(found, tops.players, np.arange(tops.k)[None, :], axis=1)
    ranking = np.lexsort((-rank_key(tops.estimates, tops.rank_by), found), axis=1)
    dummies = np.broadcast_to(np.setdiff1d(np.arange(n), players), (outputs, n - playing))
    order = np.concatenate([players[ranking], dummies], axis=1)
    keys = rank_key(np.take_along_axis(_spread(tops.estimates, players, n), order, axis=1), tops.rank_by)
    return np.asarray(np.take_along_axis(order, np.argsort(-keys, axis=1, kind="stable")[:, :k], axis=1))


def _spread(array: Values | Matrix, players: Players, n: int) -> Values | Matrix:
    """Return an array with zeros for the players that did not play, along its last axis."""
    whole = np.zeros((*array.shape[:-1], n))
    whole[..., players] = array
    return whole
