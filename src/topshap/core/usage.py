"""Usage: the requests, tokens and cost of calls of a language model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """The requests, tokens and cost of some calls of a language model.

    Usages can be added.

    Examples
    --------
    >>> first = Usage(requests=1, prompt_tokens=1200, completion_tokens=30, cost=0.0012)
    >>> print(first + Usage(requests=1, prompt_tokens=800, cost=0.0008))
    2 requests, 2,030 tokens, cost 0.002
    """

    requests: int = 0
    """The number of answered requests."""
    prompt_tokens: int = 0
    """The tokens of all prompts."""
    completion_tokens: int = 0
    """The tokens of all completions."""
    cost: float | None = None
    """The cost in the currency of the prices, None if no prices are known."""
    lost: int = 0
    """The number of requests whose answer was lost, such as by a timeout. Each counts as much as the most expensive
    request before it, since it may have been charged."""

    @property
    def tokens(self) -> int:
        """The tokens of prompts and completions."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        known = [usage.cost for usage in (self, other) if usage.cost is not None]
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(known) if known else None,
            self.lost + other.lost,
        )

    @property
    def brief(self) -> str:
        """The tokens and the cost in a few words.

        Examples
        --------
        >>> Usage(requests=2, prompt_tokens=2000, cost=0.5).brief
        '2,000 tokens, cost 0.5'
        """
        return f"{self.tokens:,} tokens" + ("" if self.cost is None else f", cost {self.cost:.4g}")

    def __str__(self) -> str:
        requests = f"{self.requests:,} request{'' if self.requests == 1 else 's'}"
        lost = f" ({self.lost:,} more without an answer)" if self.lost else ""
        return f"{requests}{lost}, {self.brief}"
