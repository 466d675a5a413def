"""The settings of a run on a prompt: money, rate limits, and what `identify` takes as well."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from topshap.core.options import OPTION_DEFAULTS
from topshap.core.validation import check_bool, check_int, check_positive, refuse
from topshap.games.prompt import PromptGame

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from topshap.core.race import Race
    from topshap.evaluation import Store
    from topshap.show.progress import Progress


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How a run spends money and time; see `topshap.attribute`."""

    prices: Any = None
    max_cost: float | None = None
    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retries: int = 5
    timeout: float | None = 120.0
    store: Store | str | os.PathLike[str] | None = None
    progress: Progress = False
    callback: Callable[[Race], object] | None = None
    dry_run: bool = False

    def __post_init__(self) -> None:
        check_int("concurrency", self.concurrency, low=1)
        check_int("retries", self.retries, low=0)
        check_bool("dry_run", self.dry_run)
        for name in ("max_cost", "requests_per_minute", "tokens_per_minute", "timeout"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        if self.callback is not None and not callable(self.callback):
            refuse("callback", self.callback, must_be="a function of the race or None")


_GAME = inspect.signature(PromptGame).parameters
GAME_DEFAULTS: dict[str, Any] = {
    name: parameter.default
    for name, parameter in _GAME.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in ("answer", "documents")
}
"""The options of the game and their defaults."""
RUN_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(RunSettings)}
"""The options of the run and their defaults."""
ALL_OPTIONS: dict[str, inspect.Parameter] = {
    name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    for name, default in (GAME_DEFAULTS | RUN_DEFAULTS | OPTION_DEFAULTS).items()
}
"""All options of `topshap.attribute` apart from those that it names."""


def default_budget(n_players: int) -> int:
    """Return the default number of evaluations: 4 per player, at least 32, at most all coalitions.

    Examples
    --------
    >>> default_budget(3), default_budget(12), default_budget(100)
    (8, 48, 400)
    """
    return min(2**n_players, max(32, 4 * n_players))
