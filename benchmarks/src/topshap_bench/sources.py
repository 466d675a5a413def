"""The games of an experiment: files, adversarial games, and synthetic games of any size.

A source is a small description of a game, from which every worker process can open the same game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.interactions import interactions_from_table
from topshap.core.validation import check_choice, front_door, refuse
from topshap.games import AirportGame, GloveGame, TableGame, UnanimityGame, VotingGame
from topshap_bench import sized_games
from topshap_bench.adversarial import KINDS, adversarial_game
from topshap_bench.trained_tables import trained_table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from topshap.core.typing import Values

TRAINED = ("diabetes", "wine")
"""The tables that are trained if no files are given."""
HALVES = {"all": slice(None), "tune": slice(0, None, 2), "judge": slice(1, None, 2)}
"""The parts of a family. The parameters of odd-gp were tuned on the half "tune" of the published tables."""


@dataclass(frozen=True)
class Source:
    """A game by name.

    Parameters
    ----------
    family
        The kind of game: ``"synthetic"``, a kind of `topshap_bench.adversarial`, a kind of `topshap_bench.sized_games`
        with its number of players, for example ``"tree-30"``, or the folder of a file.
    name
        The name of the game in its family.
    path
        The ``.npz`` file with the game, if it comes from a file.

    Examples
    --------
    >>> source = Source("synthetic", "airport-12")
    >>> source.open().game.n_players
    12
    """

    family: str
    name: str
    path: Path | None = None

    def open(self) -> OpenedGame:
        """Return the game with its exact Shapley values; each process caches the last 64 games."""
        return _opened(self)


class OpenedGame(NamedTuple):
    """A game, its exact Shapley values and the first characters of its fingerprint."""

    game: Any
    exact: Values
    fingerprint: str

    def exact_of(self, order: int) -> Values:
        """Return the exact values of all players, or the exact interactions of all pairs of players."""
        return self.exact if order == 1 else interactions_from_table(self.game.values)

    @property
    def range_of_v(self) -> float | None:
        """The largest value of a coalition minus the smallest; None if the game is not a table."""
        return float(np.ptp(self.game.values)) if isinstance(self.game, TableGame) else None

    def in_unit(self, unit: str, order: int = 1) -> float:
        """Return a unit of `Setting.unit` as a value."""
        size = {"value": 1.0, "range": float(np.ptp(self.exact_of(order))), "range of v": self.range_of_v}.get(unit)
        if size is None:
            refuse("unit", unit, must_be="'value', 'range', or 'range of v' for a table")
        return size


@lru_cache(maxsize=64)
def _opened(source: Source) -> OpenedGame:
    game: Any
    kind, _, players = source.family.rpartition("-")
    if source.path is None and kind in sized_games.NAMES:
        game, exact = sized_games.sized_game(kind, int(players), source.name)
        return OpenedGame(game, exact, (getattr(game, "fingerprint", None) or "")[:12])
    if source.path is not None:
        game = TableGame.load(source.path)
    elif source.family in KINDS:
        number, _, players = source.name.partition("-of-")
        game = adversarial_game(source.family, int(number), int(players) if players else None)
    elif source.family == "synthetic" and source.name.partition("-")[0] in SYNTHETIC:
        kind, _, players = source.name.partition("-")
        game = SYNTHETIC[kind](int(players), np.random.default_rng(int(players)))
    else:
        refuse("source", source, must_be="a file, a kind of adversarial game with a number, or a synthetic game")
    return OpenedGame(game, game.shapley_values(), (game.fingerprint or "")[:12])


def forget_opened_games() -> None:
    """Clear the cache of opened games, so that changed files are read again."""
    _opened.cache_clear()


@front_door
def from_folder(
    folder: str | os.PathLike[str], *, families: Sequence[str] | None = None, half: str = "all"
) -> list[Source]:
    """Return the games in a folder, by family and name.

    Files ``folder/FAMILY/NAME.npz`` and ``folder/NAME.npz`` are complete games as `topshap.games.TableGame.save` writes
    them; the family of the latter is the name of the folder. An archive has the array ``values`` of length 2**n, whose
    entry b is the value of the coalition of all players i with bit i set in b, and optionally ``player_names``.

    Parameters
    ----------
    folder
        The folder with the games.
    families
        The families to use, all by default.
    half
        ``"all"`` games of a family; ``"tune"``, every second one, starting with the first; or ``"judge"``, the others.
        The parameters of odd-gp were tuned on the half "tune" of the published tables.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     from_folder(folder)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'folder' parameter of from_folder must be a folder with complete games,
    files FAMILY/*.npz or *.npz as TableGame.save writes them. Got ... instead.
    """
    check_choice("half", half, HALVES)
    root = Path(folder).resolve()
    paths = sorted(root.glob("*/*.npz")) + sorted(root.glob("*.npz"))
    sources = [Source(path.parent.name, path.stem, path) for path in paths]
    if not sources:
        kinds = "files FAMILY/*.npz or *.npz as TableGame.save writes them"
        refuse("folder", str(folder), must_be=f"a folder with complete games, {kinds}")
    found = list(dict.fromkeys(source.family for source in sources))
    for family in families or ():
        check_choice("families", family, found)
    games = [source for name in families or found for source in [s for s in sources if s.family == name][HALVES[half]]]
    if not games:
        refuse("folder", str(folder), must_be=f"a folder with at least two games of a family if half={half!r}")
    return games


def trained(folder: Path, names: tuple[str, ...] = TRAINED, *, n_jobs: int | None = None) -> list[Source]:
    """Return the games of random forests trained on every subset of features; missing tables are trained."""
    paths = [trained_table(name, folder / "global", n_jobs=n_jobs)[1] for name in names]
    return [Source("global", path.stem, path.resolve()) for path in paths]


def synthetic() -> list[Source]:
    """Return games of 12 and of 50 players with known Shapley values.

    Examples
    --------
    >>> [source.name for source in synthetic()][:3]
    ['airport-12', 'airport-50', 'glove-12']
    """
    return [Source("synthetic", f"{kind}-{players}") for kind in SYNTHETIC for players in (12, 50)]


def adversarial(kind: str, count: int, n_players: int | None = None) -> list[Source]:
    """Return the first games of a kind, by default with its number of players; see `topshap_bench.adversarial`.

    Examples
    --------
    >>> [source.name for source in adversarial("tie", 2)], [source.name for source in adversarial("tie", 2, 8)]
    (['0', '1'], ['0-of-8', '1-of-8'])
    """
    players = "" if n_players is None else f"-of-{n_players}"
    return [Source(kind, f"{number}{players}") for number in range(count)]


def sized(players: Sequence[int] = sized_games.PLAYERS) -> list[Source]:
    """Return games of many players with known Shapley values; see `topshap_bench.sized_games`.

    Examples
    --------
    >>> [source.name for source in sized([60]) if source.family == "tree-60"]
    ['friedman-0', 'classification-0']
    """
    kinds = [(kind, n) for n in players for kind in sized_games.NAMES]
    return [Source(f"{kind}-{n}", name) for kind, n in kinds for name in sized_games.names_of(kind, n)]


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
"""Games with known Shapley values, for any number of players."""
