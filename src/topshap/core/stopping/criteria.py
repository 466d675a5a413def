"""The built-in criteria: budget, confidence, time, exhaustion and any function of the race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topshap.core.stopping.criterion import Criterion
from topshap.core.stopping.rules import GUARANTEES, NEARLY_DONE
from topshap.core.validation import check_choice, check_delta, check_int, check_positive, check_real, front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.result import Stopped
    from topshap.core.stopping.rules import Guarantee
    from topshap.core.stopping.view import RaceView


@front_door
@dataclass(frozen=True)
class Budget(Criterion):
    """Met when this many evaluations, or calls where the race counts calls, are spent. It is never exceeded.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import Budget, TimeLimit
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> top = topshap.identify(game, k=2, stop=Budget(100) | TimeLimit(60), random_state=0)
    >>> top.stopped, top.evaluations
    ('budget', 100)
    """

    evaluations: int

    def __post_init__(self) -> None:
        check_int("evaluations", self.evaluations, low=2)

    def met(self, race: RaceView) -> bool:
        """Return whether the budget is spent."""
        return race.spent >= self.evaluations

    def completion(self, race: RaceView) -> float:
        """Return the fraction that is spent."""
        return min(1.0, race.spent / self.evaluations)

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - the same for all races
        """Return "budget"."""
        return "budget"

    @property
    def limit(self) -> int | None:
        """The budget itself."""
        return self.evaluations


@front_door
@dataclass(frozen=True)
class Confidence(Criterion):
    """Met when the inclusion-exclusion error is at most epsilon with probability at least 1 - delta.

    ``stop=Confidence(epsilon, delta, guarantee)`` is equivalent to the parameters of `topshap.identify` with these
    names and defaults, and can be composed with other criteria. All `Confidence` criteria of a race have to be equal,
    since a result has one guarantee.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import Budget, Confidence
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> sure = Confidence(epsilon=0.1, guarantee="credible")
    >>> top = topshap.identify(game, k=2, stop=sure & Budget(200), algorithm="cmcs", random_state=0)
    >>> top.stopped, top.evaluations >= 200
    ('confident', True)
    """

    epsilon: float
    delta: float = 0.05
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0)
        check_delta(self.delta)
        if self.guarantee is not None:
            check_choice("guarantee", self.guarantee, GUARANTEES)

    def met(self, race: RaceView) -> bool:
        """Return whether the race is confident."""
        return race.confident

    def completion(self, race: RaceView) -> float:
        """Return the estimated fraction of the required evaluations that is spent."""
        if race.confident:
            return 1.0
        return race.rule_completion

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - the same for all races
        """Return "confident"."""
        return "confident"


@front_door
@dataclass(frozen=True)
class TimeLimit(Criterion):
    """Met when this many seconds have passed since the race was created.

    It is checked within a batch, about once a second or every 100 evaluations, whichever is later. The result depends
    on the speed of the machine, even with a fixed seed.

    The limit ends the evaluations. The final estimate from their values is computed after it, and a computation between
    batches is not interrupted. With ``odd-gp`` and ``odd-gp@k`` both are fits of a Gaussian process, which take seconds
    after thousands of evaluations: the time grows with the cube of their number, up to 12,000 for ``odd-gp`` and 4000
    for ``odd-gp@k``. Algorithms that average samples, such as ``cmcs``, take little time.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import TimeLimit
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> topshap.identify(game, k=2, stop=TimeLimit(60)).stopped
    'exact'
    """

    seconds: float

    def __post_init__(self) -> None:
        check_positive("seconds", self.seconds)

    def met(self, race: RaceView) -> bool:
        """Return whether the time has passed."""
        return race.seconds >= self.seconds

    def completion(self, race: RaceView) -> float:
        """Return the fraction of the time that has passed."""
        return min(1.0, race.seconds / self.seconds)

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - the same for all races
        """Return "time"."""
        return "time"


@dataclass(frozen=True)
class Exhausted(Criterion):
    """Met when the value of every coalition is known, so that the result is exact.

    With ``counting="distinct"`` a race ends there in any case; with ``counting="calls"`` only by this criterion. A game
    whose values vary from call to call is never exhausted.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import Exhausted
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0])
    >>> top = topshap.identify(game, k=2, counting="calls", stop=Exhausted(), random_state=0)
    >>> top.stopped, top.evaluations
    ('exact', 16)
    """

    def met(self, race: RaceView) -> bool:
        """Return whether all coalitions are known."""
        return race.exhausted

    def completion(self, race: RaceView) -> float:
        """Return the fraction of coalitions that is known."""
        return race.evaluations / 2**race.n_players if race.deterministic else 0.0

    def reason(self, race: RaceView) -> Stopped:  # noqa: ARG002 - the same for all races
        """Return "exact"."""
        return "exact"


@front_door
@dataclass(frozen=True, repr=False)
class When(Criterion):
    """Met when a function of the race returns true.

    Parameters
    ----------
    function
        Takes the race and returns whether it may end.
    progress
        Takes the race and returns its estimated completion, from 0 to 1; None if there is no estimate.

    Examples
    --------
    >>> import topshap
    >>> from topshap.core.stopping import When
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=12)
    >>> precise = When(lambda race: race.standing.std_errors.max() < 0.1)
    >>> top = topshap.identify(game, k=2, stop=precise, random_state=0)
    >>> top.stopped, bool(top.std_errors.max() < 0.1)
    ('rule', True)
    """

    function: Callable[[Any], bool]
    progress: Callable[[Any], float] | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            refuse("function", self.function, must_be="a function of a race")
        if self.progress is not None and not callable(self.progress):
            refuse("progress", self.progress, must_be="a function of a race or None")

    def met(self, race: RaceView) -> bool:
        """Return the value of the function."""
        return bool(self.function(race))

    def completion(self, race: RaceView) -> float:
        """Return the value of `progress`, 0 without it."""
        if self.met(race):
            return 1.0
        return 0.0 if self.progress is None else min(max(0.0, float(self.progress(race))), NEARLY_DONE)

    def __repr__(self) -> str:
        """Return the constructor call with the name of the function."""
        return f"When({getattr(self.function, '__qualname__', repr(self.function))})"
