"""The side information of a game: the values of its prior, and the features of its players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.bindings import bound
from topshap.core.limits import default_budget
from topshap.core.side_information import SideInformation, side_information

if TYPE_CHECKING:
    from topshap.core.options import RaceOptions
    from topshap.core.typing import Values

EVALUATIONS_OF_PRIOR = 10
"""The number of evaluations of a cheap game that is the prior, for each evaluation of the game."""


def side_information_of(game: Any, n_players: int, options: RaceOptions) -> SideInformation | None:
    """Return the side information in the attributes ``prior`` and ``player_features`` of a game, None if it has none.

    They are not read if the algorithm does not use them, since a game may compute them when they are read.

    Examples
    --------
    >>> import topshap
    >>> cheap = topshap.games.AdditiveGame([2.0, 0.0, 2.0])
    >>> game = topshap.games.InformedGame(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), prior=cheap)
    >>> side_information_of(game, 3, {"budget": 6}).prior
    array([2., 0., 2.])
    """
    algorithm = options.get("algorithm", "auto")
    if algorithm != "auto" and not bound("make_algorithm")(algorithm).takes_side_information:
        return None
    prior, features = (getattr(game, name, None) for name in ("prior", "player_features"))
    if callable(prior):
        prior = _values_of(prior, n_players, options.get("budget"))
    return side_information(n_players, prior, features, required=False)


def _values_of(game: Any, n_players: int, budget: int | None) -> Values:
    """Return the Shapley values of a cheap game: in closed form if it has one, otherwise estimates."""
    if hasattr(game, "shapley_values"):
        values: Values = game.shapley_values()
        return values
    from topshap.entrypoints import identify  # noqa: PLC0415 - it imports this module

    evaluations = EVALUATIONS_OF_PRIOR * (default_budget(n_players) if budget is None else budget)
    return identify(game, n_players, k=1, budget=evaluations, random_state=0).estimates
