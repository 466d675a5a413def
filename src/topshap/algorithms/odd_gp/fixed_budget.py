"""odd-gp: an active Gaussian process on the odd part of the game, for a fixed budget."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from topshap.algorithms.odd_gp.active import border_contrasts, most_informative
from topshap.algorithms.odd_gp.blas import single_threaded_blas
from topshap.algorithms.odd_gp.designs import first_design, unused_pairs
from topshap.algorithms.odd_gp.minimise import Curvature
from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.algorithms.odd_gp.regime import (
    FIRST_FIT,
    FITTED_AT_FIRST,
    FITTED_AT_LAST,
    LAST_FIT,
    LEFT_OUT_AT_FIRST,
    REFIT,
    Regime,
)
from topshap.algorithms.odd_gp.several_outputs import play_all_outputs
from topshap.algorithms.odd_gp.small_budget import spend_small_budget
from topshap.algorithms.odd_gp.sparse_rounds import BATCHES
from topshap.algorithms.odd_gp.stacking import Estimate, stacked_estimate
from topshap.algorithms.odd_gp.surrogate import OddSurrogate
from topshap.algorithms.odd_gp.unanimity_surrogate import UnanimitySurrogate
from topshap.core.algorithm import Algorithm, Problem, Round, Rounds
from topshap.core.validation import check_int, front_door
from topshap.statistics.ranking import rank_signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.algorithms.odd_gp.gp import FunctionalGP
    from topshap.core.algorithm import HowOutputs
    from topshap.core.outputs_standing import FittedOutputsStanding
    from topshap.core.standing import FittedStanding
    from topshap.core.typing import Coalitions, Matrix, Values


@front_door
class OddGP(Algorithm[Any]):
    """An active Gaussian process on the odd part of the game.

    The Shapley values depend only on g(S) = (v(S) - v(N - S)) / 2, so coalitions are evaluated together with their
    complements. A Gaussian process on g, with a kernel that contains all odd interactions and learns how much each
    player interacts, gives the posterior of the Shapley values in closed form. A first design spreads pairs over sizes;
    further batches contain the pairs that reduce the risk of a wrong top k most. Other surrogates are stacked with
    weights from leave-one-out errors: on logit values, up to 16 players always and up to 1000 if values look like
    probabilities; with strong terms, where a few sets of players interact far more than others; and for sums of
    unanimity games of all sizes, which chooses the batches in games of more than 16 players that are like that.

    Budgets of fewer evaluations than players are spent on random coalitions and a model in which few players matter.
    Larger budgets below 2 n + 2 are spent on single players, or on the grand coalition without each player, unless the
    first coalitions suggest that few players matter. If the values of the game vary from call to call, the residual of
    the smooth part is treated as noise, and pairs may be evaluated again. The last evaluation of an odd budget is not
    part of a pair: it is spent and kept, but not used.

    The outputs of a game with several share the evaluated coalitions, one kernel and one factorisation; the batches are
    chosen for the borders of all outputs together (see `topshap.algorithms.odd_gp.shared`).

    In a race of order 2, a process on the even part estimates the interactions of all pairs of players, and the batches
    are chosen for the border of the top k pairs, up to 200 players (see `topshap.algorithms.odd_gp.even`). After other
    races it gives the interactions from the same evaluations.

    Overhead per evaluation: O(T**2 + T n) for T evaluations, up to 12,000 of them. Beyond, the process is conditioned
    on a part of the pairs, 2000 from 36,000 evaluations on, and the others correct its estimate by least squares.

    Parameters
    ----------
    active_rounds
        The largest number of batches after the first design, which small budgets have fewer of; 0 spends the whole
        budget on the first design.
    min_batch
        The smallest number of evaluations in a batch after the first design, to keep parallel workers busy.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3, 4]], [2.0, 1.0, 3.0], n_players=12)
    >>> topshap.identify(game, k=2, budget=100, algorithm="odd-gp", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "odd-gp"
    needs_budget: ClassVar[bool] = True
    outputs: ClassVar[HowOutputs] = "together"
    orders: ClassVar[tuple[int, ...]] = (1, 2)

    def __init__(self, *, active_rounds: int = 4, min_batch: int = 1) -> None:
        self.active_rounds = check_int("active_rounds", active_rounds, low=0)
        self.min_batch = check_int("min_batch", min_batch, low=1)

    def standing(self, problem: Problem) -> FittedStanding | FittedOutputsStanding:
        """Return the standing at the start of a race."""
        return problem.fitted_standing() if problem.outputs is None else problem.fitted_outputs_standing()

    @single_threaded_blas
    def rounds(self, problem: Problem, standing: Any) -> Rounds:
        """Spread pairs over sizes, then choose batches of the most informative ones.

        The rounds are planned for the remaining budget, so that none of them exceeds it.
        """
        from topshap.algorithms.odd_gp.even.afterwards import interactions_afterwards  # noqa: PLC0415 - uses this module
        from topshap.algorithms.odd_gp.even.rounds import pair_rounds  # noqa: PLC0415 - uses this module

        plan = {"active_rounds": self.active_rounds, "min_batch": self.min_batch}
        if problem.order == 2:
            yield from pair_rounds(problem, standing, **plan)
            return
        if problem.outputs is not None:
            yield from play_all_outputs(problem, standing, **plan)
            return
        regime = Regime.of(problem, **plan)
        if regime.single_players_only:
            yield from spend_small_budget(
                problem, standing, batches=min(self.active_rounds, BATCHES), min_batch=self.min_batch
            )
            return
        pairs = ComplementPairs.at_start(problem)
        surrogate = OddSurrogate(problem.rng, noise=regime.noise, max_pairs=regime.learned, curvature=Curvature())
        unanimity = UnanimitySurrogate(problem.rng)
        design = first_design(problem.n, regime.first_design, problem.rng, singles_first=regime.singles_first)

        def estimate(iterations: int, *, cautious: bool = False) -> None:
            known = pairs.evenly_ordered()
            surrogate.learn(
                known.x,
                known.odd,
                known.even,
                iterations=iterations,
                fitted_to=FITTED_AT_FIRST,
                left_out=LEFT_OUT_AT_FIRST,
            )
            values, covariance = surrogate.shapley_values(cautious=cautious)
            standing.set(values, covariance, rare_contributions=surrogate.rare_contributions)

        yield ending_early(pairs.round(design), partial(estimate, REFIT, cautious=True))
        iterations = FIRST_FIT
        for batch in regime.batches(regime.pairs - len(design)):
            estimate(iterations)
            contrasts = ranked_contrasts(surrogate, standing, problem.k, regime.overall_weight)
            candidates = draw_candidates(regime.candidates(batch), pairs, problem.rng, repeat=regime.noise)
            posterior = unanimity.learn(surrogate) if regime.best_surrogate_chooses else None
            chosen = choose_pairs(batch, candidates, contrasts, posterior or surrogate.posterior, repeat=regime.noise)
            yield ending_early(pairs.round(chosen), partial(estimate, regime.refit, cautious=True))
            iterations = regime.refit
        last = last_estimate(surrogate, unanimity, pairs.evenly_ordered(), problem, max(iterations, LAST_FIT))
        standing.set(last.shapley_values, last.covariance, rare_contributions=last.rare_contributions)
        standing.interactions = interactions_afterwards(
            pairs, surrogate.posterior.kernel.relevance, noise=regime.noise, max_pairs=regime.learned
        )
        if regime.spare_evaluation:
            yield from spend_one(draw_candidates(1, pairs, problem.rng, repeat=regime.noise))


def last_estimate(
    surrogate: OddSurrogate, unanimity: UnanimitySurrogate, pairs: ComplementPairs, problem: Problem, iterations: int
) -> Estimate:
    """Return the estimate from all pairs: by all surrogates, or by the first one alone if values are noisy."""
    surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=iterations, fitted_to=FITTED_AT_LAST)
    if not problem.deterministic:
        return Estimate(*surrogate.shapley_values(), rare_contributions=False)
    return stacked_estimate(surrogate, unanimity, pairs, problem.rng)


