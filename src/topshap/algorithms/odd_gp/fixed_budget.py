"""odd-gp: an active Gaussian process on the odd part of the game."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import linalg

from topshap.algorithms.legacy import as_rounds, evaluate
from topshap.algorithms.odd_gp.active import border_contrasts, most_informative
from topshap.algorithms.odd_gp.blas import thinking_in_one_thread
from topshap.algorithms.odd_gp.designs import all_pairs, draw_pairs, without
from topshap.algorithms.odd_gp.logit_warp import Opinion, warped_opinions, weighed
from topshap.algorithms.odd_gp.pairs import Pairs
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.algorithms.odd_gp.small_budget import alone_or_missing, shapley_posterior
from topshap.algorithms.odd_gp.surrogate import EVEN_PART_UP_TO, MAX_PAIRS, OddSurrogate
from topshap.core.algorithm import Algorithm, Problem, Rounds
from topshap.core.standing import FittedStanding
from topshap.core.validation import check_int, front_door

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix, Values

FIRST_IF_REFITTED, FIRST_IF_KEPT = (0.2, 1.15), (0.3, 1.3)
"""The part of the budget that is spent before anything is known, and the least number of pairs for each player: where
the hyper-parameters are refitted after each batch, and in larger games, where those of the first design are kept."""
FIRST_FIT, REFIT, LAST_FIT = 25, 5, 15
"""Iterations on the hyper-parameters at first, after each batch, and at the end."""
CANDIDATES = 300
"""At least as many pairs are compared before some of them are chosen."""
LISTED_PAIRS = 2**15
"""Games with at most this many pairs list those that are left when drawing new ones becomes slow."""


@front_door
class OddGP(Algorithm[FittedStanding]):
    """An active Gaussian process on the odd part of the game.

    The Shapley values depend only on g(S) = (v(S) - v(N - S)) / 2, so coalitions are evaluated together with their
    complements. A Gaussian process on g, with a kernel that contains all odd interactions and learns how much each
    player interacts, gives the posterior of the Shapley values in closed form. A first design spreads pairs over sizes;
    a few further batches go where they reduce the risk of a wrong top k most. In games of up to 16 players, processes
    on warped values that do not level off are listened to as far as they predict the pairs better.

    With fewer than 2 n + 2 evaluations it compares the players alone, or the grand coalition without each of them. If
    the values of the game vary from call to call, what the smooth part leaves over is taken for noise, and pairs may be
    evaluated again. The last evaluation of an odd budget makes no pair: it is paid for, and kept, but not used.

    Overhead per evaluation: O(T**2 + T n) for T evaluations, up to 12,000 of them; beyond, the pairs that the process
    does not take correct it by least squares, at O(n**2).

    Parameters
    ----------
    active_rounds
        Batches after the first design; with 0 that takes the whole budget.
    min_batch
        The least number of evaluations in a batch after the first design, so that workers are kept busy.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3, 4]], [2.0, 1.0, 3.0], n_players=12)
    >>> topshap.identify(game, k=2, budget=100, algorithm="odd-gp", random_state=0).players
    array([0, 2])
    """

    name: ClassVar[str] = "odd-gp"
    needs_budget: ClassVar[bool] = True

    def __init__(self, *, active_rounds: int = 4, min_batch: int = 1) -> None:
        self.active_rounds = check_int("active_rounds", active_rounds, low=0)
        self.min_batch = check_int("min_batch", min_batch, low=1)

    def standing(self, problem: Problem) -> FittedStanding:
        """Return the standing at the start of a race."""
        return problem.fitted_standing()

    def rounds(self, problem: Problem, standing: FittedStanding) -> Rounds:
        """Yield rounds."""
        return as_rounds(self._generate(problem, standing))

    @thinking_in_one_thread
    def _generate(self, problem: Problem, standing: FittedStanding) -> Any:
        """Spread pairs over sizes, then choose a few batches of them."""
        budget, left_over = divmod(problem.remaining or 0, 2)
        noise = not problem.deterministic
        there_are = 2 ** (problem.n - 1) - 1
        budget = budget if noise else min(budget, there_are)  # where every access counts, more may be allowed
        if budget < problem.n and budget < there_are:
            yield from self._single_players(problem, standing)
            return
        pairs = Pairs.of_the_ends(problem.n, problem.grand, problem.empty)
        surrogate = OddSurrogate(problem.rng, noise=noise)
        active = self.active_rounds > 0 and budget <= MAX_PAIRS
        refitted = problem.n <= EVEN_PART_UP_TO
        share, per_player = FIRST_IF_REFITTED if refitted else FIRST_IF_KEPT
        first = max(int(share * budget), int(per_player * problem.n) + 2) if active else budget
        lasted = yield from pairs.ask(
            first_design(problem.n, min(first, budget), problem.rng, emphasis=budget < 5 * problem.n)
        )
        batches = self._batches(budget - (len(pairs.x) - 1))
        iterations = FIRST_FIT
        for batch in batches:
            if not lasted:
                break
            surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=iterations)
            standing.set(*surrogate.shapley_values())
            lasted = yield from pairs.ask(self._choose(problem, standing, surrogate, pairs, batch))
            iterations = REFIT if refitted else 0
        surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=max(iterations, LAST_FIT))
        standing.set(*surrogate.shapley_values() if noise else by_all_opinions(surrogate, pairs, problem.rng))
        if lasted and left_over and (noise or len(pairs.keys) < there_are):
            yield unused_pairs(problem.n, set() if noise else pairs.keys, 1, problem.rng)[:1]

    def _single_players(self, problem: Problem, standing: FittedStanding) -> Rounds:
        n = problem.n
        ends = np.array([[False] * n, [True] * n])
        asked = alone_or_missing(n, problem.rng)[: problem.remaining]
        values = yield from evaluate([asked])
        if len(values) == 0:
            return
        coalitions = np.concatenate([ends, asked[: len(values)]])
        values = np.concatenate([[problem.empty, problem.grand], values])
        standing.set(*shapley_posterior(coalitions, values, problem.gain))

    def _batches(self, left: int) -> list[int]:
        """Cut the pairs that are left into equal batches, fewer if they would be too small."""
        rounds = max(1, min(self.active_rounds, 2 * left // self.min_batch))
        return [size for size in np.diff(np.arange(rounds + 1) * left // rounds).tolist() if size > 0]

    def _choose(
        self, problem: Problem, standing: FittedStanding, surrogate: OddSurrogate, pairs: Pairs, count: int
    ) -> Coalitions:
        """Return the pairs that tell most about the border of the top k."""
        posterior = surrogate.posterior
        everyone = 1.0 if problem.n <= EVEN_PART_UP_TO else 0.0
        values, covariance = posterior.shapley_values, posterior.covariance
        # Ranked by magnitude, it is the differences of phi_i times its sign that are in doubt.
        signs = np.where((standing.rank_by == "magnitude") & (values < 0.0), -1.0, 1.0)
        contrasts = signs * border_contrasts(
            signs * values, np.outer(signs, signs) * covariance, standing.ranking(), problem.k, everyone
        )
        noise = not problem.deterministic
        among = max(CANDIDATES, min(3 * count, count + 1000))
        candidates = unused_pairs(problem.n, set() if noise else pairs.keys, among, problem.rng)
        signs = np.where(candidates, 1.0, -1.0)
        chosen = candidates[most_informative(posterior, signs, contrasts, min(count, len(candidates)))]
        return np.resize(chosen, (count, problem.n)) if noise else chosen  # noisy pairs may be evaluated again


def by_all_opinions(surrogate: OddSurrogate, pairs: Pairs, rng: np.random.Generator) -> tuple[Values, Matrix]:
    """Return the Shapley values and their covariance, with those of the warped game beside them where they help.

    Since the weights of the opinions were fitted to the residuals, these fall more than the errors of the Shapley
    values do: the variance falls with their root mean square.
    """
    values, covariance = surrogate.shapley_values()
    rows, residuals, _ = surrogate.posterior.left_out
    others = [] if is_perfect(residuals) else warped_opinions(pairs.x, pairs.values, pairs.opposites, rows, rng)
    if not others:
        return values, covariance
    best = reduce(weighed, others, Opinion(values, surrogate.unit * residuals))
    shrinkage = linalg.norm(best.residuals / surrogate.unit) / linalg.norm(residuals)
    return best.shapley_values, shrinkage * covariance


def first_design(n: int, count: int, rng: np.random.Generator, *, emphasis: bool) -> Coalitions:
    """Return the pairs to look at before anything is known.

    With `emphasis`, for small budgets, the pairs of single players come first: they alone show an additive game as it
    is.
    """
    if not emphasis:
        return rng.permutation(draw_pairs(n, count, 0.5, rng))
    alone = np.eye(n, dtype=np.bool_)
    if n <= 3:  # there are no other pairs
        return alone[: min(count, 2 ** (n - 1) - 1)]
    larger = draw_pairs(n, count, 0.0, rng)
    sizes = larger.sum(axis=1)
    larger = larger[(sizes > 1) & (sizes < n - 1)]
    return np.concatenate([alone, rng.permutation(larger)[: count - n]])


def unused_pairs(n: int, used: set[bytes], count: int, rng: np.random.Generator) -> Coalitions:
    """Return different pairs that were not used, about `count`, half of them with an emphasis on the ends.

    Where most pairs have been used, those that are left are listed instead of looked for.
    """
    half = count // 2 + 1
    found = without(np.concatenate([draw_pairs(n, half, 0.5, rng), draw_pairs(n, half, 0.0, rng)]), used)
    if len(found) < count / 2 and 2 ** (n - 1) <= LISTED_PAIRS:
        left = without(all_pairs(n), used)
        return left[rng.permutation(len(left))[:count]]
    return found
