"""What a run on a prompt may cost, before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.games.prompt.request import text_of
from topshap.games.prompt.scores import AnswerLogProb

if TYPE_CHECKING:
    from topshap.games.prompt import PromptGame
    from topshap.games.prompt.request import Request

CHARACTERS_PER_TOKEN = 4.0
"""The usual number of characters of a token of English text."""
ANSWER_TOKENS = 256
"""The assumed length of an answer that is not known, unless `params` has a limit."""


@dataclass(frozen=True)
class CostEstimate:
    """What a run may cost: the result of ``topshap.attribute(..., dry_run=True)``. Nothing was asked.

    Tokens are estimated at four characters each. On average, half of the players are in a prompt.

    Examples
    --------
    >>> import topshap
    >>> client = topshap.clients.MockClient()
    >>> options = {"documents": ["Since."] * 8, "answer": "So.", "prices": (1.0, 2.0)}
    >>> print(topshap.attribute(client, "Why?", **options, dry_run=True))
    At most 32 requests with about 320 tokens: cost about 0.00032, at most about 0.000576
    """

    requests: int
    """The largest number of requests."""
    prompt_tokens: int
    """The expected number of tokens of all prompts."""
    completion_tokens: int
    """The expected number of tokens of all completions."""
    cost: float | None
    """The expected cost, None if no prices are known."""
    highest_cost: float | None
    """The cost if every prompt had all players, or `max_cost` if that is lower."""

    def __str__(self) -> str:
        tokens = self.prompt_tokens + self.completion_tokens
        text = f"At most {self.requests:,} requests with about {tokens:,} tokens"
        if self.cost is None:
            return f"{text}: the cost is not known without 'prices'"
        return f"{text}: cost about {self.cost:.4g}, at most about {self.highest_cost:.4g}"


def estimate_cost(
    game: PromptGame,
    *,
    budget: int,
    asks: bool,
    prices: tuple[float, float] | None,
    max_cost: float | None,
) -> CostEstimate:
    """Return what a run may cost.

    Parameters
    ----------
    game
        The game; its answer is ignored if the model is asked for it.
    budget
        The number of evaluations.
    asks
        Whether the model is asked for the answer first.
    prices
        The prices of a million tokens of prompts and of completions, None if they are not known.
    max_cost
        The limit of the cost, None for no limit.
    """
    full, none = (_tokens(game.request_of(np.full(game.n_players, there))) for there in (True, False))
    answer = ANSWER_TOKENS if asks else round(len(game.answer) / CHARACTERS_PER_TOKEN)
    answer = min(answer, int(game.params.get("max_tokens") or answer))
    scored = isinstance(game.score, AnswerLogProb)
    calls = getattr(game.score, "calls", 1)
    prompt = (full + none) / 2.0 + (answer if scored else 0)
    highest_prompt = full + (answer if scored else 0)
    completion = 0 if scored else answer
    first = int(asks)
    expected = budget * calls * np.array([prompt, completion]) + first * np.array([full, answer])
    highest = budget * calls * np.array([highest_prompt, completion]) + first * np.array([full, answer])
    cost, at_most = (_price(each, prices) for each in (expected, highest))
    if at_most is not None and max_cost is not None:
        at_most = min(at_most, max_cost)
        cost = min(cost or 0.0, max_cost)
    return CostEstimate(budget * calls + first, round(expected[0]), round(expected[1]), cost, at_most)


def _tokens(request: Request) -> float:
    characters = sum(len(text_of(message)) for message in request.messages) + len(str(request.tools or ""))
    return characters / CHARACTERS_PER_TOKEN


def _price(tokens: Any, prices: tuple[float, float] | None) -> float | None:
    return None if prices is None else float(tokens @ np.array(prices) / 1e6)
