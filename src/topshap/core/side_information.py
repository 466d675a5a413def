"""Side information about players: cheap values to start from, and features that say which players are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_vector, refuse

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values


@dataclass(frozen=True, eq=False)
class SideInformation:
    """What is known about the players before anything is evaluated.

    Neither part changes what is estimated, the Shapley values of the game. The algorithm ``"player-gp"`` learns from
    the evaluated coalitions how far it can rely on them.

    Parameters
    ----------
    n_players
        The number of players.
    prior
        One number per player: cheap values that are expected to increase with the Shapley values, in any unit, such as
        `topshap.games.knn_shapley` of training points. None if there are none.
    features
        An array of shape (n, d): players with a small Euclidean distance are expected to have similar values. Scale
        the columns so that their distances are comparable. None if there are none.
    required
        Whether a race must use it. Otherwise, an algorithm that does not use side information ignores it.

    Examples
    --------
    >>> side = SideInformation(3, prior=[0.5, 0.1, -0.2])
    >>> side.prior, side.features
    (array([ 0.5,  0.1, -0.2]), None)
    """

    n_players: int
    prior: Values | None = None
    features: Matrix | None = None
    required: bool = True

    def __post_init__(self) -> None:
        if self.prior is not None:
            object.__setattr__(self, "prior", _check_prior(self.prior, self.n_players))
        if self.features is not None:
            object.__setattr__(self, "features", _check_features(self.features, self.n_players))


def side_information(n_players: int, prior: Any, features: Any, *, required: bool) -> SideInformation | None:
    """Return the side information, None if there is none.

    Examples
    --------
    >>> side_information(3, None, None, required=True) is None
    True
    """
    if prior is None and features is None:
        return None
    return SideInformation(n_players, prior, features, required)


def _check_prior(prior: Any, n_players: int) -> Values:
    values = check_vector("prior", prior)
    if len(values) != n_players:
        must_be = f"one number for each of the {n_players} players"
        refuse("prior", got=f"{len(values)} numbers", must_be=must_be)
    return values


def _check_features(features: Any, n_players: int) -> Matrix:
    must_be = f"an array of finite numbers with one row for each of the {n_players} players"
    try:
        array = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        refuse("player_features", got=f"a {type(features).__name__}", must_be=must_be)
    if array.ndim != 2 or len(array) != n_players or array.shape[1] == 0:
        refuse("player_features", got=f"an array of shape {array.shape}", must_be=must_be)
    if not np.isfinite(array).all():
        refuse("player_features", got="nan or infinite numbers", must_be=must_be)
    return array
