"""``topshap identify``: the top k players of any value function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

import topshap
from topshap.cli.arguments import K, RaceArguments, takes_race_arguments
from topshap.cli.loading import load_object
from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("identify")(identify)


@takes_race_arguments()
def identify(
    game: Annotated[
        str, typer.Argument(help="The game as module:name, a function from a bool array (m, n) to m numbers.")
    ],
    *,
    k: Annotated[Any, K(help="The number of players to find; 'clear' for the first clear gap, with --epsilon.")],
    players: Annotated[
        int | None, typer.Option(help="The number of players; by default the game's attribute n_players.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="A name for the game in the store; change it when the values change.")
    ] = None,
    race: RaceArguments,
) -> None:
    """Find the k players with the highest Shapley values in any game.

    The module is searched for in the current directory and among the installed packages. A game is a function from a
    bool array with one coalition per row to one number per row. It may have the attributes n_players and player_names.

    For example:

    topshap identify my_code:game --players 10 -k 3 --budget 300

    topshap identify my_code:game --players 10 -k 3 --epsilon 0.1 --store run.db --report game.html
    """
    writer = race.writer()
    found = load_object(game, what="The game")
    options = race.options()
    if race.store is not None:
        options["store"] = _store_for(found, race.store, name, spec=game)
    top = writer.run(lambda: topshap.identify(found, n_players=players, k=k, **options))
    writer.write(top, title=f"The top {top.k} of {game}", game=game)


def _store_for(game: Any, path: Path, name: str | None, *, spec: str) -> topshap.Store | Path:
    """Return the store, with a name for the game if it has no fingerprint."""
    if name is None and getattr(game, "fingerprint", None) is not None:
        return path
    called = name or topshap.games.fingerprint_of("command", game=game)
    if called is None:
        raise ParameterError(f"{spec} cannot be fingerprinted. To use a store, give the game a name with --name.")
    return topshap.Store(path, game=called)
