"""odd-gp@k: stops as soon as it is sure, with the Gaussian process on the odd part as a control variate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr

from topshap.algorithms.legacy import as_rounds
from topshap.algorithms.odd_gp.blas import thinking_in_one_thread
from topshap.algorithms.odd_gp.control_variate import Corrected, correct
from topshap.algorithms.odd_gp.pairs import Pairs
from topshap.algorithms.odd_gp.poisson import PoissonPairs, separation, spread
from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.core.algorithm import Algorithm, Problem, Rounds
from topshap.core.standing import FittedStanding
from topshap.core.stopping import SeparatedBorder

if TYPE_CHECKING:
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

FIRST_PAIRS = 4.0
"""Pairs per player before the first look."""
LEARNED = 2000
"""The process learns from at most this many pairs; beyond, it is only corrected."""
REFIT_AT, FIRST_FIT, REFIT = 1.4, 25, 8
"""The hyper-parameters are fitted again, for so many iterations, when there are so many times as many pairs."""
GROWTH = 0.08, 0.4
"""By which part the sample grows from look to look, at least and at most."""
UNSEEN = 0.25
"""The part of delta for missing jumps that the bounds leave no room for; the rest is for what was seen."""
PAID_LOOKS = 12
"""The error of the first looks is paid for equally, that of later ones with less and less."""
ALIKE_AT_FIRST, ALIKE = 0.3, 0.1
"""The part of a block that goes to all players alike, while there are few pairs and later."""


class BoundedBorder(FittedStanding):
    """Estimates with a lower bound of all differences across the border."""

    bound = -np.inf

    def worst_bound(self) -> float:
        """Return the lowest lower bound of phi_i - phi_j for i in the current top k and j in the rest."""
        return self.bound


class OddGPAtK(Algorithm[BoundedBorder]):
    """Complement pairs drawn with known chances, predicted by a Gaussian process, corrected by its errors.

    The surrogate of `OddGP` predicts almost all of the game. What it is off in a pair that was drawn, when predicted
    from all others, says without bias what it is off in the pairs that were not. The chances are raised from look to
    look where the border of the top k is in doubt. It stops when t-bounds for all pairs across the border, which share
    delta among themselves by how much in doubt they are and with all other looks, are above -epsilon, and the posterior
    agrees as long as the process learns from all pairs.

    The guarantee is asymptotic: it takes the corrections as normal, and the hyper-parameters as independent of
    them. Before it stops it has drawn so many pairs that jumps half as large again as what a player usually
    contributes, or as large as two of them differ, in enough pairs to matter, would hardly have been missed. Larger
    ones in few coalitions defeat it, like everything that samples.

    Overhead per evaluation: O(T**2 + T n + n**2) for T evaluations, up to 4000 of them, since the process is
    conditioned anew at every look; beyond, it is only corrected, at O(n**2).

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3, 4]], [2.0, 1.0, 3.0], n_players=12)
    >>> top = topshap.identify(game, k=2, epsilon=0.05, algorithm="odd-gp@k", random_state=0)
    >>> top.players, top.stopped
    (array([0, 2]), 'confident')
    """

    name: ClassVar[str] = "odd-gp@k"
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("asymptotic", "credible")
    takes_noise: ClassVar[bool] = False
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)
    max_players: ClassVar[int | None] = 1000  # beyond, the chances of single pairs underflow

    def standing(self, problem: Problem) -> BoundedBorder:
        """Return the standing at the start of a race."""
        return BoundedBorder(problem.tie_order, np.full(problem.n, problem.gain / problem.n))

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule by which a race stops by itself."""
        if problem.guarantee == "asymptotic" and problem.epsilon is not None:
            return SeparatedBorder(problem.epsilon, guarantee="asymptotic")
        return super().stopping_rule(problem)

    def rounds(self, problem: Problem, standing: BoundedBorder) -> Rounds:
        """Yield rounds."""
        return as_rounds(self._generate(problem, standing))

    @thinking_in_one_thread
    def _generate(self, problem: Problem, standing: BoundedBorder) -> Any:
        """Draw pairs, look, and raise the chances where the border is in doubt."""
        design = PoissonPairs(problem.n, problem.rng)
        pairs = Pairs.of_the_ends(problem.n, problem.grand, problem.empty)
        surrogate = OddSurrogate(problem.rng, max_pairs=LEARNED)
        learned_at, look, lasted = 0, 0, True
        block = design.draw(spread(problem.n)[design.classes.sizes], FIRST_PAIRS * problem.n)
        while lasted and len(block):
            before = len(pairs.x)
            lasted = yield from pairs.ask(block)
            m = len(pairs.x)
            if m == before:  # not even one pair
                return
            if not lasted:
                design.cut((m - before) / len(block))
            if m > REFIT_AT * learned_at:
                surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=REFIT if learned_at else FIRST_FIT)
                learned_at = m
            elif before < LEARNED:
                surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=0)
            chance = np.concatenate([[1.0], design.chances_of(pairs.x[1:] > 0)])
            found = correct(surrogate, pairs.x, pairs.odd, chance)
            look += 1
            growth = update(standing, surrogate, found, problem, Look(look, m))
            if lasted:
                doubt = border_doubt(standing, found, problem)
                design.watch(np.argsort(-doubt.sum(axis=1), kind="stable"))
                block = design.draw(block_weights(design, doubt, found, m), max(4.0, growth * m))


