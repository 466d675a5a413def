"""The plan of `OddGP` for a budget: every number that depends on the budget, the number of players and noise.

The constants that affect accuracy were chosen with the fixed-budget benchmark on its tuning games, every second game of
each family; its reported results are those of the other games. "Error" below is the mean inclusion-exclusion error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.algorithm import Problem

MAX_PAIRS = 6000
"""The largest number of pairs the Gaussian process is conditioned on, and beyond which no batches are chosen.

A limit on time and memory: the cost grows with the third power of the number of pairs.
"""

LEAST_LEARNED = 2000
"""With more than `MAX_PAIRS` pairs, the smallest number of them that the process is conditioned on.

The number falls from `MAX_PAIRS` in proportion to 1 / pairs, so that predicting the others takes about the same time.
Such budgets are for cheap games, where the time of the process matters; see `topshap.algorithms.auto`.
"""

RICH_MODEL_UP_TO = 200
"""The largest number of players for the full model.

Up to this number, every player has its own relevance, the even part helps to fit the relevances, and they are refitted
after every batch. Beyond, there are more parameters than pairs to fit them to.
"""

FIRST_DESIGN = (0.2, 1.15)
"""The size of the first design: at least this share of the budget, and this number of pairs per player (plus 2).

Chosen on the tuning games together with the limit on pairs of one size (`active.MAX_SHARE_OF_SIZE`). On 78 further
games both together have 0.953 of the error of (0.3, 1.3). One pair per player is within noise of 1.15.
"""

FIRST_DESIGN_IF_LARGE = (0.3, 1.3)
"""The size of the first design beyond `RICH_MODEL_UP_TO` players, where its hyper-parameters are kept to the end."""

SINGLES_FIRST_BELOW = 5
"""Below this number of pairs per player, the first design starts with all pairs of a single player and the others.

On the tuning games the error is 1.16 times as large if only the smallest budgets start with them, and 1.02 times if all
budgets do.
"""

FEWER_ROUNDS = ((2.5, 2), (5.0, 3))
"""Below these numbers of pairs per player, the largest number of batches, to save time.

On the tuning games below 2.5 pairs per player, two batches instead of four have 1.035 times the root mean square error
in 0.7 to 0.85 of the time (standard error 0.025); between 2.5 and 5, three have 0.98 times (0.03). With more pairs,
two have 1.06 times the error (0.03). This was not measured for pairs of players (``order=2``) and beyond
`RICH_MODEL_UP_TO` players, and does not apply to them.
"""

FIRST_FIT, REFIT, LAST_FIT = 25, 5, 15
"""BFGS iterations of the first fit of the hyper-parameters, of the refit after each batch, and of the last fit.

Refits start from the previous parameters. These are the numbers of the prototype, not tuned since.
"""

BEST_CHOOSES_ABOVE = 16
"""The number of players above which the surrogate for sums of unanimity games may choose pairs.

Pairs chosen by a surrogate that is wrong about the game may be worse than random ones: in sums of unanimity games of
all sizes with 60 players, the mean squared error was up to six times that of random pairs. In small games, the first
design has most pairs of extreme sizes already, and the mean squared error on the tuning games is the same within noise
(0.96 times, standard error 0.04), for 1.6 times the CPU time. The surrogates are compared before every batch: if the
first design alone decides, the error in sums of unanimity games with 60 players is twice as large.
"""

FITTED_PER_PLAYER = 3
"""The number of pairs per player that hyper-parameters are fitted to, if there are more."""
FITTED_TO, FITTED_AT_FIRST, FITTED_AT_LAST = (150, 600), (100, 300), (200, 600)
"""Its smallest and largest value: in general, and in `OddGP` for the fits that choose pairs and for the last one.

Chosen on 12 to 14 tuning games with 1000 and 2000 evaluations, by the root mean square error relative to that of an
earlier version with 150 pairs in all fits: 0.90 and 0.75 (standard errors 0.06 and 0.13), but 1.2 and 1.6 (0.1 and 0.2)
with 100 pairs in all fits. On the judging games it is 0.97 and 0.86 (0.06).
"""

LEFT_OUT_AT_FIRST = 200
"""The largest number of pairs that leave-one-out residuals are computed of before the last estimate, to save time."""

STACKED_PAIRS = 3000
"""The largest number of pairs with which other surrogates are stacked with the first one: a limit on time.

