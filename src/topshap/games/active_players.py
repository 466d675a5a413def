"""A game without its known dummies: players that contribute nothing in any coalition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Players


class ActivePlayers:
    """A game that only some players of another game play, while the others are absent.

    If the others are dummies, the Shapley values of the players are those in the other game, and coalitions that differ
    only in dummies are not evaluated twice.

    Parameters
    ----------
    game
        The game, with an attribute ``n_players``.
    players
        The indices of the players that play, in increasing order.

    Attributes
    ----------
    game
        The game as given.
    players : array
        The players as given.

    Examples
    --------
    >>> from topshap.games import AdditiveGame
    >>> smaller = ActivePlayers(AdditiveGame([3.0, 0.0, 2.0]), [0, 2])
    >>> smaller(np.array([[False, True], [True, True]]))
    array([2., 5.])
    """

    def __init__(self, game: Any, players: Players | list[int]) -> None:
        self.game = game
        self.players = np.asarray(players, dtype=np.intp)
        in_range = len(self.players) > 0 and self.players[0] >= 0 and self.players[-1] < game.n_players
        if not in_range or not (np.diff(self.players) > 0).all():
            refuse("players", players, must_be=f"increasing indices of the {game.n_players} players")

    @property
    def n_players(self) -> int:
        """The number of players that play."""
        return len(self.players)

    @property
    def player_names(self) -> tuple[str, ...] | None:
        """Their names."""
        return self._of_players(getattr(self.game, "player_names", None))

    @property
    def player_values(self) -> tuple[Any, ...] | None:
        """Their values in the explained input."""
        return self._of_players(getattr(self.game, "player_values", None))

    @property
    def n_outputs(self) -> int | None:
        """The number of outputs of the game, None if it does not say."""
        return getattr(self.game, "n_outputs", None)

    @property
    def n_rows(self) -> int:
        """The number of rows of a game of many rows."""
        return int(self.game.n_rows)

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """The names of its outputs."""
        return getattr(self.game, "output_names", None)

    @property
    def output_name(self) -> str | None:
        """The description of its only output."""
        return getattr(self.game, "output_name", None)

    @property
    def deterministic(self) -> bool:
        """Whether a coalition has the same value every time."""
        return bool(getattr(self.game, "deterministic", True))

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, None if the other game has none."""
        whole = getattr(self.game, "fingerprint", None)
        return None if whole is None else fingerprint_of(type(self).__name__, game=whole, players=self.players)

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return the value of each row of `coalitions`, a bool array of shape (m, number of players that play)."""
        return self.game(self._whole(coalitions))

    def evaluate_for(self, coalitions: Coalitions, wanted: NDArray[np.bool_]) -> Any:
        """Evaluate each coalition for some of the rows only, if the game has many; see `PredictionsGame`."""
        return self.game.evaluate_for(self._whole(coalitions), wanted)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r}, n_players={self.n_players})"

    def _whole(self, coalitions: Coalitions) -> Coalitions:
        whole = np.zeros((len(coalitions), self.game.n_players), dtype=np.bool_)
        whole[:, self.players] = check_coalitions(coalitions, self.n_players)
        return whole

    def _of_players(self, whole: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return None if whole is None else tuple(whole[i] for i in self.players)
