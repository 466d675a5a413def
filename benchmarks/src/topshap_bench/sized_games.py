"""Games of 30 to 500 players with known Shapley values, as families of the race: a kind and a number of players.

Games of the kind "tree" are XGBoost models on generated tables and on that of breast cancer, with background rows in
place of absent features. The others are sums of unanimity games with sets of few players ("unanimity") or of any size
("soum"), games with diminishing returns, and steep sigmoids of sums. Their seeds are those of no other benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.games import UnanimityGame
from topshap_bench.known_games import KINDS as KNOWN
from topshap_bench.pairs.tree_games import TABLES, tree_game_of_players

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.core.typing import Values

PLAYERS = (30, 60, 120, 500)
SINGLE_GAMES_FROM = 500
"""The number of players from which there is only one game of each kind."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "tree": ("friedman-0", "classification-0", "cancer-0"),
    "unanimity": ("heredity-100", "high-order-100", "signed-100"),
    "soum": ("soum-100", "soum-101"),
    "diminishing": ("diminishing-100", "diminishing-101"),
    "sigmoid": ("sigmoid-100", "sigmoid-101"),
}
"""The games of every kind: what they are made from, and a seed or, for trees, a row of the table."""


def names_of(kind: str, players: int) -> list[str]:
    """Return the names of the games of a kind with this number of players: one with 500 players, which take long.

    Examples
    --------
    >>> names_of("tree", 30), names_of("tree", 500)
    (['friedman-0', 'classification-0', 'cancer-0'], ['friedman-0'])
    """
    names = [name for name in NAMES[kind] if name != "cancer-0" or players in TABLES["cancer"][1]]
    return names[:1] if players >= SINGLE_GAMES_FROM else names


def sized_game(kind: str, players: int, name: str) -> tuple[Any, Values]:
    """Return a game of this kind and number of players, and its exact Shapley values.

    Examples
    --------
    >>> game, exact = sized_game("sigmoid", 30, "sigmoid-100")
    >>> game.n_players, exact.shape
    (30, (30,))
    """
    made_from, _, number = name.rpartition("-")
    if kind == "tree":
        return tree_game_of_players(made_from, players, int(number))
    make = _sets_of_any_size if made_from == "soum" else KNOWN[made_from]
    game = make(players, int(number))
    return game, game.shapley_values()


def _sets_of_any_size(players: int, seed: int) -> UnanimityGame:
    """Return a sum of unanimity games with sets of uniformly drawn sizes and coefficients of both signs."""
    rng = np.random.default_rng([seed, players])
    sizes = rng.integers(1, players + 1, 5 * players)
    sets = [rng.choice(players, size, replace=False).tolist() for size in sizes.tolist()]
    return UnanimityGame(sets, rng.uniform(-1.0, 1.0, len(sets)), n_players=players)
