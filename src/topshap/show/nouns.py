"""The nouns of a result or race: players and Shapley values, pairs and interactions, or kinds of importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.core.importance_result import TopImportance

if TYPE_CHECKING:
    from topshap.core.explanations import Explanations
    from topshap.core.race import Race
    from topshap.core.result import TopK


def candidate(found: TopK | Race | Explanations) -> str:
    """Return the noun for what is ranked.

    Examples
    --------
    >>> import topshap
    >>> candidate(topshap.Race(n_players=4, k=2)), candidate(topshap.Race(n_players=4, k=2, order=2))
    ('player', 'pair')
    """
    return "player" if found.order == 1 else "pair"


def everyone(found: TopK | Race) -> str:
    """Return all candidates in words.

    Examples
    --------
    >>> import topshap
    >>> everyone(topshap.Race(n_players=2000, k=2)), everyone(topshap.Race(n_players=4, k=2, order=2))
    ('2,000 players', '6 pairs of 4 players')
    """
    players = f"{found.n_players:,} players"
    return players if found.order == 1 else f"{found.n_candidates:,} pairs of {players}"


def quantity(found: TopK | Race | Explanations) -> str:
    """Return the noun for the numbers that candidates are ranked by.

    Examples
    --------
    >>> import topshap
    >>> quantity(topshap.Race(n_players=4, k=2)), quantity(topshap.Race(n_players=4, k=2, order=2))
    ('Shapley value', 'interaction')
    """
    if isinstance(found, TopImportance):
        return "SAGE value" if found.by == "loss" else "mean magnitude"
    return "Shapley value" if found.order == 1 else "interaction"
