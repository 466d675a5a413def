"""The CPU time of interactions: of a run for pairs, and of the interactions after a run for players."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from topshap_bench.summary import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap_bench.sources import Source

GAMES = 3
"""The number of games that are timed."""


def costs(sources: Sequence[Source], budgets: Sequence[int], *, runs: int = 2) -> str:
    """Return a table with the CPU seconds of runs, the shortest of some each, as means over games.

    Parameters
    ----------
    sources
        The games, of which `GAMES` in equal distances are used.
    budgets
        The budgets; those that cover all coalitions are left out.
    runs
        The number of runs, of which the shortest counts.
    """
    chosen = sorted({round(i * (len(sources) - 1) / (GAMES - 1)) for i in range(GAMES)}) if sources else []
    games = sorted((sources[i].open().game for i in chosen), key=lambda game: game.n_players)
    lines = []
    for budget in budgets:
        found = [_seconds(game, budget, runs) for game in games if budget < 2**game.n_players]
        if found:
            players, afterwards, pairs = np.mean(found, axis=0)
            ratio = f"{(players + afterwards) / players:.2f}"
            lines.append([str(budget), len(found), *(f"{s:.3f}" for s in (players, afterwards, pairs)), ratio])
    header = ["budget", "games", "players", "interactions", "pairs", "with / without interactions"]
    n = f"{games[0].n_players} to {games[-1].n_players}" if games else "no"
    title = f"CPU seconds of a run for players, of its interactions, and of a run for pairs ({n} players)"
    return f"{title}\n\n{as_text(header, lines)}"


def _seconds(game: topshap.games.TableGame, budget: int, runs: int) -> tuple[float, float, float]:
    """Return the CPU time of a run for players, of its interactions, and of a run for pairs."""
    options: dict[str, Any] = {"k": 5, "budget": budget, "algorithm": "odd-gp", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", topshap.RareContributionsWarning)
        found = [_of_one_run(game, options) for _ in range(runs)]
    players, afterwards, pairs = np.min(found, axis=0).tolist()
    return players, afterwards, pairs


def _of_one_run(game: topshap.games.TableGame, options: dict[str, Any]) -> list[float]:
    """Return the three times once."""
    times = [time.process_time()]
    top = topshap.identify(game, **options)
    times.append(time.process_time())
    _ = top.interactions
    times.append(time.process_time())
    topshap.identify(game, order=2, **options)
    times.append(time.process_time())
    return np.diff(times).tolist()
