"""The base class of criteria, and their composition with ``&`` and ``|``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.result import Stopped
    from topshap.core.stopping.view import RaceView


class Criterion(ABC):
    """Decides when a race ends. Subclasses define `met` and, if possible, `completion`.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import Criterion, TimeLimit
    >>> class Rounds(Criterion):
    ...     "Met when every player has this many samples."
    ...
    ...     def __init__(self, samples):
    ...         self.samples = samples
    ...
    ...     def met(self, race):
    ...         return bool(race.standing.counts.min() >= self.samples)
    ...
    ...     def completion(self, race):
    ...         return min(1.0, race.standing.counts.min() / self.samples)
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> stop = Rounds(5) | TimeLimit(60)
    >>> topshap.identify(game, k=2, algorithm="cmcs", stop=stop, random_state=0).stopped
    'rule'
    """

    @abstractmethod
    def met(self, race: RaceView) -> bool:
        """Return whether the race may end; called after every batch, never before the first."""

    def completion(self, race: RaceView) -> float:
        """Return the estimated completion, from 0 to 1; 1 exactly if the criterion is met."""
        return 1.0 if self.met(race) else 0.0

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - for composites
        """Return the `TopK.stopped` of a race that this criterion ends."""
        return "rule"

    @property
    def limit(self) -> int | None:
        """The spending at which the criterion is met in any case, None if unknown; a race never spends more."""
        return None

    def leaves(self) -> Iterator[Criterion]:
        """Yield the criteria that this one is composed of; itself if it is not composed."""
        yield self

    def __and__(self, other: object) -> Criterion:
        """Return a criterion that is met when both are."""
        return AllOf(_parts(AllOf, self, other)) if isinstance(other, Criterion) else NotImplemented

    def __or__(self, other: object) -> Criterion:
        """Return a criterion that is met when one of the two is."""
        return AnyOf(_parts(AnyOf, self, other)) if isinstance(other, Criterion) else NotImplemented

    def __bool__(self) -> NoReturn:
        """Refuse ``and``, ``or`` and ``not``, which would silently drop one side."""
        raise TypeError(
            "A criterion is neither true nor false. Compose criteria with & and |, not with 'and' and 'or'."
        )


@dataclass(frozen=True, repr=False)
class AnyOf(Criterion):
    """Met when one of several criteria is; the result of ``|``.

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
        """Return the largest completion."""
        return max(criterion.completion(race) for criterion in self.criteria)

    def reason(self, race: RaceView) -> Stopped:
        """Return the reason of the first criterion that is met."""
        return next((criterion.reason(race) for criterion in self.criteria if criterion.met(race)), "rule")

    @property
    def limit(self) -> int | None:
        """The lowest of their limits."""
        return min((criterion.limit for criterion in self.criteria if criterion.limit is not None), default=None)

    def leaves(self) -> Iterator[Criterion]:
        """Yield the criteria that they are composed of."""
        for criterion in self.criteria:
            yield from criterion.leaves()

    def __repr__(self) -> str:
        """Return the criteria with | between them."""
        return " | ".join(map(repr, self.criteria))


@dataclass(frozen=True, repr=False)
class AllOf(Criterion):
    """Met when all of several criteria are; the result of ``&``.

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
        """Return the smallest completion."""
        return min(criterion.completion(race) for criterion in self.criteria)

    def reason(self, race: RaceView) -> Stopped:
        """Return their common reason, "rule" if they differ."""
        reasons = {criterion.reason(race) for criterion in self.criteria}
        return reasons.pop() if len(reasons) == 1 else "rule"

    @property
    def limit(self) -> int | None:
        """The highest of their limits, None if one of them has none."""
        limits = [criterion.limit for criterion in self.criteria]
        known = [limit for limit in limits if limit is not None]
        return max(known) if len(known) == len(limits) else None

    def leaves(self) -> Iterator[Criterion]:
        """Yield the criteria that they are composed of."""
        for criterion in self.criteria:
            yield from criterion.leaves()

    def __repr__(self) -> str:
        """Return the criteria with & between them."""
        return " & ".join(f"({c!r})" if isinstance(c, AnyOf) else repr(c) for c in self.criteria)


def _parts(kind: type[AnyOf | AllOf], *criteria: Criterion) -> tuple[Criterion, ...]:
    """Return the criteria with those of the same kind flattened."""
    return tuple(part for c in criteria for part in (c.criteria if isinstance(c, kind) else (c,)))
