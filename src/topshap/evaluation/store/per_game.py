"""One store file per game, for callers that play several games with the same store option."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from topshap.core.fingerprints import split_fingerprint
from topshap.core.outputs import check_outputs
from topshap.evaluation.store.identity import OtherGameError, identity_of
from topshap.evaluation.store.store import Store

if TYPE_CHECKING:
    from topshap.core.typing import Game

logger = logging.getLogger("topshap")


def function_name(store: Any) -> str | None:
    """Return the name given to a store, which stands for the function of all the games it is used for."""
    return store.game if isinstance(store, Store) else None


def store_of_game(store: Any, game: Game) -> Any:
    """Return the store of a game: the file of this store if it is new or belongs to the game, else one next to it.

    The name of the other file ends in the first 12 digits of the game's fingerprint: ``run-0123456789ab.db``. Games
    without a fingerprint and anything other than a path or a store are left to `Oracle`, which refuses them.
    """
    if not isinstance(store, Store | str | os.PathLike):
        return store
    path = store.path if isinstance(store, Store) else store
    names = getattr(game, "player_names", None)
    deterministic = bool(getattr(game, "deterministic", True))
    n_players: Any = getattr(game, "n_players", None)
    n_outputs, _ = check_outputs(getattr(game, "n_outputs", None), getattr(game, "output_names", None))
    identity = identity_of(
        game, n_players, name=None, player_names=names, deterministic=deterministic, n_outputs=n_outputs
    )
    if identity is None:
        return store
    found = Store(path)
    try:
        found.open(identity)
    except OtherGameError:
        digits = split_fingerprint(identity.fingerprint)[1][:12]
        found = Store(found.path.with_stem(f"{found.path.stem}-{digits}"))
        logger.info("The store %s belongs to another game; the values of this one are in %s.", path, found.path)
    found.close()
    return found
