"""The terms of a race: when it ends, what its answer then rests on, and which algorithm can do that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topshap._validation import check_choice, check_delta, check_int, check_range, check_real, refuse
from topshap.stopping import GUARANTEES, Budget, Confidence, Criterion, Exhausted, When

if TYPE_CHECKING:
    from topshap.algorithms import Algorithm
    from topshap.race import Race
    from topshap.result import Stopped
    from topshap.statistics.merit import RankBy
    from topshap.stopping import Guarantee

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
    owner: str,
) -> Terms:
    """Return the terms that these parameters come to; what cannot be kept, or would never end, is refused."""
    stop = _as_criterion(stop, owner=owner)
    delta = check_delta(delta, owner=owner)
    check_choice("guarantee", guarantee, GUARANTEES, owner=owner)
    if value_range is not None:
        value_range = check_range("value_range", value_range, owner=owner)
    budget = _budget(n, budget, stop, endless=epsilon is not None or stop is not None, owner=owner)
    ends_when_confident = epsilon is not None
    promised = {leaf for leaf in stop.leaves() if isinstance(leaf, Confidence)} if stop is not None else set()
    if ends_when_confident:
        promised.add(Confidence(check_real("epsilon", epsilon, owner=owner, low=0.0), delta, guarantee))
    if len(promised) > 1:
        must_be = "such that all confidence of a race has the same epsilon, delta and guarantee"
        refuse("stop", stop, owner=owner, must_be=must_be)
    confidence = promised.pop() if promised else None
    if isinstance(stop, Budget):  # said by the budget
        stop = None
    if confidence is not None:
        _refuse_what_cannot_end(
            n, budget, confidence, stop, value_range, enumerable=ends_at_all_coalitions, owner=owner
        )
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


def algorithm_for(
    terms: Terms, n: int, algorithm: Any, *, rank_by: RankBy, deterministic: bool, owner: str
) -> Algorithm[Any]:
    """Return the algorithm to run: the one that was asked for, if it can keep the terms."""
    from topshap import algorithms  # noqa: PLC0415 - with most of scipy, which importing topshap does not wait for

    auto = isinstance(algorithm, str) and algorithm == "auto"
    asked_for = None if auto else algorithms.make(algorithm, owner=owner)
    if terms.enumerates:
        return algorithms.Enumeration()
    guarantee = terms.guarantee
    if rank_by != "value" and guarantee is not None:
        refuse("rank_by", rank_by, owner=owner, must_be="'value' in a race that stops by itself when it is confident")
    chosen = asked_for or algorithms.choose(
        n_players=n,
        budget=terms.budget,
        guarantee=guarantee,
        rank_by=rank_by,
        deterministic=deterministic,
        bounded=terms.value_range is not None,
    )
    if guarantee is not None and guarantee not in chosen.guarantees:
        able = ", ".join(repr(name) for name, kind in algorithms.ALGORITHMS.items() if guarantee in kind.guarantees)
        must_be = f"one that can stop by itself with guarantee={guarantee!r}: 'auto', {able or 'or one of your own'}"
        refuse("algorithm", algorithm, owner=owner, must_be=must_be)
    if rank_by not in chosen.ranks_by:
        able = ", ".join(repr(name) for name, kind in algorithms.ALGORITHMS.items() if rank_by in kind.ranks_by)
        must_be = f"one that ranks by {rank_by}: 'auto', {able}"
        refuse("algorithm", algorithm, owner=owner, must_be=must_be)
    if terms.budget is None and chosen.needs_budget:
        must_be = f"given with algorithm {chosen.name!r}, which plans for the whole of it"
        refuse("budget", None, owner=owner, must_be=must_be)
    if chosen.max_players is not None and n > chosen.max_players:
        must_be = f"one for more than {chosen.max_players} players: this game has {n}"
        refuse("algorithm", algorithm, owner=owner, must_be=must_be)
    if not deterministic and not chosen.takes_noise:
        refuse("algorithm", algorithm, owner=owner, must_be="one for a game that is not deterministic")
    return chosen


def _as_criterion(stop: Any, *, owner: str) -> Criterion | None:
    if stop is None or isinstance(stop, Criterion):
        return stop
    if not callable(stop) or isinstance(stop, type):
        refuse("stop", stop, owner=owner, must_be="a Criterion, a function of the race or None")
    return When(stop)


def _budget(n: int, budget: Any, stop: Criterion | None, *, endless: bool, owner: str) -> int | None:
    """Return the least that anybody set; without any limit the default one, unless the race has another way to end."""
    limits = [] if stop is None or stop.limit is None else [stop.limit]
    if budget is not None:
        limits.append(check_int("budget", budget, owner=owner, low=2))
    return min(limits) if limits else None if endless else default_budget(n)


def _refuse_what_cannot_end(
    n: int,
    budget: int | None,
    confidence: Confidence,
    stop: Criterion | None,
    value_range: tuple[float, float] | None,
    *,
    enumerable: bool,
    owner: str,
) -> None:
    """Refuse confidence that could never be reached in a race that nothing else ends."""
    endless = budget is None and (stop is None or isinstance(stop, Confidence))
    if confidence.guarantee == "exact" and value_range is None:
        if not enumerable:
            must_be = "given for guarantee='exact', unless coalitions are counted once and always have the same value"
            refuse("value_range", None, owner=owner, must_be=must_be)
        if endless and n > ENUMERABLE_PLAYERS:
            must_be = f"given for guarantee='exact' with more than {ENUMERABLE_PLAYERS} players and no budget"
            refuse("value_range", None, owner=owner, must_be=must_be)
    if endless and confidence.epsilon == 0.0 and not enumerable:
        must_be = "above 0 without a budget where every access is paid for, since a tie would then never end"
        refuse("epsilon", confidence.epsilon, owner=owner, must_be=must_be)
