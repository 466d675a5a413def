"""Elements and players: the parts of an input that a game can omit, and the player that each part belongs to.

The elements are the columns of a table, the words of a text or the members of an ensemble. Usually each element is a
player. With `groups`, several elements form one player; elements named in `always` are in every coalition.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.errors import ParameterError
from topshap.core.fingerprints import check_fingerprint, fingerprint_of, named_fingerprint_of
from topshap.core.validation import check_names, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Players, Values


class PlayerGroups:
    """The elements of a game, grouped into players.

    Parameters
    ----------
    labels
        The labels of the elements, in order.
    groups
        A dict from a player's name to its elements, given by label or by position. Each element that is not in a group
        is a separate player.
    always
        Elements or groups that are in every coalition and are therefore not players.
    aliases
        Alternative names of the elements for `groups` and `always`, in order; a repeated alias refers to the first
        element.
    element
        The word for an element in messages.

    Examples
    --------
    >>> groups = PlayerGroups(["age", "red", "green", "blue"], {"colour": ["red", "green", "blue"]})
    >>> groups.player_names
    ('age', 'colour')
    >>> groups.present(np.array([[False, True]]))
    array([[False,  True,  True,  True]])
    """

    def __init__(
        self,
        labels: Sequence[Any],
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        *,
        aliases: Sequence[Any] = (),
        element: str = "column",
    ) -> None:
        self.labels, self._element = list(labels), element
        self._position: dict[Any, int] = {alias: i for i, alias in reversed(list(enumerate(aliases)))}
        self._position |= {str(label): i for i, label in enumerate(self.labels)}
        self._position |= {label: i for i, label in enumerate(self.labels)}
        members = self._members(groups)
        fixed = self._fixed(always, members)
        names = [name for name in members if name not in fixed]
        self.player_names = check_names(names, len(names))
        self.n_players = len(names)
        if self.n_players == 0:
            raise ParameterError.about("always", f"must leave at least one player. Got {always!r} instead.")
        self.player_of: Players = np.empty(len(self.labels), dtype=np.intp)
        """The player of each element; n_players for elements that are in every coalition."""
        player = {name: i for i, name in enumerate(names)}
        for name, positions in members.items():
            self.player_of[positions] = player.get(name, self.n_players)
        self._one_each = bool(np.array_equal(self.player_of, np.arange(self.n_players)))

    def present(self, coalitions: Coalitions) -> Coalitions:
        """Return the elements that are present in coalitions of players, shape (m, number of elements)."""
        if self._one_each:
            return coalitions
        with_fixed = np.concatenate([coalitions, np.ones((len(coalitions), 1), dtype=np.bool_)], axis=1)
        return with_fixed[:, self.player_of]

    def zoomed(self, players: Sequence[int]) -> PlayerGroups:
        """Return the same elements with those of some players as players, and all others in every coalition.

        Examples
        --------
        >>> groups = PlayerGroups(["age", "red", "green", "blue"], {"colour": ["red", "green", "blue"]})
        >>> groups.zoomed([1]).player_names
        ('red', 'green', 'blue')
        """
        elements = np.flatnonzero(np.isin(self.player_of, players))
        zoomed = copy.copy(self)
        zoomed.player_names = check_names([str(self.labels[element]) for element in elements], len(elements))
        zoomed.n_players = len(elements)
        zoomed.player_of = np.full(len(self.labels), len(elements), dtype=np.intp)
        zoomed.player_of[elements] = np.arange(len(elements))
        zoomed._one_each = len(elements) == len(self.labels)  # noqa: SLF001 - of the same class
        return zoomed

    def find(self, label: Any, parameter: str) -> int:
        """Return the position of an element that is given by label, alias or position."""
        try:
            if label in self._position:
                return self._position[label]
        except TypeError:  # not hashable, so not a label
            pass
        if not isinstance(label, int | np.integer) or isinstance(label, bool) or not 0 <= label < len(self.labels):
            known = f"must contain existing {self._element}s only ({_some(self.labels)})."
            raise ParameterError.about(parameter, f"{known} Got {label!r} instead.")
        return int(label)

    def _members(self, groups: Any) -> dict[str, list[int]]:
        """Return the elements of each player, with the players ordered by their first element."""
        group_of = self._group_of(groups)
        group_names = set(group_of.values())
        members: dict[str, list[int]] = {}
        for position, label in enumerate(self.labels):
            name = group_of.get(position, str(label))
            if position not in group_of:
                self._check_unique(name, group_names, members)
            members.setdefault(name, []).append(position)
        return members

    def _check_unique(self, name: str, group_names: set[str], members: dict[str, list[int]]) -> None:
        if name in group_names:
            must_be = f"a dict whose names differ from those of all other {self._element}s; {name!r} is repeated"
            refuse("groups", got=_some(sorted(group_names)), must_be=must_be)
        if name in members:
            must_be = f"given, since the names of the {self._element}s must be unique and {name!r} is repeated"
            refuse("feature_names", got=_some(self.labels), must_be=must_be)

    def _group_of(self, groups: Any) -> dict[int, str]:
        """Return the name of the group of each element that is in one."""
        if groups is None:
            return {}
        if not isinstance(groups, Mapping):
            refuse("groups", groups, must_be=f"a dict from names to the {self._element}s that form one player")
        group_of: dict[int, str] = {}
        for name, labels in groups.items():
            positions = [self.find(label, "groups") for label in ([labels] if isinstance(labels, str) else labels)]
            if not positions:
                refuse("groups", groups, must_be=f"a dict without empty groups; {name!r} is empty")
            for position in positions:
                if position in group_of:
                    twice = f"a dict of disjoint groups; {self.labels[position]!r} is in two of them"
                    refuse("groups", groups, must_be=twice)
                group_of[position] = str(name)
        return group_of

    def _fixed(self, always: Iterable[Any] | None, members: dict[str, list[int]]) -> set[str]:
        """Return the names of the groups and elements that are in every coalition."""
        name_of = {position: name for name, positions in members.items() for position in positions}
        fixed = set()
        for label in [always] if isinstance(always, str) else always or ():
            name = label if isinstance(label, str) and label in members else name_of[self.find(label, "always")]
            if name != label and len(members[name]) > 1:
                refuse("always", label, must_be=f"the whole group {name!r}, which this {self._element} belongs to")
            fixed.add(name)
        return fixed


class GroupedGame(ABC):
    """A game that omits the elements of absent players from an input."""

    deterministic = True
    """Whether a coalition has the same value every time."""
    _functions: ClassVar[tuple[str, ...]] = ()
    """The names of the parts that a user-defined fingerprint replaces."""

    def __init__(self, groups: PlayerGroups, fingerprint: str | None) -> None:
        self._groups = groups
        self._function_name = check_fingerprint(fingerprint)

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self._groups.n_players

    @property
    def player_names(self) -> tuple[str, ...] | None:
        """One name per player."""
        return self._groups.player_names

    @property
    def player_of(self) -> Players:
        """The player of each element; n_players for elements that are in every coalition."""
        return self._groups.player_of

    def zoomed(self, players: Sequence[int]) -> Self:
        """Return the game whose players are the elements of some players; all other elements are always present.

        Parameters
        ----------
        players
            The positions of players, such as groups of columns.
        """
        game = copy.copy(self)
        game._groups = self._groups.zoomed(players)  # noqa: SLF001 - of the same class
        return game

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, or None; see `topshap.core.fingerprints`."""
        kind, parts = type(self).__name__, {"players": self._groups.player_of} | self._parts()
        if self._function_name is None:
            return fingerprint_of(kind, **parts)
        others = {name: part for name, part in parts.items() if name not in self._functions}
        others |= {"n_players": self.n_players} | self._options()
        return named_fingerprint_of(kind, self._function_name, **others)

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        return self._values(self._groups.present(check_coalitions(coalitions, self.n_players)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_players={self.n_players})"

    @abstractmethod
    def _values(self, present: Coalitions) -> Any:
        """Return the value of each row of present elements."""

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """Return everything that the values depend on except the groups, for the fingerprint."""

    def _options(self) -> dict[str, Any]:
        """Return options that are part of the fingerprint even if the user names the function they belong to."""
        return {}


def in_blocks(f: Callable[[Any], Any], rows: NDArray[Any], size: int) -> Values:
    """Return the results of `f` for all rows, calling it with at most `size` rows at a time.

    Examples
    --------
    >>> in_blocks(lambda rows: rows.sum(axis=1), np.arange(6).reshape(3, 2), size=2)
    array([1, 5, 9])
    """
    size = max(1, size)
    blocks = [f(rows[start : start + size]) for start in range(0, len(rows), size)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def distinct_names(names: Iterable[str]) -> list[str]:
    """Append numbers to repeated names: the second "the" becomes "the (2)".

    Examples
    --------
    >>> distinct_names(["the", "cat", "the"])
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
