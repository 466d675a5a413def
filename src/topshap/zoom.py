"""Zoom: the most important elements of the players that a run has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.levels import Levels
from topshap.core.validation import check_int, front_door, refuse
from topshap.entrypoints import identify
from topshap.evaluation.store.per_game import store_of_game
from topshap.games.base import GroupedGame

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.core.typing import Players


@front_door
def zoom(top: TopK, game: Any, into: Any = None, *, k: int | None = None, **options: Any) -> Levels:
    """Find the k most important elements of the players found: see `topshap.TopK.zoom`."""
    if not isinstance(game, GroupedGame) or getattr(game, "is_async", False):
        must_be = "a synchronous game of topshap.games whose players consist of elements, such as groups of columns"
        refuse("game", game, must_be=must_be)
    if game.n_players != top.n_players or top.order != 1:
        refuse("game", game, must_be=f"the game of this result, with {top.n_players} players that were ranked")
    players = chosen_players(top, into)
    inner = game.zoomed(players.tolist())
    parents = game.player_of[np.isin(game.player_of, players)]
    if inner.n_players <= len(players):
        names = ", ".join(repr(top.name_of(int(player))) for player in players)
        refuse("into", into, must_be=f"players that consist of several elements; {names} do not")
    if options.get("store") is not None:
        options["store"] = store_of_game(options["store"], inner)
    return Levels(top, identify(inner, k=inner_k(top, k, inner.n_players), **options), parents)


def chosen_players(top: TopK, into: Any) -> Players:
    """Return the indices of players that are given by name or index, one or several; by default the top k."""
    if into is None:
        return np.sort(top.players)
    names = {top.name_of(i): i for i in range(top.n_players)}
    given = [into] if isinstance(into, str | int | np.integer) else list(into)
    players = [names.get(each, each) if isinstance(each, str) else each for each in given]
    valid = all(isinstance(i, int | np.integer) and not isinstance(i, bool) and 0 <= i < top.n_players for i in players)
    if not players or not valid:
        refuse("into", into, must_be=f"names or indices of the {top.n_players} players")
    return np.unique(np.array(players, dtype=np.intp))


def inner_k(top: TopK, k: int | None, n_elements: int) -> int:
    """Return the number of elements to find: as many as players by default, and at most all but one."""
    if k is None:
        return max(1, min(top.k, n_elements - 1))
    return check_int("k", k, low=1, high=n_elements)
