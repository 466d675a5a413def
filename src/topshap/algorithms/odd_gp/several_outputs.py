"""odd-gp on a game with several outputs: the rounds of a `SharedRun`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.shared.rounds import SharedRun
from topshap.algorithms.odd_gp.sparse_rounds import BATCHES, SparseRun, plan_for
from topshap.core.algorithm import Problem, Round, Rounds
from topshap.core.covariances import SharedCovariance

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate
    from topshap.core.covariances import Covariances
    from topshap.core.outputs_standing import FittedOutputsStanding
    from topshap.core.typing import Matrix

MAX_ENTRIES = 2**24
"""The largest number of entries of separate covariances; beyond, outputs get the shared one with a factor each."""


def play_all_outputs(
    problem: Problem, standing: FittedOutputsStanding, *, active_rounds: int, min_batch: int
) -> Rounds:
    """Evaluate pairs for all outputs together; see `SharedRun`."""
    if problem.outputs is None:
        raise ValueError("The game has one number per coalition, not several outputs.")
    ends = np.stack([problem.outputs.empty, problem.outputs.grand])
    if (yield from _sparse_rounds(problem, standing, ends, batches=active_rounds, min_batch=min_batch)):
        return
    run = SharedRun(
        problem.n,
        problem.k,
        problem.remaining or 0,
        ends,
        problem.rng,
        rank_by=problem.rank_by,
        batches=active_rounds,
        min_batch=min_batch,
    )
    for request in run.requests():
        yield Round(request.coalitions, partial(_add, request.add, run, standing))
    _show(run.estimate, standing)


def _sparse_rounds(
    problem: Problem, standing: FittedOutputsStanding, ends: Matrix, *, batches: int, min_batch: int
) -> Generator[Round, None, bool]:
    """Spend a budget of less than one pair per player on a sparse model; return False if that does not apply."""
    n, remaining = problem.n, problem.remaining or 0
    how = plan_for(n, remaining, problem.n_outputs)
    if how == "single players" or remaining // 2 >= min(n, 2 ** (n - 1) - 1):
        return False
    sparse = SparseRun(n, problem.k, remaining, ends, problem.rng, batches=min(batches, BATCHES), min_batch=min_batch)
    return (yield from sparse.rounds(lambda: standing.set(*sparse.shapley_values()), check=how == "check"))


def _add(add: Callable[[Matrix], None], run: SharedRun, standing: FittedOutputsStanding, values: Matrix) -> None:
    add(values)
    _show(run.estimate, standing)


def _show(estimate: SharedEstimate, standing: FittedOutputsStanding) -> None:
    """Set the standing to an estimate."""
    if np.isnan(estimate.factors).any():  # nothing is known yet
        return
    standing.set(estimate.values, covariances_of(estimate), std_errors=estimate.std_errors)


def covariances_of(estimate: SharedEstimate) -> Covariances:
    """Return the covariances of all outputs, separate ones if they differ by more than a factor and fit into memory."""
    outputs, n = estimate.values.shape
    if estimate.reduction is not None and outputs * n * n <= MAX_ENTRIES:
        return np.stack([estimate.covariance_of(output) for output in range(outputs)])
    shared = estimate.with_shared_covariance()
    return SharedCovariance(shared.covariance, shared.factors)
