"""odd-gp for pairs of players, for a fixed budget: the rounds of a race of order 2."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.designs import draw_pairs, drop_used
from topshap.algorithms.odd_gp.even.contrasts import signed_border_contrasts
from topshap.algorithms.odd_gp.even.logits import stacked_interactions
from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate
from topshap.algorithms.odd_gp.fixed_budget import choose_pairs, draw_candidates, ending_early, spend_one
from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.algorithms.odd_gp.regime import FIRST_FIT, LAST_FIT, REFIT, RICH_MODEL_UP_TO, Regime
from topshap.core.validation import refuse
from topshap.statistics.partial_covariance import PartialCovariance
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
    from topshap.algorithms.odd_gp.even.surrogate import Interactions
    from topshap.core.algorithm import Problem, Rounds
    from topshap.core.standing import FittedStanding
    from topshap.core.typing import Coalitions, Matrix
    from topshap.statistics.partial_covariance import Covariance

SINGLES_FIRST_BELOW = 5
"""Below this number of complement pairs per player, the first design starts with all pairs of a single player."""
CANDIDATES = 600
"""The smallest number of candidates that a batch is chosen from."""


def pair_rounds(problem: Problem, standing: FittedStanding, *, active_rounds: int, min_batch: int) -> Rounds:
    """Spread complement pairs over sizes, then choose batches that tell most about the top k pairs of players.

    The rounds are planned for the remaining budget, so that none of them exceeds it.
    """
    n, rng, rank_by = problem.n, problem.rng, problem.rank_by
    if n > RICH_MODEL_UP_TO:
        refuse("order", 2, must_be=f"1 for more than {RICH_MODEL_UP_TO} players. This game has {n}")
    regime = Regime.of(problem, active_rounds=active_rounds, min_batch=min_batch)
    pairs = ComplementPairs.at_start(problem)
    surrogate = EvenSurrogate(rng, rank_by=rank_by, noise=regime.noise, max_pairs=regime.learned)

    def estimate(iterations: int) -> ComplementPairs:
        known = pairs.evenly_ordered()
        surrogate.learn(known.x, known.odd, known.even, iterations=iterations)
        surrogate.emphasise_strong_pairs()
        show(surrogate.interactions())
        return known

    def show(found: Interactions) -> None:
        rare = surrogate.rare_contributions
        standing.set(found.estimates, covariance_of(found), std_errors=found.std_errors, rare_contributions=rare)

    if regime.pairs == 0:
        yield from spend_one(draw_candidates(regime.spare_evaluation, pairs, rng, repeat=regime.noise))
        return
    design = first_pair_design(n, regime.first_design, rng)
    yield ending_early(pairs.round(design), partial(estimate, REFIT))
    iterations = FIRST_FIT
    for batch in regime.batches(regime.pairs - len(design)):
        estimate(iterations)
        contrasts = watched_contrasts(surrogate.posterior, problem, regime.overall_weight)
        candidates = draw_candidates(max(CANDIDATES, regime.candidates(batch)), pairs, rng, repeat=regime.noise)
        chosen = choose_pairs(batch, candidates, contrasts, surrogate.posterior, repeat=regime.noise)
        yield ending_early(pairs.round(chosen), partial(estimate, REFIT))
        iterations = REFIT
    known = estimate(max(iterations, LAST_FIT))
    if not regime.noise:
        show(stacked_interactions(surrogate, known, rng))
    standing.shapley_values = surrogate.shapley_values()
    if regime.spare_evaluation:
        yield from spend_one(draw_candidates(1, pairs, rng, repeat=regime.noise))


def first_pair_design(n: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Return the complement pairs to evaluate first, before there is a model.

    Small and large coalitions have large weights in an interaction. In small designs all pairs of a single player and
    the others come first, unless these would be the whole design: they alone do not separate the interactions.
    """
    drawn = rng.permutation(draw_pairs(n, count, 1.0, rng))
    if count >= SINGLES_FIRST_BELOW * n or count <= n:
        return drawn
    singles = rng.permutation(np.eye(n, dtype=np.bool_))
    others = rng.permutation(drop_used(np.concatenate([drawn, draw_pairs(n, count, 0.0, rng)]), set()))
    sizes = others.sum(axis=1)
    larger = others[(sizes > 1) & (sizes < n - 1)]
    return np.concatenate([singles, larger])[: min(count, 2 ** (n - 1) - 1)]


def watched_contrasts(posterior: EvenPosterior, problem: Problem, overall_weight: float) -> Matrix:
    """Return the border contrasts of the watched pairs of players."""
    estimates = posterior.interactions[posterior.watched]
    ranking = np.argsort(-rank_key(estimates, problem.rank_by), kind="stable")
    return signed_border_contrasts(
        estimates,
        posterior.covariance,
        ranking,
        problem.k,
        rank_by=problem.rank_by,
        overall_weight=overall_weight,
    )


def covariance_of(found: Interactions) -> Covariance:
    """Return the covariance of the interactions, of all pairs of players or of the watched ones."""
    every = len(found.watched) == len(found.estimates)
    return found.covariance if every else PartialCovariance(found.watched, found.covariance)
