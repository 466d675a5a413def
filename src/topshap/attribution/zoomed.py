"""The second level of an attribution: the sentences of the documents that an answer rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.attribution.settings import default_budget
from topshap.core.errors import RaceError
from topshap.core.validation import check_choice, refuse
from topshap.evaluation.store.per_game import function_name, store_of_game
from topshap.zoom import chosen_players, inner_k

if TYPE_CHECKING:
    from topshap.attribution.estimate import CostEstimate
    from topshap.attribution.result import Attribution
    from topshap.attribution.run import PromptRun
    from topshap.core.typing import Players
    from topshap.games.prompt import PromptGame

LEVELS = (("document",), ("document", "sentence"))
"""What `levels` of `topshap.attribute` may be."""


def check_levels(levels: Any, unit: Any) -> bool:
    """Return whether documents are divided into sentences in a second run."""
    if isinstance(levels, str):
        levels = (levels,)
    if tuple(levels) not in LEVELS:
        refuse("levels", levels, must_be="('document',) or ('document', 'sentence')")
    if len(tuple(levels)) == 2 and unit not in (None, "document"):
        refuse("unit", unit, must_be="'document' with two levels")
    return len(tuple(levels)) == 2


def first_level(run: PromptRun) -> PromptRun:
    """Return the run for documents with half of the budget and half of the cost; the second level has the rest."""
    options = dict(run.race_options)
    if options.get("budget") is not None:
        options["budget"] = max(2, int(options["budget"]) // 2)
    settings = run.settings
    if settings.max_cost is not None:
        settings = replace(settings, max_cost=settings.max_cost / 2.0)
    return run.changed(race_options=options, settings=settings)


def second_level(found: Attribution, run: PromptRun) -> tuple[PromptRun, Players]:
    """Return the run for the sentences of the top k documents, with what the first level has left of the budget."""
    budget = run.race_options.get("budget")
    left = {} if budget is None else {"budget": max(2, int(budget) - found.top.evaluations)}
    return zoom_run(found, None, "sentence", None, left)


def estimate(run: PromptRun, *, zooms: bool) -> CostEstimate:
    """Return what a run may cost; with two levels, as if the documents found were those with the most sentences."""
    if not zooms or run.race_options.get("budget") is not None:
        return run.estimate()
    divided = run.game_with(run.game_options | {"unit": "sentence", "groups": None, "always": None}, run.game.answer)
    parents = _parents(run.game, divided, np.arange(run.game.n_players))
    sentences = np.sort(np.bincount(parents[parents >= 0]))[-run.race.k :].sum()
    return run.estimate(further=default_budget(int(sentences)))


def zoom_run(
    found: Attribution, into: Any, unit: str, k: int | None, changed: dict[str, Any]
) -> tuple[PromptRun, Players]:
    """Return the run whose players are the sentences of some players, and the player that each sentence belongs to.

    Parameters
    ----------
    found
        The result for documents.
    into
        Names or indices of players, None for the top k.
    unit
        ``"sentence"``.
    k
        The number of sentences to find, None for as many as documents.
    changed
        Options of the race and of the run in place of those of the first run.
    """
    check_choice("unit", unit, ("sentence",))
    run = found.run
    if run is None:
        raise RaceError("This result cannot be zoomed into, since it does not know its run.")
    if run.game.unit != "document":
        refuse("unit", unit, must_be="finer than the players of this result, which are sentences already")
    players = chosen_players(found.top, into)
    options = run.game_options | {"unit": unit, "groups": None, "always": None, "fingerprint": _name(run)}
    divided = run.game_with(options, found.answer)
    parents = _parents(run.game, divided, players)
    options["always"] = np.flatnonzero(parents < 0).tolist()
    parents = parents[parents >= 0]
    if len(parents) <= len(players):
        refuse("into", into, must_be="players that consist of several sentences")
    race_options = run.race_options | {"budget": None} | changed
    settings = run.settings
    if settings.store is not None:
        game = run.game_with(options, found.answer)
        settings = replace(settings, store=store_of_game(settings.store, game.detailed()))
    if settings.max_cost is not None:
        left = settings.max_cost - (found.usage.cost or 0.0)
        if left <= 0.0:
            refuse("max_cost", settings.max_cost, must_be="larger than what the first level has cost")
        settings = replace(settings, max_cost=left)
    inner = run.changed(
        answer=found.answer,
        k=inner_k(found.top, k, len(parents)),
        game_options=options,
        race_options=race_options,
        settings=settings,
    )
    return inner, parents


def _name(run: PromptRun) -> str | None:
    """Return the name of the client in stores."""
    name: str | None = run.game_options.get("fingerprint") or function_name(run.settings.store)
    return name


def _parents(outer: PromptGame, divided: PromptGame, players: Players) -> Players:
    """Return the chosen player that each part of the divided prompt belongs to, -1 for parts of other players."""
    owner = {
        (part.kind, part.owner): player
        for part, player in zip(outer.parts, outer.player_of.tolist(), strict=True)
        if player in players
    }
    return np.array([owner.get((part.kind, part.owner), -1) for part in divided.parts], dtype=np.intp)
