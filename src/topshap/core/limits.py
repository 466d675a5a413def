"""The limits of a race: when it ends, and the guarantee that its result has to give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from topshap.core.errors import PublishedRuleWarning, warn_caller
from topshap.core.stopping import AllOf, AnyOf, Budget, Confidence, Criterion, Exhausted, TimeLimit
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Collection

    from topshap.core.algorithm import Algorithm
    from topshap.core.options import CheckedOptions
    from topshap.core.result import Stopped
    from topshap.core.stopping import Guarantee, RaceView

ENUMERABLE_PLAYERS = 30
"""The largest number of players for which a race without other limits may evaluate all coalitions."""


@dataclass(frozen=True)
class Limits:
    """When a race ends, and the guarantee that its result has to give."""

    budget: int | None
    """The budget, None for no limit."""
    confidence: Confidence | None
    """The confidence to reach, in a race that can stop by itself."""
    ends_when_confident: bool
    """Whether confidence alone ends the race, or only as a part of `stop`."""
    stop: Criterion | None
    """Another criterion that may end the race."""
    value_range: tuple[float, float] | None
    """The lowest and the highest value that a coalition may have, None if not known."""
    enumerates: bool
    """Whether the budget covers all coalitions, each of them counts once, and nothing ends the race earlier."""
    clear_gap: bool = False
    """Whether the race chooses k, at a clear gap."""

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee to give, None without a confidence to reach or if the algorithm decides; see `settled`."""
        return None if self.confidence is None else self.confidence.guarantee

    def settled(self, algorithm: Algorithm[Any], default: Guarantee | None = None) -> Limits:
        """Return the limits with this default guarantee, or with the algorithm's own, if none was given."""
        if self.confidence is None or self.confidence.guarantee is not None:
            return self
        guarantee = default or default_guarantee(algorithm.guarantees)
        if guarantee == "published":
            _warn_of_published_rule(algorithm.name)
        return replace(self, confidence=replace(self.confidence, guarantee=guarantee))

    @property
    def may_stop_early(self) -> bool:
        """Whether the race may end after any round."""
        return self.confidence is not None or self.stop is not None

    def verdict(self, race: RaceView) -> Stopped | None:
        """Return why the race is to end now, before its budget does; None if it goes on."""
        if self.ends_when_confident and race.confident:
            return "confident"
        if self.stop is None or not self.stop.met(race):
            return None
        if race.exhausted:
            return "exact"
        return "confident" if race.confident else self.stop.reason(race)

    def time_is_up(self, race: RaceView) -> bool:
        """Return whether a time limit ends the race now, even within a batch."""
        return self.stop is not None and _time_is_up(self.stop, race)

    def completion(self, race: RaceView) -> float:
        """Return the estimated completion of a race, from 0 to 1, by the limit that is closest."""
        parts = [] if self.budget is None else [race.spent / self.budget]
        if race.counting == "distinct":
            parts.append(Exhausted().completion(race))
        if self.ends_when_confident and self.confidence is not None:
            parts.append(self.confidence.completion(race))
        if self.stop is not None:
            parts.append(self.stop.completion(race))
        return max(parts, default=0.0)


def resolve_limits(n: int, options: CheckedOptions, *, deterministic: bool) -> Limits:
    """Return the limits from the options; refuse options that contradict each other or a race that would never end."""
    pays_once = options.counting == "distinct" and deterministic
    budget = _budget(n, options)
    confidence = _confidence(options)
    stop = None if isinstance(options.stop, Budget) else options.stop  # a budget alone is already in `budget`
    if confidence is not None:
        _refuse_endless(n, budget, confidence, stop, options.value_range, pays_once=pays_once)
    return Limits(
        budget=budget,
        confidence=confidence,
        ends_when_confident=options.epsilon is not None,
        stop=stop,
        value_range=options.value_range,
        enumerates=pays_once and confidence is None and stop is None and (budget or 0) >= 2**n,
    )


def default_guarantee(able: Collection[Guarantee]) -> Guarantee | None:
    """Return the default guarantee of an algorithm that can give those in `able`, None if it has no default.

    Examples
    --------
    >>> default_guarantee(("asymptotic", "credible", "exact")), default_guarantee(("published", "credible"))
    ('asymptotic', 'published')
    """
    defaults: tuple[Guarantee, ...] = ("asymptotic", "published")
    return next((guarantee for guarantee in defaults if guarantee in able), None)


def _warn_of_published_rule(name: str) -> None:
    warn_caller(
        f"The race stops by the published rule of {name!r}, which is not a guarantee at level delta: it does not "
        "correct for repeated looks. Pass guarantee='published' to accept this, or guarantee='asymptotic' with "
        "algorithm 'odd-gp@k' or 'swap@k'.",
        PublishedRuleWarning,
    )


def _time_is_up(criterion: Criterion, race: RaceView) -> bool:
    """Return whether a criterion is met because of a time limit.

    Only time limits act within a batch. Other criteria wait for its end, since batches are divided by measured time and
    the result of a run must not depend on it.
    """
    if isinstance(criterion, AnyOf):
        return any(_time_is_up(part, race) for part in criterion.criteria)
    if isinstance(criterion, AllOf):
        return any(_time_is_up(part, race) for part in criterion.criteria) and criterion.met(race)
    return isinstance(criterion, TimeLimit) and criterion.met(race)


def default_budget(n_players: int) -> int:
    """Return the default budget: 50 evaluations per player, or all coalitions if that is less.

    Examples
    --------
    >>> default_budget(5), default_budget(14)
    (32, 700)
    """
    return min(2**n_players, 50 * n_players)


def _budget(n: int, options: CheckedOptions) -> int | None:
    """Return the lowest limit that is set; without any, the default budget unless the race has another way to end."""
    stop = options.stop
    limits = [options.budget, None if stop is None else stop.limit]
    known = [limit for limit in limits if limit is not None]
    if known:
        return min(known)
    return default_budget(n) if options.epsilon is None and stop is None else None


def _confidence(options: CheckedOptions) -> Confidence | None:
    """Return the confidence to reach, None if there is none; a result has only one guarantee."""
    stop = options.stop
    promised = set() if stop is None else {leaf for leaf in stop.leaves() if isinstance(leaf, Confidence)}
    if options.epsilon is not None:
        promised.add(Confidence(options.epsilon, options.delta, options.guarantee))
    if len(promised) > 1:
        must_be = "such that all confidence criteria of a race have the same epsilon, delta and guarantee"
        refuse("stop", stop, must_be=must_be)
    return promised.pop() if promised else None


def _refuse_endless(
    n: int,
    budget: int | None,
    confidence: Confidence,
    stop: Criterion | None,
    value_range: tuple[float, float] | None,
    *,
    pays_once: bool,
) -> None:
    """Refuse a confidence that might never be reached in a race that nothing else ends."""
    endless = budget is None and (stop is None or isinstance(stop, Confidence))
    if confidence.guarantee == "exact" and value_range is None:
        if not pays_once:
            must_be = "given for guarantee='exact', unless coalitions are counted once and always have the same value"
            refuse("value_range", None, must_be=must_be)
        if endless and n > ENUMERABLE_PLAYERS:
            must_be = f"given for guarantee='exact' with more than {ENUMERABLE_PLAYERS} players and no budget"
            refuse("value_range", None, must_be=must_be)
    if endless and confidence.epsilon == 0.0 and not pays_once:
        must_be = "above 0 without a budget if every access counts, since a race with a tie would never end"
        refuse("epsilon", confidence.epsilon, must_be=must_be)
