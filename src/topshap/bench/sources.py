"""Where the games of an experiment come from: files, games made to deceive, and synthetic games of any size.

A source is a name that a worker can turn into the game: small, and the same in every process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.bench.hard import KINDS, hard_game
from topshap.bench.tables import trained_table
from topshap.core.validation import refuse
from topshap.games import AirportGame, GloveGame, TableGame, UnanimityGame, VotingGame

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from topshap.core.typing import Values

TRAINED = ("diabetes", "wine")
"""The tables that are trained where no files are given."""


@dataclass(frozen=True)
class Source:
    """A game by name.

    Parameters
    ----------
    family
        What kind of game it is: ``"synthetic"``, a kind of `topshap.bench.hard`, or the folder of a file.
    name
        Which game of the family.
    path
        The ``.npz`` file that has it, if it comes from a file.

    Examples
    --------
    >>> source = Source("synthetic", "airport-12")
    >>> source.open().game.n_players
    12
    """

    family: str
    name: str
    path: Path | None = None

    def open(self) -> Opened:
        """Return the game with its exact Shapley values; made once in a process."""
        return _opened(self)


class Opened(NamedTuple):
    """A game, its exact Shapley values, and what tells it from others."""

    game: Any
    exact: Values
    fingerprint: str

    @property
    def range_of_shapley_values(self) -> float:
        """The largest exact value less the smallest."""
        return float(np.ptp(self.exact))


@lru_cache(maxsize=64)
def _opened(source: Source) -> Opened:
    if source.path is not None:
        game: Any = TableGame.load(source.path)
    elif source.family in KINDS:
        game = hard_game(source.family, int(source.name))
    elif source.family == "synthetic" and source.name.partition("-")[0] in SYNTHETIC:
        kind, _, players = source.name.partition("-")
        game = SYNTHETIC[kind](int(players), np.random.default_rng(int(players)))
    else:
        refuse("source", source, must_be="a file, a kind of hard game with a number, or a synthetic game")
    return Opened(game, game.shapley_values(), (game.fingerprint or "")[:12])


def from_folder(folder: str | os.PathLike[str], *, unseen: bool = False) -> list[Source]:
    """Return the games in ``folder/FAMILY/*.npz``, by family and name.

    Parameters
    ----------
    folder
        Where the families are.
    unseen
        Whether to leave out every second game of each family, beginning with the first: in the published tables these
        are the games that the parameters of `odd-gp` were tuned on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     from_folder(folder)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'folder' parameter of from_folder must be a folder with files FAMILY/*.npz.
    Got ... instead.
    """
    paths = sorted(Path(folder).glob("*/*.npz"))
    if not paths:
        refuse("folder", str(folder), must_be="a folder with files FAMILY/*.npz")
    sources = [Source(path.parent.name, path.stem, path.resolve()) for path in paths]
    if not unseen:
        return sources
    families = [[s for s in sources if s.family == family] for family in dict.fromkeys(s.family for s in sources)]
    left = [source for family in families for source in family[1::2]]
    if not left:
        must_be = "one with two games of a family or more, since every second is left out"
        refuse("folder", str(folder), must_be=must_be)
    return left


def trained(folder: Path, names: tuple[str, ...] = TRAINED, *, n_jobs: int | None = None) -> list[Source]:
    """Return random forests on every subset of the features of diabetes and wine, which are trained if need be."""
    paths = [trained_table(name, folder / "global", n_jobs=n_jobs)[1] for name in names]
    return [Source("global", path.stem, path.resolve()) for path in paths]


def synthetic() -> list[Source]:
    """Return the package's own games with known Shapley values, of 12 and of 50 players.

    Examples
    --------
    >>> [source.name for source in synthetic()][:3]
    ['airport-12', 'airport-50', 'glove-12']
    """
    return [Source("synthetic", f"{kind}-{players}") for kind in SYNTHETIC for players in (12, 50)]


def hard(kind: str, count: int) -> list[Source]:
    """Return the first games of a kind that is made to deceive, see `topshap.bench.hard`."""
    return [Source(kind, str(number)) for number in range(count)]


def _airport(n: int, rng: np.random.Generator) -> AirportGame:
    return AirportGame(rng.exponential(size=n))


def _glove(n: int, _rng: np.random.Generator) -> GloveGame:
    return GloveGame(left=n // 3, right=n - n // 3)


def _unanimity(n: int, rng: np.random.Generator) -> UnanimityGame:
    sets = [rng.choice(n, rng.integers(1, min(7, n + 1)), replace=False).tolist() for _ in range(2 * n)]
    return UnanimityGame(sets, rng.exponential(size=2 * n), n_players=n)


def _voting(n: int, rng: np.random.Generator) -> VotingGame:
    votes = rng.integers(1, 30, n)
    return VotingGame(votes, quota=int(votes.sum()) // 2 + 1)


SYNTHETIC: Mapping[str, Callable[[int, np.random.Generator], Any]] = {
    "airport": _airport,
    "glove": _glove,
    "unanimity": _unanimity,
    "voting": _voting,
}
"""Games of any number of players whose Shapley values are known."""