def ending_early(planned: Round, estimate: Callable[[], object]) -> Round:
    """Return a round that estimates from its values if the race ends within it, as when it is interrupted."""

    def add(values: Values) -> None:
        planned.add(values)
        if 2 <= len(values) < len(planned.rows):
            estimate()

    return planned._replace(add=add)


def ranked_contrasts(surrogate: OddSurrogate, standing: FittedStanding, k: int, overall_weight: float) -> Matrix:
    """Return the border contrasts of the values that players are ranked by; see `border_contrasts`."""
    values, covariance = surrogate.posterior.shapley_values, surrogate.posterior.covariance
    signs = rank_signs(values, standing.rank_by)
    contrasts = border_contrasts(
        signs * values, np.outer(signs, signs) * covariance, standing.ranking(), k, overall_weight
    )
    return np.asarray(signs * contrasts)


def choose_pairs(
    count: int, candidates: Coalitions, contrasts: Matrix, posterior: FunctionalGP[Any], *, repeat: bool
) -> Coalitions:
    """Return the pairs that reduce the variance of the contrasts most; repeated if there are too few candidates."""
    x = np.where(candidates, 1.0, -1.0)
    chosen = candidates[most_informative(posterior, x, contrasts, min(count, len(candidates)))]
    return np.resize(chosen, (count, chosen.shape[1])) if repeat else chosen


def draw_candidates(count: int, pairs: ComplementPairs, rng: np.random.Generator, *, repeat: bool) -> Coalitions:
    """Return about `count` distinct pairs; new ones unless pairs may be repeated."""
    return unused_pairs(pairs.x.shape[1], set() if repeat else pairs.keys(), count, rng)


def spend_one(coalitions: Coalitions) -> Rounds:
    """Evaluate the first coalition, if there is one, without using its value."""
    if len(coalitions) > 0:
        yield Round(coalitions[:1], lambda _: None)
