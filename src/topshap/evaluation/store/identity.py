"""The identity of a store's game: its fingerprint, and further properties that tell how two games differ."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from topshap.core.errors import StoreError
from topshap.core.fingerprints import split_fingerprint

if TYPE_CHECKING:
    from typing import Self

    from topshap.core.typing import Game


class OtherGameError(StoreError):
    """A store belongs to another game."""


@dataclass(frozen=True)
class Identity:
    """The identity of a game.

    Attributes
    ----------
    fingerprint
        The name of the game given to its store, or the fingerprint of the game.
    n_players
        The number of players.
    deterministic
        Whether a coalition has the same value every time.
    player_names
        One name per player, None if there are none.
    named
        Whether the fingerprint is a name given by the user; then games with other player names are other games.
    n_outputs
        The number of outputs of a coalition; None for one number per coalition, or if it is not known yet.
    """

    fingerprint: str
    n_players: int
    deterministic: bool = True
    player_names: tuple[str, ...] | None = None
    named: bool = False
    n_outputs: int | None = None

    @property
    def octets(self) -> int:
        """The number of bytes of a packed coalition."""
        return (self.n_players + 7) // 8

    def is_same(self, other: Identity | None) -> bool:
        """Return whether an open store is for this game; only the store may know the number of outputs."""
        if other is None:
            return False
        return self == (replace(other, n_outputs=None) if self.n_outputs is None else other)

    def to_json(self) -> str:
        """Return the identity as JSON; that of a game with one number per coalition does not mention outputs."""
        fields = asdict(self)
        if self.n_outputs is None:
            del fields["n_outputs"]
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: Any) -> Self:
        """Return the identity that `to_json` wrote; any other text is a ValueError.

        Examples
        --------
        >>> Identity.from_json(Identity("my-game-v1", 3).to_json())
        Identity(fingerprint='my-game-v1', n_players=3, deterministic=True, player_names=None, named=False,
        n_outputs=None)
        """
        try:
            fields: dict[str, Any] = json.loads(text)
            names = fields["player_names"]
            valid = (
                isinstance(fields["fingerprint"], str)
                and type(fields["n_players"]) is int
                and 1 <= fields["n_players"] < 2**31
                and type(fields["deterministic"]) is bool
                and type(fields["named"]) is bool
                and _is_number_of_outputs(fields.get("n_outputs"))
                and (names is None or [type(name) for name in names] == [str] * fields["n_players"])
            )
            if valid:
                return cls(**{**fields, "player_names": None if names is None else tuple(names)})
        except (TypeError, ValueError, KeyError, RecursionError, MemoryError) as error:
            raise ValueError("not the identity of a game") from error
        raise ValueError("not the identity of a game")

    def differences(self, other: Identity) -> list[str]:
        """Return descriptions of the differences between the game of a store, this one, and another game.

        Examples
        --------
        >>> Identity("my-game-v1", 3).differences(Identity("my-game-v2", 4))
        ["it has the fingerprint 'my-game-v1' there and 'my-game-v2' here", 'it has 3 players there and 4 here']
        """
        found = []
        if self.n_players != other.n_players:
            found.append(f"it has {self.n_players} players there and {other.n_players} here")
        if None not in (self.n_outputs, other.n_outputs) and self.n_outputs != other.n_outputs:
            found.append(other_outputs(self.n_outputs, other.n_outputs))
        if self.deterministic != other.deterministic:
            found.append(f"its values {_vary(self)} there and {_vary(other)} here")
        names = self.player_names, other.player_names
        renamed = None not in names and names[0] != names[1]
        if self.fingerprint != other.fingerprint:
            found.insert(0, _other_fingerprint(self, other))
        if renamed and (found or self.named):
            found.append(_renamed(*names))
        return found


def identity_of(
    game: Game | None,
    n_players: int,
    *,
    name: str | None,
    player_names: tuple[str, ...] | None = None,
    deterministic: bool = True,
    n_outputs: int | None = None,
) -> Identity | None:
    """Return a game's identity by its given name or its fingerprint, None if it has neither."""
    fingerprint = name if name is not None else getattr(game, "fingerprint", None)
    if fingerprint is None:
        return None
    return Identity(str(fingerprint), n_players, deterministic, player_names, name is not None, n_outputs)


def other_outputs(there: int | None, here: int | None) -> str:
    """Return the description of a difference between the outputs of a store's game and those of another game.

    Examples
    --------
    >>> other_outputs(None, 3)
    'it has one number per coalition there and 3 outputs here'
    """
    return f"it has {_outputs(there)} there and {_outputs(here)} here"


def _outputs(number: int | None) -> str:
    return "one number per coalition" if number is None else f"{number} output{'s' if number > 1 else ''}"


def _is_number_of_outputs(value: Any) -> bool:
    return value is None or (type(value) is int and 1 <= value < 2**31)


def _other_fingerprint(there: Identity, here: Identity) -> str:
    if there.named or here.named:
        return f"it is called {there.fingerprint!r} there and {here.fingerprint!r} here"
    (name_there, _), (name_here, _) = split_fingerprint(there.fingerprint), split_fingerprint(here.fingerprint)
    if name_here is not None and name_here == there.fingerprint:
        return (
            f"an earlier version of topshap identified it there by the fingerprint {name_here!r} alone, without its "
            "documents, data and options, so its values may be those of other data"
        )
    if name_here is not None and name_here == name_there:
        return f"its function is called {name_here!r} in both, but its documents, data, options or players differ"
    return f"it has the fingerprint {there.fingerprint!r} there and {here.fingerprint!r} here"


def _vary(identity: Identity) -> str:
    return "do not vary from call to call" if identity.deterministic else "vary from call to call"


def _renamed(there: Any, here: Any) -> str:
    if len(there) != len(here):
        return "its players have other names"
    i = next(i for i, (a, b) in enumerate(zip(there, here, strict=True)) if a != b)
    return f"player {i} is {there[i]!r} there and {here[i]!r} here"
