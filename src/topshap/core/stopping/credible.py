"""Confidence by a normal posterior, without a correction for repeated looks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from topshap.core.stopping.rules import NEARLY_DONE, ConfidenceRule
from topshap.core.validation import front_door
from topshap.statistics.contrasts import contrasts_to_show
from topshap.statistics.partial_covariance import paired_covariances

if TYPE_CHECKING:
    from topshap.core.standing import Standing
    from topshap.core.stopping.rules import Guarantee


@front_door
@dataclass(frozen=True)
class Credible(ConfidenceRule):
    """Stop when the posterior probability of an error above epsilon is at most delta.

    The probabilities that phi_i - phi_j < -epsilon are added up over i in the top k and j in the rest, under a normal
    distribution with the standing's estimates and covariance (only its standard errors where it has no covariance).
    By magnitude and for ordered lists, they are those of the contrasts in `topshap.statistics.contrasts`.
    This is the cheapest rule, and works with every algorithm that estimates standard errors. It is not a guarantee: it
    assumes that these are right, and does not correct for repeated looks.

    Parameters
    ----------
    epsilon
        The allowed inclusion-exclusion error.
    delta
        The allowed posterior probability of a larger error.
    min_samples
        The number of samples that every player needs before the rule can be met, if the standing counts samples.
    ordered
        Whether the order of the top k matters.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> top = topshap.identify(game, k=2, epsilon=0.1, guarantee="credible", algorithm="greedy-cmcs", random_state=0)
    >>> sorted(top.players.tolist()), top.stopped
    ([0, 1], 'confident')
    """

    ordered: bool = False

    @property
    def guarantee(self) -> Guarantee:
        """Always ``"credible"``: a probability under the model, not a guarantee."""
        return "credible"

    def __call__(self, standing: Standing, k: int) -> bool:
        """Return whether the probability of a larger error is at most delta."""
        if k == standing.n_players and not self.ordered:
            return True
        if self.fraction_sampled(standing) < 1.0:
            return False
        return self.probability_of_error(standing, k) <= self.delta

    def completion(self, standing: Standing, k: int) -> float:
        """Return the estimated fraction of the required evaluations that is spent.

        The logarithm of a normal tail probability falls in proportion to the number of samples.
        """
        if self(standing, k):
            return 1.0
        probability = self.probability_of_error(standing, k)
        if not 0.0 < probability < 1.0:  # nothing is known yet, or only `min_samples` is not reached
            fraction = 0.0 if probability != 0.0 else 1.0
        else:
            fraction = math.log(probability) / math.log(self.delta)
        return min(fraction, self.fraction_sampled(standing), NEARLY_DONE)

    def probability_of_error(self, standing: Standing, k: int) -> float:
        """Return the sum over all contrasts of the probability that they are below -epsilon."""
        return probability_of_larger_error(standing, k, self.epsilon, ordered=self.ordered)


def probability_of_larger_error(standing: Standing, k: int, epsilon: float, *, ordered: bool = False) -> float:
    """Return the sum over all contrasts of the probability that they are below -epsilon, nan where unknown.

    By value these are phi_i - phi_j for i in the top k and j in the rest.

    Examples
    --------
    >>> from topshap.core.standing import FittedStanding
    >>> standing = FittedStanding(np.arange(3), np.zeros(3))
    >>> standing.set(np.array([3.0, 1.0, 0.0]), np.diag([0.5, 0.5, 0.5]))
    >>> round(probability_of_larger_error(standing, 1, 0.0), 4)
    0.0241
    """
    estimates, variances, covariance = standing.live_estimates, standing.live_std_errors**2, standing.covariance()
    contrasts = contrasts_to_show(standing.ranking(), k, estimates, standing.rank_by, ordered=ordered)
    lead = contrasts.of(estimates) + epsilon
    variance = independent = variances[contrasts.ahead] + variances[contrasts.behind]
    if covariance is not None:
        shared = paired_covariances(covariance, contrasts.ahead, contrasts.behind, len(estimates))
        variance = independent + 2.0 * contrasts.sign_ahead * contrasts.sign_behind * shared
        # An estimated covariance may not be positive definite; a variance that is not positive is not certainty.
        variance = np.where(variance > 0.0, variance, independent)
    certain = np.where(lead >= 0.0, np.inf, -np.inf)
    z = np.divide(lead, np.sqrt(variance), out=certain, where=variance != 0.0)
    return float(scipy.special.ndtr(-z).sum())