class Look(NamedTuple):
    """How often and at how many pairs the race has been looked at."""

    number: int
    pairs: int

    @property
    def beyond_learning(self) -> bool:
        """Whether there are pairs that the process has not learned from."""
        return self.pairs > LEARNED


def update(standing: BoundedBorder, surrogate: OddSurrogate, found: Corrected, problem: Problem, look: Look) -> float:
    """Bring the standing up to date; return by which part the sample should grow until the next look."""
    standing.set(found.estimates, found.covariance())
    top, rest = standing.partition(problem.k)
    if len(rest) == 0:
        standing.bound = np.inf
        return GROWTH[1]
    epsilon, delta = problem.epsilon or 0.0, problem.delta or 0.05
    ahead = found.across(top, rest)
    level = share_of_look(look.number) * (1.0 - UNSEEN) * delta
    bounds = ahead.lower_bounds(epsilon, level, unseen_level=UNSEEN * delta)
    # A process that has stopped learning knows less than the corrections do, and has no say.
    agrees = look.beyond_learning or wrong_by_posterior(surrogate, top, rest, epsilon) <= delta
    standing.bound = float(bounds.min()) if agrees else -np.inf
    if problem.guarantee == "credible":
        standing.set(*surrogate.shapley_values())
    times_too_wide = np.max((ahead.gaps - bounds) / np.maximum(ahead.gaps + epsilon, 1e-300))
    return float(np.clip(times_too_wide - 1.0, *GROWTH))


def share_of_look(look: int) -> float:
    """Return which part of delta the look spends; those of all looks add up to 1.

    Examples
    --------
    >>> round(sum(share_of_look(look) for look in range(1, 10_000)), 4)
    1.0
    """
    equal = 1.0 / (PAID_LOOKS + 2.0)
    late = look - PAID_LOOKS
    return equal if late <= 0 else 2.0 * equal / (late * (late + 1.0))


def wrong_by_posterior(surrogate: OddSurrogate, top: Players, rest: Players, epsilon: float) -> float:
    """Return the sum over pairs across the border of the posterior probability that they are wrong by over epsilon."""
    values, covariance = surrogate.posterior.shapley_values, surrogate.posterior.covariance
    own = np.diag(covariance)
    variance = own[top][:, None] + own[rest] - 2.0 * covariance[np.ix_(top, rest)]
    gaps = values[top][:, None] - values[rest] + epsilon / surrogate.unit
    return float(ndtr(-gaps / np.sqrt(np.maximum(variance, 1e-18))).sum())


def border_doubt(standing: BoundedBorder, found: Corrected, problem: Problem) -> Matrix:
    """Return a symmetric matrix of how much the difference of two players across the border is to be learned about.

    It is V / (gap + epsilon)^4: the slope of 1 / z^2 = V / gap^2 by V, weighed by itself, so that the worst come first.
    """
    n = problem.n
    doubt = np.zeros((n, n))
    top, rest = standing.partition(problem.k)
    if len(rest) == 0:
        return doubt
    border = np.ix_(top, rest)
    deviation = np.sqrt(found.variances[border])
    urgency = np.isinf(deviation).astype(np.float64)  # where nothing is known, that comes first
    if not urgency.any():
        gaps = np.maximum(found.estimates[top][:, None] - found.estimates[rest], 0.0) + (problem.epsilon or 0.0)
        gaps = np.maximum(gaps, 0.25 * deviation)
        gaps = np.maximum(gaps, 1e-9 * gaps.max() or 1.0)
        urgency = (deviation / gaps) ** 2 * (gaps.min() / gaps) ** 2
    doubt[border] = urgency / (urgency.sum() or 1.0)
    return doubt + doubt.T


def block_weights(design: PoissonPairs, doubt: Matrix, found: Corrected, m: int) -> Values:
    """Return the weights of all classes in the next block: what their pairs add to the variance in doubt.

    A pair adds its residual's variance times the squared weight with which it enters the differences it separates.
    Differences to players that are not watched are separated as often as the size of the pair makes likely. A part goes
    to all differences alike, so that nobody is forgotten.
    """
    classes, n = design.classes, design.n
    s = classes.sizes
    watched = doubt[np.ix_(classes.watched, classes.watched)]
    unwatched = max(doubt.sum() - watched.sum(), 0.0) / 2.0
    separated = np.maximum(classes.separated(watched), 0.0) + unwatched * 2.0 * s * (n - s) / (n * (n - 1.0))
    deviation = np.sqrt(found.mean_squares[s])
    in_doubt, alike = separation(n)[s] * np.sqrt(separated) * deviation, spread(n)[s] * deviation
    part = ALIKE_AT_FIRST if m < 8 * n else ALIKE
    unseen = design.unseen
    totals = (in_doubt * unseen).sum(), (alike * unseen).sum()
    if min(totals) <= 0.0:
        return spread(n)[s]
    return (1.0 - part) * in_doubt / totals[0] + part * alike / totals[1]
