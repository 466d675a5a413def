"""The results of outputs that share coalitions without a race."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.algorithms.odd_gp.several_outputs import covariances_of
from topshap.core.outputs_standing import FittedOutputsStanding
from topshap.core.results import TopKs

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.shared.estimate import SharedEstimate
    from topshap.core.result import Stopped
    from topshap.core.typing import Matrix, Players
    from topshap.statistics.ranking import RankBy


def results_of(
    estimate: SharedEstimate,
    *,
    player_names: tuple[str, ...] | None,
    output_names: tuple[str, ...] | None,
    k: int,
    tie_order: Players,
    rank_by: RankBy,
    budget: int,
    evaluations: int,
    stopped: Stopped,
    algorithm: str,
    ends: Matrix,
    seed: Any,
    value_range: tuple[float, float] | None,
) -> TopKs:
    """Return the results of all outputs of a game.

    Parameters
    ----------
    estimate
        The estimates.
    player_names, output_names
        The names of the players and of the outputs.
    k, rank_by, tie_order
        The number of players to find, their order, and the order of those that tie.
    budget, evaluations, stopped, algorithm
        How the estimates were found; see `topshap.TopKs`.
    ends
        The values of the empty and the grand coalition, shape (2, outputs).
    seed, value_range
        The options ``random_state`` and ``value_range``.
    """
    standing = FittedOutputsStanding(tie_order, estimate.values, rank_by=rank_by)
    return TopKs(
        players=standing.ranking(resolution=1e-12)[:, :k].copy(),
        estimates=estimate.values,
        std_errors=estimate.std_errors,
        covariance=None if np.isnan(estimate.factors).any() else covariances_of(estimate),
        player_names=player_names,
        output_names=output_names,
        evaluations=evaluations,
        calls=evaluations,
        budget=budget,
        epsilon=None,
        delta=None,
        stopped=stopped,
        algorithm=algorithm,
        counting="distinct",
        empty=ends[0],
        grand=ends[1],
        rank_by=rank_by,
        value_range=value_range,
        random_state=int(seed) if isinstance(seed, Integral) else None,
    )
