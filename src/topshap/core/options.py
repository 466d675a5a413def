"""The terms of a race: when it ends, what its answer then rests on, and which algorithm can do that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topshap.core.stopping import GUARANTEES, Budget, Confidence, Criterion, Exhausted, When
from topshap.core.validation import check_choice, check_delta, check_int, check_range, check_real, refuse

if TYPE_CHECKING:
    from topshap.core.race import Race
    from topshap.core.result import Stopped
    from topshap.core.stopping import Guarantee

ENUMERABLE_PLAYERS = 30
"""A race without any limit is expected to end by knowing all coalitions only up to this many players."""


@dataclass(frozen=True)
class Terms:
    """When a race ends, and what its answer then has to rest on; checked as a whole before anything is evaluated."""

    budget: int | None
    """What may be spent, None for no limit."""
    confidence: Confidence | None
    """What the answer has to hold to, in a race that can stop by itself."""
    ends_when_confident: bool
    """Whether confidence alone ends the race, or only as a part of `stop`."""
    stop: Criterion | None
    """What else may end the race."""
    value_range: tuple[float, float] | None
    """The lowest and the highest value that a coalition may have, None if not known."""
    enumerates: bool
    """Whether the budget covers all coalitions, each is paid for once, and nothing is to end the race before."""

    @property
    def guarantee(self) -> Guarantee | None:
        """What confidence has to rest on, None where nothing is promised."""
        return None if self.confidence is None else self.confidence.guarantee

    def verdict(self, race: Race) -> Stopped | None:
        """Return why the race is to end now, before its budget does; None if it is to go on."""
        if self.ends_when_confident and race.confident:
            return "confident"
        if self.stop is None or not self.stop.met(race):
            return None
        if race.exhausted:
            return "exact"
        return "confident" if race.confident else self.stop.reason(race)

    def completion(self, race: Race) -> float:
        """Return about how much of a race is done: as much as of whichever way to end is furthest."""
        ways = [] if self.budget is None else [race.spent / self.budget]
        if race.counting == "distinct":
            ways.append(Exhausted().completion(race))
        if self.ends_when_confident and self.confidence is not None:
            ways.append(self.confidence.completion(race))
        if self.stop is not None:
            ways.append(self.stop.completion(race))
        return max(ways, default=0.0)


def agree(
    n: int,
    *,
    budget: Any,
    epsilon: Any,
    delta: Any,
    guarantee: Any,
    value_range: Any,
    stop: Any,
    ends_at_all_coalitions: bool,
) -> Terms:
    """Return the terms that these parameters come to; what cannot be kept, or would never end, is refused."""
    stop = _as_criterion(stop)
    delta = check_delta(delta)
    check_choice("guarantee", guarantee, GUARANTEES)
    if value_range is not None:
        value_range = check_range("value_range", value_range)
    budget = _budget(n, budget, stop, endless=epsilon is not None or stop is not None)
    ends_when_confident = epsilon is not None
    promised = {leaf for leaf in stop.leaves() if isinstance(leaf, Confidence)} if stop is not None else set()
    if ends_when_confident:
        promised.add(Confidence(check_real("epsilon", epsilon, low=0.0), delta, guarantee))
    if len(promised) > 1:
        must_be = "such that all confidence of a race has the same epsilon, delta and guarantee"
        refuse("stop", stop, must_be=must_be)
    confidence = promised.pop() if promised else None
    if isinstance(stop, Budget):  # said by the budget
        stop = None
    if confidence is not None:
        _refuse_what_cannot_end(n, budget, confidence, stop, value_range, enumerable=ends_at_all_coalitions)
    nothing_ends_it_before = confidence is None and stop is None
    return Terms(
        budget=budget,
        confidence=confidence,
        ends_when_confident=ends_when_confident,
        stop=stop,
        value_range=value_range,
        enumerates=ends_at_all_coalitions and nothing_ends_it_before and (budget or 0) >= 2**n,
    )


def default_budget(n_players: int) -> int:
    """Return the budget of a race that is given none: 50 evaluations per player, or all coalitions if that is less.

    Examples
    --------
    >>> default_budget(5), default_budget(14)
    (32, 700)
    """
    return min(2**n_players, 50 * n_players)


def _as_criterion(stop: Any) -> Criterion | None:
    if stop is None or isinstance(stop, Criterion):
        return stop
    if not callable(stop) or isinstance(stop, type):
        refuse("stop", stop, must_be="a Criterion, a function of the race or None")
    return When(stop)


def _budget(n: int, budget: Any, stop: Criterion | None, *, endless: bool) -> int | None:
    """Return the least that anybody set; without any limit the default one, unless the race has another way to end."""
    limits = [] if stop is None or stop.limit is None else [stop.limit]
    if budget is not None:
        limits.append(check_int("budget", budget, low=2))
    return min(limits) if limits else None if endless else default_budget(n)


def _refuse_what_cannot_end(
    n: int,
    budget: int | None,
    confidence: Confidence,
    stop: Criterion | None,
    value_range: tuple[float, float] | None,
    *,
    enumerable: bool,
) -> None:
    """Refuse confidence that could never be reached in a race that nothing else ends."""
    endless = budget is None and (stop is None or isinstance(stop, Confidence))
    if confidence.guarantee == "exact" and value_range is None:
        if not enumerable:
            must_be = "given for guarantee='exact', unless coalitions are counted once and always have the same value"
            refuse("value_range", None, must_be=must_be)
        if endless and n > ENUMERABLE_PLAYERS:
            must_be = f"given for guarantee='exact' with more than {ENUMERABLE_PLAYERS} players and no budget"
            refuse("value_range", None, must_be=must_be)
    if endless and confidence.epsilon == 0.0 and not enumerable:
        must_be = "above 0 without a budget where every access is paid for, since a tie would then never end"
        refuse("epsilon", confidence.epsilon, must_be=must_be)
