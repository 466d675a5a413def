"""Units and players: what a value function can leave out, and who owns it.

The columns of a table, the words of a text, the members of an ensemble are units. Usually each is a player. With
`groups` several units are one player, and what is named in `always` is in every coalition and no player at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.fingerprints import check_fingerprint, fingerprint_of
from topshap.core.validation import check_names, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Players, Values


class Units:
    """The units of a game and the players they belong to.

    Parameters
    ----------
    labels
        What the units are called, in their order.
    groups
        A dict of a player's name to its units, by label or by position. Units in no group are players of their own.
    always
        Units or groups that are in every coalition, and so no players.
    aliases
        What else the units go by in `groups` and `always`, in their order; the first of equal ones.
    unit
        What a unit is, for messages.

    Examples
    --------
    >>> units = Units(["age", "red", "green", "blue"], {"colour": ["red", "green", "blue"]})
    >>> units.player_names
    ('age', 'colour')
    >>> units.present(np.array([[False, True]]))
    array([[False,  True,  True,  True]])
    """

    def __init__(
        self,
        labels: Sequence[Any],
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        *,
        aliases: Sequence[Any] = (),
        unit: str = "column",
    ) -> None:
        self.labels, self._unit = list(labels), unit
        self._position: dict[Any, int] = {alias: i for i, alias in reversed(list(enumerate(aliases)))}
        self._position |= {str(label): i for i, label in enumerate(self.labels)}
        self._position |= {label: i for i, label in enumerate(self.labels)}
        members = self._members(groups)
        kept = self._kept(always, members)
        self.player_names = check_names([name for name in members if name not in kept], len(members) - len(kept))
        self.n_players = len(members) - len(kept)
        if self.n_players == 0:
            refuse("always", always, must_be="such that at least one player is left")
        self.player_of: Players = np.empty(len(self.labels), dtype=np.intp)
        """The player each unit belongs to; n_players for those that are always there."""
        player = {name: i for i, name in enumerate(name for name in members if name not in kept)}
        for name, units in members.items():
            self.player_of[units] = player.get(name, self.n_players)
        self._plain = bool(np.array_equal(self.player_of, np.arange(self.n_players)))

    def present(self, coalitions: Coalitions) -> Coalitions:
        """Return which units are there, shape (m, number of units), for coalitions of players."""
        if self._plain:
            return coalitions
        with_always = np.concatenate([coalitions, np.ones((len(coalitions), 1), dtype=np.bool_)], axis=1)
        return with_always[:, self.player_of]

    def find(self, label: Any, parameter: str) -> int:
        """Return the position of a unit that is given by its label or its position."""
        try:
            if label in self._position:
                return self._position[label]
        except TypeError:  # a list or another thing that is no label
            pass
        if not isinstance(label, int | np.integer) or isinstance(label, bool) or not 0 <= label < len(self.labels):
            must_be = f"made of {self._unit}s that are there ({_some(self.labels)})"
            refuse(parameter, label, must_be=must_be)
        return int(label)

    def _members(self, groups: Any) -> dict[str, list[int]]:
        """Return the units of each player, players ordered by their first unit."""
        if groups is not None and not isinstance(groups, Mapping):
            must_be = f"a dict of a name to the {self._unit}s that are one player"
            refuse("groups", groups, must_be=must_be)
        player_of: dict[int, str] = {}
        for name, labels in (groups or {}).items():
            units = [self.find(label, "groups") for label in ([labels] if isinstance(labels, str) else labels)]
            if not units:
                refuse("groups", groups, must_be=f"without empty groups, and {name!r} is one")
            for unit in units:
                if unit in player_of:
                    twice = f"such that each {self._unit} is in one group, and {self.labels[unit]!r} is in two"
                    refuse("groups", groups, must_be=twice)
                player_of[unit] = str(name)
        taken = {str(name) for name in groups or {}}
        members: dict[str, list[int]] = {}
        for unit, label in enumerate(self.labels):
            name = player_of.get(unit, str(label))
            if unit not in player_of and (name in taken or name in members):
                must_be = f"different from each other and from the names of groups, and {name!r} occurs more than once"
                refuse(f"{self._unit} names", got=_some(self.labels), must_be=must_be)
            members.setdefault(name, []).append(unit)
        return members

    def _kept(self, always: Iterable[Any] | None, members: dict[str, list[int]]) -> set[str]:
        name_of = {unit: name for name, units in members.items() for unit in units}
        kept = set()
        for label in [always] if isinstance(always, str) else always or ():
            name = label if isinstance(label, str) and label in members else name_of[self.find(label, "always")]
            if name != label and len(members[name]) > 1:
                refuse("always", label, must_be=f"the group {name!r} that this {self._unit} is in")
            kept.add(name)
        return kept


class UnitGame(ABC):
    """A game about units that can be left out, each with a player it belongs to."""

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(self, units: Units, fingerprint: str | None) -> None:
        self._units = units
        self._given_fingerprint = check_fingerprint(fingerprint)

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self._units.n_players

    @property
    def player_names(self) -> tuple[str, ...] | None:
        """One name per player."""
        return self._units.player_names

    @property
    def player_of(self) -> Players:
        """The player that each unit belongs to; n_players for units that are always there."""
        return self._units.player_of

    @property
    def fingerprint(self) -> str | None:
        """What tells this game from others in a store; None if it cannot be told, see `topshap.core.fingerprints`."""
        if self._given_fingerprint is not None:
            return self._given_fingerprint
        return fingerprint_of(type(self).__name__, players=self._units.player_of, **self._parts())

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        return self._values(self._units.present(check_coalitions(coalitions, self.n_players)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_players={self.n_players})"

    @abstractmethod
    def _values(self, present: Coalitions) -> Any:
        """Return the value of each row of units that are there."""

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """Return all that the values depend on, besides which units a player has."""


def in_blocks(f: Callable[[Any], Any], rows: NDArray[Any], size: int) -> Values:
    """Return the numbers that `f` gives for the rows, asked for at most `size` rows at a time."""
    size = max(1, size)
    blocks = [f(rows[start : start + size]) for start in range(0, len(rows), size)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def different(names: Iterable[str]) -> list[str]:
    """Return names that are all different: the second "the" becomes "the (2)".

    Examples
    --------
    >>> different(["the", "cat", "the"])
    ['the', 'cat', 'the (2)']
    """
    taken: set[str] = set()
    result = []
    for name in names:
        count, new = 1, name
        while new in taken:
            count += 1
            new = f"{name} ({count})"
        taken.add(new)
        result.append(new)
    return result


def _some(labels: Sequence[Any], at_most: int = 8) -> str:
    more = ", ..." if len(labels) > at_most else ""
    return ", ".join(repr(label) for label in labels[:at_most]) + more
