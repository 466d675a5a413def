"""What ends a race, and how two such criteria become one with ``&`` and ``|``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.result import Stopped
    from topshap.core.stopping.view import RaceView


class Criterion(ABC):
    """Says when a race ends. Subclasses say when they are `met`, and if they can how far there is to go.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import Criterion, TimeLimit
    >>> class Rounds(Criterion):
    ...     "Everyone was sampled often enough."
    ...
    ...     def __init__(self, often):
    ...         self.often = often
    ...
    ...     def met(self, race):
    ...         return bool(race.standing.counts.min() >= self.often)
    ...
    ...     def completion(self, race):
    ...         return min(1.0, race.standing.counts.min() / self.often)
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> stop = Rounds(5) | TimeLimit(60)
    >>> topshap.identify(game, k=2, algorithm="cmcs", stop=stop, random_state=0).stopped
    'rule'
    """

    @abstractmethod
    def met(self, race: RaceView) -> bool:
        """Return whether the race may end. Looked at after every batch, never before the first."""

    def completion(self, race: RaceView) -> float:
        """Return about how much of the way is done, from 0 to 1; 1 exactly if it is met."""
        return 1.0 if self.met(race) else 0.0

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - for composites
        """Return what a result says for having ended by this criterion, once it is met."""
        return "rule"

    @property
    def limit(self) -> int | None:
        """By how much spent it is met in any case; None where that cannot be known. A race never spends more."""
        return None

    def leaves(self) -> Iterator[Criterion]:
        """Yield the criteria that this one is composed of, itself if it is not."""
        yield self

    def __and__(self, other: object) -> Criterion:
        """Return a criterion that is met when both are."""
        return AllOf(_parts(AllOf, self, other)) if isinstance(other, Criterion) else NotImplemented

    def __or__(self, other: object) -> Criterion:
        """Return a criterion that is met when one of both is."""
        return AnyOf(_parts(AnyOf, self, other)) if isinstance(other, Criterion) else NotImplemented

    def __bool__(self) -> NoReturn:
        """Refuse ``and``, ``or`` and ``not``, which would silently drop one side."""
        raise TypeError(
            "A criterion is neither true nor false. Compose criteria with & and |, not with 'and' and 'or'."
        )


@dataclass(frozen=True, repr=False)
class AnyOf(Criterion):
    """Met with the first of several criteria, and as complete as the furthest: what ``|`` makes.

    Examples
    --------
    >>> from topshap.core.stopping import Budget, TimeLimit
    >>> first = Budget(500) | TimeLimit(60) | Budget(400)
    >>> first, first.limit
    (Budget(evaluations=500) | TimeLimit(seconds=60) | Budget(evaluations=400), 400)
    """

    criteria: tuple[Criterion, ...]

    def met(self, race: RaceView) -> bool:
        """Return whether one of them is met."""
        return any(criterion.met(race) for criterion in self.criteria)

    def completion(self, race: RaceView) -> float:
        """Return the completion of the one that is furthest."""
        return max(criterion.completion(race) for criterion in self.criteria)

    def reason(self, race: RaceView) -> Stopped:
        """Return the reason of the first that is met."""
        return next((criterion.reason(race) for criterion in self.criteria if criterion.met(race)), "rule")

    @property
    def limit(self) -> int | None:
        """The lowest limit that one of them has."""
        return min((criterion.limit for criterion in self.criteria if criterion.limit is not None), default=None)

    def leaves(self) -> Iterator[Criterion]:
        """Yield what they are composed of."""
        for criterion in self.criteria:
            yield from criterion.leaves()

    def __repr__(self) -> str:
        """Return the criteria with | between them."""
        return " | ".join(map(repr, self.criteria))


@dataclass(frozen=True, repr=False)
class AllOf(Criterion):
    """Met with the last of several criteria, and as complete as the one that lags behind: what ``&`` makes.

    Examples
    --------
    >>> from topshap.core.stopping import Budget, TimeLimit
    >>> Budget(100) & (TimeLimit(60) | Budget(500))
    Budget(evaluations=100) & (TimeLimit(seconds=60) | Budget(evaluations=500))
    """

    criteria: tuple[Criterion, ...]

    def met(self, race: RaceView) -> bool:
        """Return whether all of them are met."""
        return all(criterion.met(race) for criterion in self.criteria)

    def completion(self, race: RaceView) -> float:
        """Return the completion of the one that lags behind."""
        return min(criterion.completion(race) for criterion in self.criteria)

    def reason(self, race: RaceView) -> Stopped:
        """Return the reason that they share, "rule" if they differ."""
        reasons = {criterion.reason(race) for criterion in self.criteria}
        return reasons.pop() if len(reasons) == 1 else "rule"

    @property
    def limit(self) -> int | None:
        """The highest of their limits, if each has one."""
        limits = [criterion.limit for criterion in self.criteria]
        known = [limit for limit in limits if limit is not None]
        return max(known) if len(known) == len(limits) else None

    def leaves(self) -> Iterator[Criterion]:
        """Yield what they are composed of."""
        for criterion in self.criteria:
            yield from criterion.leaves()

    def __repr__(self) -> str:
        """Return the criteria with & between them."""
        return " & ".join(f"({c!r})" if isinstance(c, AnyOf) else repr(c) for c in self.criteria)


def _parts(kind: type[AnyOf | AllOf], *criteria: Criterion) -> tuple[Criterion, ...]:
    """Return the criteria with those of the same kind taken apart, so that nothing is nested without need."""
    return tuple(part for c in criteria for part in (c.criteria if isinstance(c, kind) else (c,)))
