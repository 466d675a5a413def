"""A game with side information about its players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions


@front_door
class InformedGame:
    """A game together with what is known about its players before anything is evaluated.

    Its values, names and fingerprint are those of the game. `topshap.identify` with ``algorithm="auto"`` or
    ``"player-gp"`` uses the side information, see `topshap.SideInformation`; other algorithms ignore it.

    Parameters
    ----------
    game
        The game.
    prior
        One number per player, expected to increase with its Shapley value, or a cheap game whose Shapley values are
        computed: in closed form if it has a method ``shapley_values``, otherwise estimated with 10 evaluations for
        each evaluation of the game.
    player_features
        An array with one row per player: close players are expected to have similar Shapley values.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 0.5, 0.5])
    >>> informed = InformedGame(game, prior=[2.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    >>> topshap.identify(informed, k=2, budget=20, random_state=0).algorithm
    'player-gp'
    """

    def __init__(self, game: Any, *, prior: Any = None, player_features: Any = None) -> None:
        if not callable(game):
            refuse("game", game, must_be="a function from coalitions to their values")
        if prior is None and player_features is None:
            refuse("prior", prior, must_be="given, unless 'player_features' is")
        self.game, self.prior, self.player_features = game, prior, player_features

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        return self.game(coalitions)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the game, such as its number of players."""
        if name == "game" or name.startswith("__"):  # not set yet, while it is unpickled
            raise AttributeError(name)
        return getattr(self.game, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r})"
