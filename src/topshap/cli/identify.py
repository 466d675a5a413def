"""``topshap identify``: the top k of any value function of yours."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import topshap
from topshap.cli.loading import load_object
from topshap.cli.running import Budget, Delta, Epsilon, Jobs, Json, Outcome, RankBy, Ranking, Report, Seed, StoreFile
from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from topshap.core.result import TopK


class Guarantee(StrEnum):
    """What an answer with an epsilon rests on."""

    asymptotic = "asymptotic"
    credible = "credible"
    exact = "exact"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("identify")(identify)


def identify(
    game: Annotated[str, typer.Argument(help="module:game, a function from a bool array (m, n) to m numbers.")],
    *,
    k: Annotated[int, typer.Option("-k", help="How many players to find.")],
    players: Annotated[int | None, typer.Option(help="How many players there are, if the game does not say.")] = None,
    algorithm: Annotated[str, typer.Option(help="Which algorithm to use; see 'Which algorithm?'.")] = "auto",
    guarantee: Annotated[Guarantee, typer.Option(help="What stopping at --epsilon rests on.")] = Guarantee.asymptotic,
    value_range: Annotated[
        tuple[float, float] | None, typer.Option(help="The lowest and the highest value there may be.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What the game is called in the store; change it when its values change.")
    ] = None,
    rank_by: RankBy = Ranking.value,
    budget: Budget = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.05,
    report: Report = None,
    store: StoreFile = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the k players with the highest Shapley values of a game in a module of yours.

    The module is looked for in the current folder too. A game is a function from a bool array with one coalition a row
    to one number per row; an object with n_players and player_names says the rest itself.

    For example:

    topshap identify my_code:game --players 10 -k 3 --budget 300

    topshap identify my_code:game --players 10 -k 3 --epsilon 0.1 --store run.db --report game.html
    """
    outcome = Outcome(as_json, report, store)
    found = load_object(game, what="The game")

    def race() -> TopK:
        return topshap.identify(
            found,
            n_players=players,
            k=k,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            guarantee=guarantee.value,
            value_range=value_range,
            algorithm=algorithm,
            rank_by=rank_by.value,
            random_state=seed,
            n_jobs=jobs,
            store=None if store is None else _store_for(found, store, name, spec=game),
            progress=outcome.progress,
        )

    outcome.of(race, title=f"The top {k} of {game}", game=game)


def _store_for(game: Any, path: Path, name: str | None, *, spec: str) -> topshap.Store | Path:
    """Return the store, with a name for the game where it has no fingerprint of its own."""
    if name is None and getattr(game, "fingerprint", None) is not None:
        return path
    called = name or topshap.games.fingerprint_of("command", game=game)
    if called is None:
        why = "it uses something that cannot be fingerprinted"
        raise ParameterError(f"A store needs a name for {spec}, since {why}: give one by --name.")
    return topshap.Store(path, game=called)
