"""odd-gp@k: the Gaussian process on the odd part as a control variate, for races that stop by themselves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.algorithms.odd_gp.blas import single_threaded_blas
from topshap.algorithms.odd_gp.block_weights import block_weights
from topshap.algorithms.odd_gp.clear_gap import ClearFit, ClearGapAnalyses
from topshap.algorithms.odd_gp.even.pair_model import MAX_PLAYERS, PairModel
from topshap.algorithms.odd_gp.interim import BoundedFit, InterimAnalyses
from topshap.algorithms.odd_gp.player_model import PlayerModel
from topshap.algorithms.odd_gp.poisson import PoissonDesign
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.coalitions import with_complements
from topshap.core.stopping import ClearGap, CredibleGap, SeparatedBorder

if TYPE_CHECKING:
    from topshap.core.stopping import Guarantee, StoppingRule
    from topshap.statistics.ranking import RankBy

MIN_BLOCK = 4.0
"""The least expected number of pairs in a block."""


class OddGPAtK(Algorithm[BoundedFit]):
    """Complement pairs drawn with known probabilities, predicted by a Gaussian process, corrected by its errors.

    The surrogate of `OddGP` predicts almost all of the game. Its leave-one-out errors in the pairs that were drawn give
    an unbiased estimate of its errors in those that were not. After each block of pairs an interim analysis bounds the
    differences across the border of the top k, and the next block has higher probabilities where these are uncertain.
    The race stops when t-bounds for all differences across the border are above -epsilon and, as long as the process is
    conditioned on all pairs, the posterior agrees. The differences share delta by their uncertainty, and the analyses
    share it too. By magnitude and for ordered lists, there are further contrasts to show, see
    `topshap.statistics.contrasts`.

    The guarantee is asymptotic: it assumes that the corrections are normal and independent of the hyper-parameters.
    Before it stops, it has drawn enough pairs that large jumps are unlikely to have been missed if they occur in enough
    pairs to matter: jumps of v of 25 epsilon, or of 50 epsilon while all pairs are predicted exactly, and, if larger,
    jumps of g of 1.5 times the mean contribution of a player, of the mean difference of two, or as large as those
    observed (see `largest_jump`). Larger jumps in few coalitions defeat it, like every sampling algorithm.

    Overhead per evaluation: O(T**2 + T n + n**2) for T evaluations, up to 4000 of them, since the process is
    conditioned anew at every analysis; beyond, it is only corrected, at O(n**2).

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
    orders: ClassVar[tuple[int, ...]] = (1, 2)
    ordered_guarantees: ClassVar[tuple[Guarantee, ...]] = guarantees
    takes_noise: ClassVar[bool] = False
    ranks_by: ClassVar[tuple[RankBy, ...]] = ("value", "magnitude")
    finds_clear_gap: ClassVar[bool] = True
    max_players: ClassVar[int | None] = 1000  # beyond, the inclusion probabilities of single pairs underflow
    max_players_of_pairs: ClassVar[int | None] = MAX_PLAYERS

    def standing(self, problem: Problem) -> BoundedFit:
        """Return the standing at the start of a race."""
        share = problem.gain / problem.n if problem.order == 1 else 0.0
        fit = ClearFit if problem.clear_gap else BoundedFit
        return fit(problem.tie_order, np.full(problem.n_candidates, share), rank_by=problem.rank_by)

    def stopping_rule(self, problem: Problem) -> StoppingRule | None:
        """Return the rule that the bounds are above -epsilon; for ``"credible"`` the one of every algorithm."""
        if problem.clear_gap and problem.epsilon is not None and problem.delta is not None:
            asymptotic = problem.guarantee == "asymptotic"
            return ClearGap(problem.epsilon) if asymptotic else CredibleGap(problem.epsilon, problem.delta)
        if problem.guarantee == "asymptotic" and problem.epsilon is not None:
            return SeparatedBorder(problem.epsilon, guarantee="asymptotic", ordered=problem.ordered)
        return super().stopping_rule(problem)

    @single_threaded_blas
    def rounds(self, problem: Problem, standing: BoundedFit) -> Rounds:
        """Draw blocks of pairs, analyse each, and raise the probabilities where the border is uncertain."""
        design = PoissonDesign(problem.n, problem.rng)
        interim = analyses_of(problem, standing, design)
        model = interim.model
        block = design.draw(model.overall[design.strata.sizes], model.first_block * problem.n)
        while len(block) > 0:
            yield Round(with_complements(block), partial(interim.add, block))
            m, aims = len(interim.pairs), model.aims(interim.contrasts, interim.border, interim.tolerance)
            design.stratify_by(np.argsort(-aims.of_players, kind="stable"))
            weights = block_weights(design, aims, interim.estimate, model.overall, m)
            block = design.draw(weights, max(MIN_BLOCK, interim.growth * m))


def analyses_of(problem: Problem, standing: BoundedFit, design: PoissonDesign) -> InterimAnalyses[Any]:
    """Return the analyses of a race: of players or pairs, for a given k or until a gap is clear."""
    if problem.order == 2:
        return InterimAnalyses(problem, standing, design, PairModel(problem))
    return (ClearGapAnalyses if problem.clear_gap else InterimAnalyses)(problem, standing, design, PlayerModel(problem))
