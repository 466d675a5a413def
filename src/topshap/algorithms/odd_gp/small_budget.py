"""Budgets below 2 n + 2 evaluations: a sparse model, single players, or the grand coalition without each player.

Such a budget does not allow one complement pair per player. With fewer evaluations than players, or if few players seem
to matter, random coalitions are evaluated, see `sparse_rounds`. Otherwise, evaluating v({i}) for all i, or v(N - i) for
all i, compares all players at n evaluations; the rest of the budget completes as many pairs as it can. A Gaussian
process on the odd and the even part together weights the values: the even part absorbs the common level of single
players.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.sparse_rounds import BATCHES, SparseRun, plan_for
from topshap.core.algorithm import Problem, Round, Rounds

if TYPE_CHECKING:
    from topshap.core.standing import FittedStanding
    from topshap.core.typing import Coalitions, Matrix, Values

_SMOOTH, _RESIDUAL, _COMMON = 0.3, 0.05, 10.0
"""Prior variances relative to the variance of the observed values: of the smooth parts, of the residual of each
coalition, and of a constant."""


def spend_small_budget(
    problem: Problem, standing: FittedStanding, *, batches: int = BATCHES, min_batch: int = 1
) -> Rounds:
    """Spend the remaining budget on a sparse model of the game, or else on single players."""
    remaining = problem.remaining or 0
    plan = plan_for(problem.n, remaining)
    ends = np.array([problem.empty, problem.grand])
    run = SparseRun(problem.n, problem.k, remaining, ends, problem.rng, batches=batches, min_batch=min_batch)

    def show() -> None:
        (values,), (covariance,) = run.shapley_values()
        standing.set(values, covariance)

    if plan != "single players" and (yield from run.rounds(show, check=plan == "check")):
        return
    yield from compare_single_players(problem, standing, run.coalitions, run.values[:, 0])


def compare_single_players(
    problem: Problem, standing: FittedStanding, known: Coalitions, known_values: Values
) -> Rounds:
    """Spend the remaining budget on single players and their complements.

    The estimates are from these and from the coalitions known before, the empty and the grand coalition at least.
    """
    coalitions = singles_and_complements(problem.n, problem.rng)[: problem.remaining]

    def add(values: Values) -> None:
        if len(values) > 0:
            evaluated = np.concatenate([known, coalitions[: len(values)]])
            standing.set(*shapley_posterior(evaluated, np.concatenate([known_values, values]), problem.gain))

    yield Round(coalitions, add)


def singles_and_complements(n: int, rng: np.random.Generator) -> Coalitions:
    """Return all single players and then their complements, or the reverse, with the players in random order."""
    singles = np.eye(n, dtype=np.bool_)[rng.permutation(n)]
    return np.concatenate([singles, ~singles] if rng.random() < 0.5 else [~singles, singles])


def shapley_posterior(coalitions: Coalitions, values: Values, gain: float) -> tuple[Values, Matrix]:
    """Return the mean and covariance of the Shapley values given the values of some coalitions."""
    n = coalitions.shape[1]
    scale = float(values.std()) or 1.0
    functional, factor, prior = coalition_model(coalitions)
    phi = functional.T @ linalg.cho_solve(factor, (values - values.mean()) / scale) * scale
    posterior = prior - functional.T @ linalg.cho_solve(factor, functional)
    return phi + (gain - phi.sum()) / n, (posterior + posterior.T) * (scale**2 / 2.0)


def coalition_model(coalitions: Coalitions) -> tuple[Matrix, tuple[Matrix, bool], Matrix]:
    """Return Cov(values, phi), the Cholesky factor of Cov(values) for `cho_solve`, and the prior covariance of phi.

    Values are scaled to a variance of 1.
    """
    n = coalitions.shape[1]
    x = np.where(coalitions, 1.0, -1.0)
    kernel = OddKernel(np.full(n, 1.5 / n), smooth=_SMOOTH, linear=1.0 / n, residual_level=_RESIDUAL)
    even = _COMMON + _SMOOTH * np.cosh(1.5 * (x @ x.T) / n) / np.cosh(1.5)
    # The residuals of v(x) and v(-x) are independent: the odd and the even residual have the same variance.
    covariance = kernel.covariance(x, x) + even + 2.0 * _RESIDUAL * np.eye(len(x))
    return kernel.functional(x), linalg.cho_factor(covariance, lower=True), kernel.prior
