"""Confidence by the posterior: the estimates are taken as normal, and nothing is paid for looking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from topshap.core.stopping.rules import NEARLY_DONE, part_sampled
from topshap.core.validation import check_delta, check_int, check_real, front_door

if TYPE_CHECKING:
    from topshap.core.standing import Standing
    from topshap.core.stopping.rules import Promised


@front_door
@dataclass(frozen=True)
class Credible:
    """Stop when the estimates, taken as normal, leave a probability of at most delta for a larger error than epsilon.

    The probabilities that phi_i - phi_j < -epsilon are added up over i in the top k and j in the rest, under a normal
    distribution with the standing's estimates and covariance (its standard errors alone where it has no covariance).
    This is the cheapest rule, works with every algorithm that gives standard errors, and is no guarantee: it
    takes these for right, and looks after every batch without paying for it.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    delta
        The allowed posterior probability of a larger error.
    min_samples
        Never stop before every player was sampled this often, where the standing counts samples.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> top = topshap.identify(game, k=2, epsilon=0.1, guarantee="credible", algorithm="greedy-cmcs", random_state=0)
    >>> sorted(top.players.tolist()), top.stopped
    ([0, 1], 'confident')
    """

    epsilon: float
    delta: float
    min_samples: int = 30

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, low=0.0)
        check_delta(self.delta)
        check_int("min_samples", self.min_samples, low=2)

    @property
    def guarantee(self) -> Promised:
        """Credible: a probability under the model, no guarantee."""
        return "credible"

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the probability of a larger error is at most delta."""
        if k == standing.n_players:
            return True
        if part_sampled(standing, self.min_samples) < 1.0:
            return False
        return probability_of_larger_error(standing, k, self.epsilon) <= self.delta

    def completion(self, standing: Standing, k: int) -> float:
        """Return about which part of the evaluations that the rule takes has been spent.

        The logarithm of a normal tail falls in proportion to the number of samples.
        """
        if self(standing, k):
            return 1.0
        probability = probability_of_larger_error(standing, k, self.epsilon)
        if not 0.0 < probability < 1.0:  # nothing is known yet, or only the samples are too few
            part = 0.0 if probability != 0.0 else 1.0
        else:
            part = math.log(probability) / math.log(self.delta)
        return min(part, part_sampled(standing, self.min_samples), NEARLY_DONE)


def probability_of_larger_error(standing: Standing, k: int, epsilon: float) -> float:
    """Return the sum over i in the top k and j in the rest of P(phi_i - phi_j < -epsilon), nan where not known.

    Examples
    --------
    >>> from topshap.core.standing import FittedStanding
    >>> standing = FittedStanding(np.arange(3), np.zeros(3))
    >>> standing.set(np.array([3.0, 1.0, 0.0]), np.diag([0.5, 0.5, 0.5]))
    >>> round(probability_of_larger_error(standing, 1, 0.0), 4)
    0.0241
    """
    top, rest = standing.partition(k)
    estimates, variances, covariance = standing.estimates, standing.std_errors**2, standing.covariance()
    ahead = estimates[top][:, None] - estimates[rest] + epsilon
    variance = apart = variances[top][:, None] + variances[rest]
    if covariance is not None:
        variance = apart - 2.0 * covariance[np.ix_(top, rest)]
        # An estimated covariance may be too large to be one; that is no certainty.
        variance = np.where(variance > 0.0, variance, apart)
    certain = np.where(ahead >= 0.0, np.inf, -np.inf)
    z = np.divide(ahead, np.sqrt(variance), out=certain, where=variance != 0.0)
    return float(scipy.special.ndtr(-z).sum())
