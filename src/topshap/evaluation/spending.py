"""Spending: the tokens and the cost of a run, and its limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topshap.core.errors import ClientError
from topshap.core.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

Prices = tuple[float, float]
"""The price of a million tokens: of prompts, and of completions."""


class Spending:
    """Adds up the usage of calls, and says whether a further one fits into the limit.

    Parameters
    ----------
    prices
        The prices by model; None if they are not known.
    max_cost
        The most that may be spent; None for no limit.
    before
        The usage of earlier runs.

    Attributes
    ----------
    total : Usage
        The usage so far, of earlier runs too.
    this_run : Usage
        The usage of this run.
    on_usage : function of a Usage, or None
        Called with the usage of every call as soon as it is known.

    Examples
    --------
    >>> spending = Spending((1.0, 2.0), max_cost=0.003)
    >>> spending.add(Usage(requests=1, prompt_tokens=1000))
    >>> spending.total.cost, spending.allows(in_flight=0), spending.allows(in_flight=2)
    (0.001, True, False)
    """

    def __init__(
        self, prices: Prices | None = None, *, max_cost: float | None = None, before: Usage | None = None
    ) -> None:
        self.prices, self.max_cost = prices, max_cost
        self.total = before or Usage(cost=None if prices is None else 0.0)
        self.this_run = Usage()
        self.on_usage: Callable[[Usage], None] | None = None
        self._largest = _mean(self.total)

    def add(self, usage: Usage) -> None:
        """Count the usage of a call, with the cost that the endpoint has reported or by the prices."""
        priced = self._priced(usage)
        if self.max_cost is not None and usage.cost is None and usage.tokens == 0:
            raise ClientError(
                "The endpoint does not report the tokens of its answers, so 'max_cost' cannot be kept. Use 'budget' "
                "to limit the number of requests."
            )
        each = _mean(priced) if priced.requests > 1 else priced  # of a batch
        if (each.cost or 0.0, each.tokens) > (self._largest.cost or 0.0, self._largest.tokens):
            self._largest = each
        self._note(priced)

    def lose(self) -> None:
        """Count a request whose answer was lost, which may be charged: as much as the most expensive one so far."""
        self._note(replace(self._largest, requests=0, lost=1))

    @property
    def tokens_per_call(self) -> float:
        """The tokens of the largest call so far, as the estimate for the next one."""
        return float(self._largest.tokens)

    def allows(self, in_flight: int, calls: int = 1) -> bool:
        """Return whether a further evaluation fits into the limit if all calls cost as much as the largest one so far.

        Parameters
        ----------
        in_flight
            The number of evaluations in flight.
        calls
            The number of calls of an evaluation.
        """
        if self.max_cost is None:
            return True
        spent = self.total.cost or 0.0
        return spent + (in_flight + 1) * calls * (self._largest.cost or 0.0) <= self.max_cost * (1.0 - 1e-12)

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost is not None or self.prices is None:
            return usage
        for_prompt, for_completion = self.prices
        cost = (usage.prompt_tokens * for_prompt + usage.completion_tokens * for_completion) / 1e6
        return replace(usage, cost=cost)

    def _note(self, usage: Usage) -> None:
        self.total, self.this_run = self.total + usage, self.this_run + usage
        if self.on_usage is not None:
            self.on_usage(usage)


def _mean(usage: Usage) -> Usage:
    """Return the usage of an average request, as a first estimate; nothing if there were none."""
    if usage.requests == 0:
        return Usage()
    tokens = (usage.prompt_tokens // usage.requests, usage.completion_tokens // usage.requests)
    return Usage(1, *tokens, None if usage.cost is None else usage.cost / usage.requests)
