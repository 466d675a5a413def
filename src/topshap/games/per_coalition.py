"""Games from functions of a single coalition."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.core.coalitions import check_coalitions, names_of
from topshap.core.errors import GameError
from topshap.core.fingerprints import check_fingerprint, fingerprint_of, named_fingerprint_of
from topshap.core.validation import check_int, check_names, front_door, refuse
from topshap.core.values import other_outputs, short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Coalition, Coalitions, Values


@front_door
def per_coalition(
    f: Callable[[Coalition], Any],
    n_players: int | None = None,
    player_names: Sequence[str] | None = None,
    *,
    fingerprint: str | None = None,
) -> PerCoalition:
    """Turn a function of one coalition into a game.

    Parameters
    ----------
    f
        A function of a bool array of shape (n,), True for the members of the coalition, that returns a number, or an
        array or list of R >= 2 numbers for R outputs.
    n_players
        The number of players; by default the number of names. If neither is given, it must be passed wherever the game
        is used.
    player_names
        One name per player.
    fingerprint
        A name for the function and all its data in stores, if they cannot be fingerprinted; see
        `topshap.core.fingerprints`. The number of players and their names are always part of the fingerprint.

    Returns
    -------
    PerCoalition
        The game: a callable from a bool array of shape (m, n) to m numbers. It can be pickled if `f` can.

    Examples
    --------
    >>> def worth(coalition):
    ...     return 10.0 if coalition[0] and coalition.sum() >= 2 else 0.0
    >>> game = per_coalition(worth, player_names=["Ann", "Bob", "Cem"])
    >>> game.n_players
    3
    >>> game(np.array([[True, False, True], [False, True, True]]))
    array([10.,  0.])
    """
    if not callable(f):
        refuse("f", f, must_be="a function of one coalition")
    check_fingerprint(fingerprint)
    if n_players is None:
        if player_names is None:
            return PerCoalition(f, given_fingerprint=fingerprint)
        n_players = len(player_names)
    n = check_int("n_players", n_players, low=1)
    return PerCoalition(f, n, check_names(player_names, n), fingerprint)


@dataclass(frozen=True)
class PerCoalition:
    """A game that calls a function with one coalition at a time; see `per_coalition`.

    Attributes
    ----------
    function
        The function of one coalition.
    n_players
        The number of players, or None.
    player_names
        One name per player, or None.
    given_fingerprint
        The user's name for the function, or None.

    Examples
    --------
    >>> game = PerCoalition(lambda coalition: coalition.mean())
    >>> game(np.array([[True, False], [True, True]]))
    array([0.5, 1. ])
    """

    batch_size: ClassVar[int] = 1
    """An `Oracle` evaluates and stores one coalition at a time."""

    function: Callable[[Coalition], Any]
    n_players: int | None = None
    player_names: tuple[str, ...] | None = None
    given_fingerprint: str | None = None

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores; None if the function cannot be fingerprinted."""
        if self.given_fingerprint is None:
            return fingerprint_of("PerCoalition", function=self.function)
        players = {"n_players": self.n_players, "player_names": self.player_names}
        return named_fingerprint_of("PerCoalition", self.given_fingerprint, **players)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        # The function gets a copy, since it may keep or modify its argument.
        values = [self._value(self.function(row.copy()), row) for row in rows]
        if len({np.shape(value) for value in values}) > 1:
            raise other_outputs(np.shape(values[0]), next(s for s in map(np.shape, values) if s != np.shape(values[0])))
        return np.array(values, dtype=np.float64)

    def _value(self, value: Any, coalition: Coalition) -> float | Values:
        """Return the number of a coalition, or the numbers of its outputs."""
        several = isinstance(value, list | tuple | np.ndarray) and not isinstance(value, np.ma.MaskedArray)
        if several and np.ndim(value) == 1 and len(value) > 1:
            return np.array([self._number(each, coalition) for each in value])
        return self._number(value, coalition)

    def _number(self, value: Any, coalition: Coalition) -> float:
        # A model that predicts a single row returns an array of one number.
        scalar = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        # The number behind a mask is arbitrary.
        masked = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
        with suppress(Exception):  # a user's object may do anything
            if not masked and not isinstance(scalar, str | bytes | np.ndarray):
                return float(scalar)
        name = names_of(coalition, self.player_names)
        raise GameError(
            f"The function of a game must return one number. Got {short_repr(value)} of type {type(value).__name__} "
            f"for the coalition {name} instead."
        )