With 3000 pairs instead of 1000, the mean squared error on the tuning games is 0.86 times as large (standard error 0.1)
after 4000 evaluations, and far smaller on models of trees with 30 players after 5000, for 1.5 times the CPU time.
"""
STACKED_LEFT_OUT = 200
"""The largest number of pairs, the last ones, on whose leave-one-out residuals surrogates are compared and stacked."""

CANDIDATES = 300
"""The smallest number of candidates that a batch is chosen from; with 1000, errors are the same within noise."""


@dataclass(frozen=True)
class Regime:
    """The plan for one race."""

    noise: bool
    """Whether values vary from call to call. Then the residual of the model is noise, and pairs may be repeated."""
    pairs: int
    """The budget in complement pairs, at most the number of pairs that exist unless these may be repeated."""
    spare_evaluation: bool
    """Whether the budget is odd: its last evaluation is not part of a pair, so it is spent but not used."""
    single_players_only: bool
    """Whether the budget is too small for one pair per player; see `small_budget`."""
    first_design: int
    """The number of pairs in the first design: all of them if no batches are chosen."""
    singles_first: bool
    """Whether the first design starts with all pairs of a single player and the others."""
    learned: int
    """The largest number of pairs the process is conditioned on; further pairs correct its estimate."""
    refit: int
    """Iterations of the fit after each batch; 0 keeps the hyper-parameters of the first design."""
    overall_weight: float
    """The weight of the whole covariance beside the border contrasts when pairs are chosen."""
    best_surrogate_chooses: bool
    """Whether the surrogate for sums of unanimity games chooses the pairs of a batch if it predicts better."""
    active_rounds: int
    """The largest number of batches after the first design."""
    min_batch: int
    """The smallest number of evaluations in a batch."""

    @classmethod
    def of(cls, problem: Problem, *, active_rounds: int, min_batch: int) -> Regime:
        """Return the plan for the remaining budget of a race."""
        n, noise = problem.n, not problem.deterministic
        pairs, spare = divmod(problem.remaining or 0, 2)
        existing = 2 ** (n - 1) - 1
        pairs = pairs if noise else min(pairs, existing)  # where every call counts, the budget may exceed the game
        rich = n <= RICH_MODEL_UP_TO
        share, per_player = FIRST_DESIGN if rich else FIRST_DESIGN_IF_LARGE
        first = max(int(share * pairs), int(per_player * n) + 2)
        active = active_rounds > 0 and pairs <= MAX_PAIRS
        fewer = FEWER_ROUNDS if rich and problem.order == 1 else ()
        return cls(
            noise=noise,
            pairs=pairs,
            spare_evaluation=spare == 1,
            single_players_only=pairs < n and pairs < existing,
            first_design=min(first, pairs) if active else pairs,
            singles_first=pairs < SINGLES_FIRST_BELOW * n,
            learned=MAX_PAIRS if pairs <= MAX_PAIRS else max(MAX_PAIRS**2 // pairs, LEAST_LEARNED),
            refit=REFIT if rich else 0,
            overall_weight=1.0 if rich else 0.0,
            best_surrogate_chooses=n > BEST_CHOOSES_ABOVE and not noise,
            active_rounds=min([active_rounds, *(most for limit, most in fewer if pairs < limit * n)]),
            min_batch=min_batch,
        )

    def batches(self, left: int) -> list[int]:
        """Divide `left` pairs into equal batches, fewer than `active_rounds` if these would be below `min_batch`."""
        rounds = max(1, min(self.active_rounds, 2 * left // self.min_batch))
        return [size for size in np.diff(np.arange(rounds + 1) * left // rounds).tolist() if size > 0]

    def candidates(self, batch: int) -> int:
        """Return the number of pairs that a batch is chosen from."""
        return max(CANDIDATES, min(3 * batch, batch + 1000))
