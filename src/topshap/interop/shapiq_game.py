"""Games of shapiq as games of topshap, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.fingerprints import check_fingerprint, fingerprint_of
from topshap.core.validation import check_names, front_door, refuse, resolve_n_players

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Game, Values


@front_door
def from_shapiq(game: Any, *, fingerprint: str | None = None) -> FromShapiq:
    """Return a game of shapiq as one of topshap, with its players' names and a fingerprint.

    `topshap.identify` takes a shapiq game as it is; this is for names, and for a store.

    Parameters
    ----------
    game
        A ``shapiq.Game``, an imputer of shapiq included. If it is normalised, so are the values.
    fingerprint
        A name for this game in a store, for one that cannot be seen through.

    Examples
    --------
    >>> class Sums:  # any shapiq.Game
    ...     n_players = 3
    ...     player_name_lookup = {"a": 0, "b": 1, "c": 2}
    ...
    ...     def __call__(self, coalitions):
    ...         return coalitions.sum(axis=1) ** 2.0
    >>> game = from_shapiq(Sums())
    >>> game.player_names, game(np.array([[True, True, False]]))
    (('a', 'b', 'c'), array([4.]))
    """
    return FromShapiq(game, fingerprint)


class FromShapiq:
    """A game of shapiq; see `from_shapiq`."""

    def __init__(self, game: Any, fingerprint: str | None = None) -> None:
        if not callable(game) or not hasattr(game, "n_players"):
            refuse("game", game, must_be="a game of shapiq")
        self.game = game
        self.n_players = resolve_n_players(game, None)
        lookup = getattr(game, "player_name_lookup", None)
        names = sorted(lookup, key=lookup.__getitem__) if lookup else None
        self.player_names = check_names(names, self.n_players)
        self._given_fingerprint = check_fingerprint(fingerprint)

    @property
    def fingerprint(self) -> str | None:
        """What tells this game from others in a store; None if it cannot be told."""
        state = {name: part for name, part in vars(self.game).items() if name not in ("game_id", "verbose")}
        return self._given_fingerprint or fingerprint_of("shapiq", game=type(self.game), state=state)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        return np.asarray(self.game(rows), dtype=np.float64) if len(rows) else np.empty(0)  # shapiq refuses no rows

    def __repr__(self) -> str:
        return f"from_shapiq({self.game!r})"


@front_door
def to_shapiq(game: Game, n_players: int | None = None, *, normalize: bool = True) -> Any:
    """Return any game as a ``shapiq.Game``, for its approximators, exact computer and plots.

    Needs the extra ``topshap[shapiq]``.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    normalize
        Whether the value of the empty coalition is subtracted, as most of shapiq's approximators expect. It is
        evaluated for that.
    """
    from topshap.interop.shapiq_adapters import ShapiqGame  # noqa: PLC0415 - shapiq is an extra

    return ShapiqGame(game, resolve_n_players(game, n_players), normalize=normalize)
