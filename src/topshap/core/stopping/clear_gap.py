"""Rules for races that choose k themselves: they end at a clear gap between two ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topshap.core.stopping.credible import Credible, probability_of_larger_error
from topshap.core.stopping.rules import NEARLY_DONE, BoundedStanding
from topshap.core.validation import check_real, front_door

if TYPE_CHECKING:
    from topshap.core.standing import Standing
    from topshap.core.stopping.rules import Guarantee


@front_door
@dataclass(frozen=True)
class ClearGap:
    """Stop when the algorithm's bounds show that the top k is ahead of all other players by at least epsilon.

    Parameters
    ----------
    epsilon
        The smallest gap that counts; with 0, any gap above 0.
    guarantee
        The guarantee of the bounds.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1, 2], [2, 3], [4]], [6.0, 0.4, 0.1], n_players=12)
    >>> top = topshap.identify(game, k="clear", epsilon=0.5, random_state=0)
    >>> top.k, sorted(top.players.tolist()), top.stopped
    (3, [0, 1, 2], 'confident')
    """

    epsilon: float
    guarantee: Guarantee = "asymptotic"

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0)

    def __call__(self, standing: Standing, k: int) -> bool:  # noqa: ARG002 - the same parameters as all rules
        """Return whether the lowest bound is at least epsilon, and above 0."""
        bound = _bound_of(standing)
        return bound >= self.epsilon and bound > 0.0

    def completion(self, standing: Standing, k: int) -> float:
        """Return the estimated fraction of the required evaluations that is spent.

        The half-width of the bound has to shrink from gap - bound to gap - epsilon.
        """
        if self(standing, k):
            return 1.0
        bound, (top, rest) = _bound_of(standing), standing.partition(k)
        gap = float(standing.live_estimates[top].min() - standing.live_estimates[rest].max())
        if gap <= self.epsilon or bound >= gap:
            return 0.0
        return min(NEARLY_DONE, ((gap - self.epsilon) / (gap - bound)) ** 2)


@front_door
@dataclass(frozen=True)
class CredibleGap(Credible):
    """Stop when the top k is ahead of all other players by at least epsilon, with posterior probability 1 - delta.

    Parameters
    ----------
    epsilon
        The smallest gap that counts.
    delta
        The allowed posterior probability of a smaller gap.
    min_samples
        The number of samples that every player needs before the rule can be met, if the standing counts samples.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1, 2], [2, 3], [4]], [6.0, 0.4, 0.1], n_players=12)
    >>> topshap.identify(game, k="clear", epsilon=0.5, guarantee="credible", random_state=0).k
    3
    """

    def probability_of_error(self, standing: Standing, k: int) -> float:
        """Return the sum over i in the top k and j in the rest of P(phi_i - phi_j < epsilon)."""
        return probability_of_larger_error(standing, k, -self.epsilon)


def _bound_of(standing: Standing) -> float:
    if not isinstance(standing, BoundedStanding):
        raise TypeError(f"ClearGap needs a standing with a method 'worst_bound', not {standing!r}.")
    return standing.worst_bound()
