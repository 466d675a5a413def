"""Rules by which a race stops by itself.

A rule checks a standing. All rules ask whether a player outside the current top k may be ahead of one inside by more
than epsilon; for an ordered list also whether a member may be ahead of one listed before it. They differ in their
assumptions, which the `guarantee` names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np

from topshap.core.validation import check_delta, check_int, check_real, front_door
from topshap.statistics.normal_intervals import clt_interval
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from topshap.core.standing import Standing

Guarantee: TypeAlias = Literal["asymptotic", "credible", "exact", "published"]
"""The guarantee of a rule: see the `guarantee` parameter of `topshap.identify`.

``"credible"`` and ``"published"``, the rule of the paper, are not guarantees.
"""

GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)

NEARLY_DONE = 1.0 - 1e-9
"""The largest completion of a rule that is not yet met."""


class StoppingRule(Protocol):
    """Decides after each batch whether the current top k may be returned."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a race that stops by this rule."""

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the race may stop."""

    def completion(self, standing: Standing, k: int) -> float:
        """Return the estimated fraction of the required evaluations that is spent; 1 exactly if the rule is met."""


@runtime_checkable
class BoundedStanding(Protocol):
    """A standing whose algorithm bounds the contrasts that have to be shown, see `topshap.statistics.contrasts`."""

    def worst_bound(self) -> float:
        """Return the lowest lower bound of a contrast; by value, of phi_i - phi_j for i in the top k and j in the rest.

        With probability 1 - delta the bounds hold for all contrasts and at all times together.
        """


@front_door
@dataclass(frozen=True)
class SeparatedBorder:
    """Stop when the algorithm's bounds show that no other player is ahead of the top k by more than epsilon.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    guarantee
        The guarantee of the bounds: ``"asymptotic"`` or ``"exact"``.
    ordered
        Whether the bounds are about the order of the top k too.

    Examples
    --------
    A standing with two players, of whom the first is ahead by at least -0.05:

    >>> from topshap.core.standing import FittedStanding
    >>> class Bounded(FittedStanding):
    ...     def worst_bound(self):
    ...         return -0.05
    >>> standing = Bounded(np.arange(2), np.array([0.2, 0.1]))
    >>> SeparatedBorder(epsilon=0.1)(standing, k=1), SeparatedBorder(epsilon=0.01)(standing, k=1)
    (True, False)
    """

    epsilon: float
    guarantee: Guarantee = "asymptotic"
    ordered: bool = False

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0)

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the lowest bound is at least -epsilon."""
        return (k == standing.n_players and not self.ordered) or self._bound(standing) >= -self.epsilon

    def completion(self, standing: Standing, k: int) -> float:
        """Return the estimated fraction of the required evaluations that is spent."""
        if self(standing, k):
            return 1.0
        return border_completion(standing, k, self._bound(standing), self.epsilon, ordered=self.ordered)

    def _bound(self, standing: Standing) -> float:
        if not isinstance(standing, BoundedStanding):
            raise TypeError(f"SeparatedBorder needs a standing with a method 'worst_bound', not {standing!r}.")
        return standing.worst_bound()


@dataclass(frozen=True)
class ConfidenceRule:
    """Base of the rules that use estimates and standard errors of a standing.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    delta
        The allowed probability of a larger error.
    min_samples
        The number of samples that every player needs before the rule can be met, if the standing counts samples.
    """

    epsilon: float
    delta: float
    min_samples: int = 30

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0)
        check_delta(self.delta)
        check_int("min_samples", self.min_samples, low=2)

    def fraction_sampled(self, standing: Standing) -> float:
        """Return the smallest sample count as a fraction of `min_samples`, at most 1; 1 if samples are not counted."""
        counts = standing.counts
        return 1.0 if counts is None else min(1.0, float(counts.min()) / self.min_samples)


@front_door
@dataclass(frozen=True)
class OverlappingIntervals(ConfidenceRule):
    """The published rule: stop when no interval of the rest exceeds one of the top k by more than epsilon.

    The intervals come from the central limit theorem, each two-sided at level delta / n. The rule is kept to reproduce
    published figures. It is not a guarantee at level delta: it does not correct for repeated looks, and its intervals
    hold only asymptotically, which fails for players that are rarely pivotal.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    delta
        The allowed probability of a larger error.
    min_samples
        The number of samples that every player needs before the rule can be met.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> top = topshap.identify(game, k=2, epsilon=0.1, guarantee="published", algorithm="cmcs@k", random_state=0)
    >>> sorted(top.players.tolist()), top.stopped, top.guarantee
    ([0, 1], 'confident', 'published')
    """

    @property
    def guarantee(self) -> Guarantee:
        """Always ``"published"``: not a guarantee at level delta."""
        return "published"

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the intervals of the top k and the rest overlap by at most epsilon."""
        if self.fraction_sampled(standing) < 1.0:
            return False
        if k == standing.n_players:
            return True
        return self._overlap(standing, k) <= self.epsilon

    def completion(self, standing: Standing, k: int) -> float:
        """Return the estimated fraction of the required evaluations that is spent."""
        if self(standing, k):
            return 1.0
        sampled = self.fraction_sampled(standing)
        if k == standing.n_players:
            return min(sampled, NEARLY_DONE)
        return min(sampled, border_completion(standing, k, -self._overlap(standing, k), self.epsilon))

    def _overlap(self, standing: Standing, k: int) -> float:
        top, rest = standing.partition(k)
        lower, upper = clt_interval(standing.live_estimates, standing.live_std_errors, self.delta / standing.n_players)
        return float(np.max(upper[rest]) - np.min(lower[top]))


def border_completion(standing: Standing, k: int, bound: float, epsilon: float, *, ordered: bool = False) -> float:
    """Return the estimated fraction of the evaluations that raise the lowest bound to -epsilon.

    The bound is the estimated difference minus a half-width, which is inversely proportional to the square root of the
    number of samples and has to shrink to difference + epsilon. The smallest difference is that between two neighbours
    in the ranking: those at the border, or any two of the list and its best rival.
    """
    if bound >= -epsilon:
        return NEARLY_DONE
    if not math.isfinite(bound):
        return 0.0
    keys = rank_key(standing.live_estimates, standing.rank_by)[standing.ranking()]
    steps = -np.diff(keys[0 if ordered else k - 1 : k + 1])
    gap = max(0.0, float(steps.min()))
    return min(NEARLY_DONE, ((gap + epsilon) / (gap - bound)) ** 2)
