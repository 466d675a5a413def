"""One Gaussian process for the average over all rows, if the budget covers many coalitions of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.blas import one_thread
from topshap.algorithms.odd_gp.shared.estimate import adding_up
from topshap.algorithms.odd_gp.shared.rounds import SharedRun
from topshap.global_importance.estimate import MeanEstimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalitions, Matrix, Values


class ProcessResult(NamedTuple):
    """The estimate of a run of one process, the values of the rows and the cost."""

    estimate: MeanEstimate
    row_values: Matrix
    coalitions: int
    """The number of coalitions, each of them evaluated for all rows, besides the empty and the grand one."""
    exact: bool


def play_mean_game(
    row_values: Callable[[Coalitions], Matrix],
    ends: Matrix,
    *,
    n: int,
    k: int,
    budget: int,
    infinite: bool,
    rng: np.random.Generator,
) -> ProcessResult:
    """Estimate the Shapley values of the average over all rows.

    The process learns from the averages alone. Its estimate is a linear function of them, so the same function of the
    values of a row gives the values of the row, and their spread is the uncertainty due to rows.

    Parameters
    ----------
    row_values
        A function from coalitions to their values for all rows, shape (m, rows).
    ends
        The values of the empty and the grand coalition for all rows, shape (2, rows).
    n, k
        The number of players, and of those to find.
    budget
        The number of coalitions, without the empty and the grand one.
    infinite
        Whether rows are a sample of an infinite population.
    rng
        Draws the coalitions.
    """
    run = SharedRun(n, k, budget, ends.mean(axis=1, keepdims=True), rng)
    odd, spent = [(ends[1:] - ends[:1]) / 2.0], 0
    with one_thread():
        for request in run.requests():
            values = row_values(request.coalitions)
            request.add(values.mean(axis=1, keepdims=True))
            odd.append((values[0::2] - values[1::2]) / 2.0)
            spent += len(values)
        posterior = run.process.posterior
        every = np.concatenate(odd)[: len(posterior.x)]
        gains: Values = ends[1] - ends[0]
        of_rows = adding_up((posterior.solved_functional.T @ every).T, gains)
    estimate = run.estimate
    rows = np.zeros((n, n))
    if infinite and len(gains) > 1:
        rows = np.atleast_2d(np.cov(of_rows.T)) / len(gains)
    caution = 1.0 + n / len(run.pairs)  # for the hyper-parameters, which are fitted to a single game
    found = MeanEstimate(estimate.values[0].copy(), rows, caution * estimate.covariance_of(0))
    return ProcessResult(found, of_rows, spent, run.pairs.complete)
