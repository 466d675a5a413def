"""When it is enough: rules by which a race stops by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from topshap._validation import check_int, check_probability, check_real
from topshap.statistics.bounds import clt_interval
from topshap.statistics.standing import MeanStanding

if TYPE_CHECKING:
    from topshap.statistics.standing import Standing


class StoppingRule(Protocol):
    """Says after each batch whether the current top k may be returned."""

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the race may stop."""


@dataclass(frozen=True)
class OverlappingIntervals:
    """The published rule: stop when no interval of the rest exceeds one of the top k by more than epsilon.

    The intervals come from the central limit theorem, each at level delta / n, two-sided. This is kept to reproduce
    published figures. It is no guarantee at level delta: it looks after every round without paying for it, and
    its intervals are only asymptotically right, which fails for players that are rarely pivotal.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    delta
        The allowed probability of a larger error.
    min_samples
        Never stop before every player was sampled this often.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> top = topshap.identify(game, k=2, epsilon=0.1, delta=0.05, algorithm="cmcs@k", random_state=0)
    >>> sorted(top.players.tolist()), top.stopped
    ([0, 1], 'confident')
    """

    epsilon: float
    delta: float
    min_samples: int = 30

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, owner="OverlappingIntervals", low=0.0)
        check_probability("delta", self.delta, owner="OverlappingIntervals")
        check_int("min_samples", self.min_samples, owner="OverlappingIntervals", low=2)

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the intervals of the top k and the rest overlap by at most epsilon."""
        if isinstance(standing, MeanStanding) and standing.counts.min() < self.min_samples:
            return False
        top, rest = standing.partition(k)
        if len(rest) == 0:
            return True
        lower, upper = clt_interval(standing, self.delta / standing.n_players)
        return bool(np.max(upper[rest]) - np.min(lower[top]) <= self.epsilon)
