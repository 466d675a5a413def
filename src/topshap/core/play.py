"""One number per coalition or several outputs: the parts of a race that differ between the two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.covariances import SharedCovariance
from topshap.core.interactions import interactions_from_table
from topshap.core.lockstep import Lockstep, rule_for_every_output
from topshap.core.output_scales import OutputScales, ScaledOutputsStanding
from topshap.core.outputs_standing import FittedOutputsStanding, OutputsStanding
from topshap.core.pairs import PairEstimates
from topshap.core.pairs_result import TopPairs, with_interactions
from topshap.core.result import TopK
from topshap.core.results import TopKs
from topshap.core.scaled_standing import ScaledStanding
from topshap.core.standing import FittedStanding, Standing
from topshap.core.tables import shapley_from_table

if TYPE_CHECKING:
    from topshap.core.algorithm import Algorithm, Problem, Rounds
    from topshap.core.scale import Scale
    from topshap.core.stopping import StoppingRule
    from topshap.core.typing import Players, Values
    from topshap.statistics.ranking import RankBy


class Play(NamedTuple):
    """An algorithm that has been started on a problem."""

    standing: Standing
    rounds: Rounds
    rule: StoppingRule | None
    """The rule that ends the race when it is confident; None if it does not end by itself."""


def start(algorithm: Algorithm[Any], problem: Problem, *, stops_by_itself: bool) -> Play:
    """Start an algorithm on a problem, for each of its outputs if there are several."""
    if problem.outputs is None:
        rule = algorithm.stopping_rule(problem) if stops_by_itself else None
        standing = algorithm.standing(problem)
        return Play(standing, algorithm.rounds(problem, standing), rule)
    player: Any = algorithm if algorithm.outputs == "together" else Lockstep(algorithm)
    standing = player.standing(problem)
    rule = rule_for_every_output(algorithm, problem) if stops_by_itself else None
    return Play(standing, player.rounds(problem, standing), rule)


def in_units_of_game(standing: Standing, scale: Scale | OutputScales) -> Standing:
    """Return the standing of an algorithm in the units of the game."""
    if scale.is_one:
        return standing
    if isinstance(scale, OutputScales) and isinstance(standing, OutputsStanding):
        return ScaledOutputsStanding(standing, scale)
    return ScaledStanding(standing, scale)  # type: ignore[arg-type]  # scale and standing are of the same kind


KEPT_VALUES = 2**20
"""The largest table that an exact result keeps for `TopK.interactions`."""


def standing_of_table(table: Values, tie_order: Players, rank_by: RankBy, *, order: int) -> Standing:
    """Return the standing of a game whose values are all known, shape (2**n,) or (2**n, R).

    Examples
    --------
    >>> standing_of_table(np.array([0.0, 1.0, 2.0, 5.0]), np.arange(1), "magnitude", order=2).estimates
    array([2.])
    """
    values = shapley_from_table(table)
    if order == 1:
        exact = exact_standing(values, tie_order, rank_by)
        if values.ndim == 1 and 4 <= len(table) <= KEPT_VALUES:
            exact.interactions = partial(_exact_interactions, table)
        return exact
    pairs = FittedStanding(tie_order, interactions_from_table(table), rank_by=rank_by)
    pairs.set(pairs.estimates, std_errors=np.zeros(pairs.n_players))
    pairs.shapley_values = values
    return pairs


def _exact_interactions(table: Values) -> PairEstimates:
    estimates = interactions_from_table(table)
    return PairEstimates(estimates, np.zeros(len(estimates)))


def exact_standing(values: Values, tie_order: Players, rank_by: RankBy) -> Standing:
    """Return the standing of exact Shapley values, shape (n,) or (R, n).

    Examples
    --------
    >>> exact_standing(np.array([[1.0, 2.0], [4.0, 3.0]]), np.arange(2), "value").ranking().tolist()
    [[1, 0], [0, 1]]
    """
    zeros = np.zeros((len(tie_order), len(tie_order)))
    if values.ndim == 1:
        exact = FittedStanding(tie_order, values, rank_by=rank_by)
        exact.set(values, zeros)
        return exact
    outputs = FittedOutputsStanding(tie_order, values, rank_by=rank_by)
    outputs.set(values, SharedCovariance(zeros, np.ones(len(values))))
    return outputs


def result_of(
    standing: Standing, ends: Values, k: int, *, order: int = 1, may_be_rare: bool, fields: dict[str, Any]
) -> TopK:
    """Return the result of a race: a `TopK`, a `TopPairs` of order 2, or a `TopKs` if its standing has several outputs.

    The type says `TopK`, since most games have one number per coalition.
    """
    estimates, std_errors = standing.estimates.copy(), standing.std_errors.copy()
    ranking = standing.ranking(resolution=1e-12)
    if not isinstance(standing, OutputsStanding):
        rare = standing.rare_contributions and may_be_rare
        empty, grand = ends.tolist()
        fields = fields | {"covariance": standing.covariance(), "empty": empty, "grand": grand}
        if order == 1:
            top = TopK(ranking[:k], estimates, std_errors, rare_contributions=rare, **fields)
            return with_interactions(top, standing.interactions)
        fields |= {"shapley_values": standing.shapley_values, "left_out": standing.left_out}
        return TopPairs(ranking[:k], estimates, std_errors, rare_contributions=rare, **fields)
    rare_outputs = standing.rare_outputs & may_be_rare
    empties, grands = ends.copy()
    fields = fields | {"covariance": standing.covariances(), "empty": empties, "grand": grands}
    several: Any = TopKs(ranking[:, :k].copy(), estimates, std_errors, rare_contributions=rare_outputs, **fields)
    found: TopK = several
    return found
