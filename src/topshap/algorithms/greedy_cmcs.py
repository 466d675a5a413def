"""Greedy CMCS (Kolpaczki, Nielen and Hüllermeier 2025)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import ndtr

from topshap.algorithms.cmcs import WARM_UP, add_contributions, compare_all, flips, published_rule
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import anchors, uniforms
from topshap.core.mean_standing import MeanStanding
from topshap.core.validation import check_int, front_door, refuse

if TYPE_CHECKING:
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.core.typing import Matrix, Players
    from topshap.statistics.ranking import RankBy

SHORTEST = 2
"""The number of rounds after which every pair has a sample variance."""
PRIOR_DEGREES = 5.0
"""The weight of the mean variance with ``warm_up="auto"``, in degrees of freedom. It is that of normal samples if the
true variances of the pairs have a coefficient of variation of 0.8, and was chosen on half of the published games."""


@front_door
class GreedyCMCS(Algorithm[MeanStanding]):
    """CMCS that samples the players whose side of the border is most uncertain.

    After the warm-up each round estimates, for every pair across the border, the probability p_ij that it is in the
    wrong order, from the rounds in which both players were sampled. A pair is included with probability
    (p_ij - p_min) / (p_max - p_min), and every player of an included pair is compared against one anchor. If all p_ij
    are equal, all players are compared.

    The warm-up is there because a variance of few samples may be much too small by chance, in particular zero: a pair
    then looks decided and is hardly sampled again. A long warm-up spends the budget on players far from the border.
    With ``warm_up="auto"`` the variance of a pair's M_ij differences is an empirical Bayes estimate instead,

        (5 s**2 + (M_ij - 1) s_ij**2) / (5 + M_ij - 1),

    where s**2 is the mean variance of all pairs across the border, weighted by M_ij - 1. No pair looks decided just
    because its samples happen to agree, so rounds are greedy from the third on. The mean loses its weight as samples
    arrive. The form is the linear estimate with the smallest mean squared error, see `topshap.statistics.shrinkage`.

    Overhead per evaluation: O(n + k (n - k) / m + n**2 / T) for T evaluations, with m the number of players sampled in
    a round; the last term is the table of all pairs, which is created once.

    Parameters
    ----------
    warm_up
        The number of rounds of CMCS at the start, 30 by default as published; or ``"auto"`` for two rounds and shrunken
        variances. In a race that stops by itself, ``"auto"`` is the same as 30: its stopping rules need 30 samples of
        every player for the central limit theorem, and rounds of all players are the cheapest way to get them.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0, 0.0, 1.5, 0.5, 0.2, 0.1])
    >>> greedy = topshap.algorithms.GreedyCMCS(warm_up=5)
    >>> topshap.identify(game, k=2, budget=100, algorithm=greedy, random_state=0).players
    array([0, 2])
    >>> greedy = topshap.algorithms.GreedyCMCS(warm_up="auto")
    >>> topshap.identify(game, k=2, budget=100, algorithm=greedy, random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "greedy-cmcs"
    guarantees: ClassVar[tuple[Guarantee, ...]] = ("published", "credible")
    extendable: ClassVar[bool] = True
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value",)
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = ()

    def __init__(self, *, warm_up: int | Literal["auto"] = WARM_UP) -> None:
        self.warm_up = _checked(warm_up)

    def standing(self, problem: Problem) -> MeanStanding:
        """Return the standing at the start of a race; this algorithm needs the differences of pairs."""
        return problem.mean_standing(pairs=True)

    def rounds(self, problem: Problem, standing: MeanStanding) -> Rounds:
        """Warm up, then compare the players whose side of the border is uncertain."""
        shrinks = self.warm_up == "auto" and problem.epsilon is None
        prior_degrees = PRIOR_DEGREES if shrinks else 0.0
        yield from compare_all(problem, standing, SHORTEST if shrinks else self._rounds_of_all)
        border = (problem.k, problem.n - problem.k)
        for uniform, anchor in zip(uniforms(border, problem.rng), anchors(problem.n, problem.rng), strict=False):
            players = doubtful_players(standing, problem.k, uniform, prior_degrees)
            rows = anchor ^ flips(players, problem.n)
            yield Round(rows, partial(add_contributions, standing, anchor, players))

    @property
    def _rounds_of_all(self) -> int:
        """The length of the warm-up in a race that stops by itself."""
        return WARM_UP if self.warm_up == "auto" else self.warm_up

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the published rule, checked after the warm-up; for ``"credible"`` the default rule."""
        return published_rule(problem, self._rounds_of_all) or super().stopping_rule(problem)


def _checked(warm_up: object) -> int | Literal["auto"]:
    """Return a valid warm-up; refuse any other."""
    if isinstance(warm_up, str):
        if warm_up == "auto":
            return "auto"
        refuse("warm_up", warm_up, must_be="an int of at least 2, or 'auto'")
    return check_int("warm_up", warm_up, low=SHORTEST)


def doubtful_players(standing: MeanStanding, k: int, uniform: Matrix, prior_degrees: float = 0.0) -> Players:
    """Return the players of the next round: those of pairs across the border that may be in the wrong order.

    `uniform` holds a random number in [0, 1) for every pair, which decides whether it is included. `prior_degrees` is
    the weight of the mean variance in that of a pair.
    """
    ranking = standing.ranking()
    wrong = probability_of_wrong_order(standing, ranking[:k], ranking[k:], prior_degrees)
    if wrong.size == 0:
        return standing.tie_order
    least, most = wrong.item(wrong.argmin()), wrong.item(wrong.argmax())
    if not least < most:  # all are equal, or nothing is known
        return standing.tie_order
    included = (wrong - least) > uniform * (most - least)
    of_top, of_rest = included.nonzero()
    in_a_pair = np.zeros(len(ranking), dtype=np.bool_)
    in_a_pair[of_top] = in_a_pair[k + of_rest] = True
    return ranking[in_a_pair]


def probability_of_wrong_order(
    standing: MeanStanding, top: Players, rest: Players, prior_degrees: float = 0.0
) -> Matrix:
    """Return, for i in `top` and j in `rest`, the estimated probability that j's Shapley value exceeds i's.

    p_ij = Phi(sqrt(M_ij) d_ij / s_ij), with d_ij the mean and s_ij the deviation of D_j - D_i in the M_ij rounds in
    which both were sampled. While all samples are zero, the probabilities are nan.
    """
    rounds, ahead, variance = standing.differences(top, rest, prior_degrees=prior_degrees)
    wrong: Matrix = ndtr(ahead * np.sqrt(rounds / variance))
    return wrong
