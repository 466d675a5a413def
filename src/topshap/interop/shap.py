"""Results as ``shap.Explanation``, for the plots of shap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.cells import numeric_table
from topshap.core.errors import RaceError
from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topshap.core.explanations import Explanations
    from topshap.core.pairs_result import TopPairs
    from topshap.core.player_values import PlayerValue
    from topshap.core.result import TopK
    from topshap.core.results import TopKs
    from topshap.core.typing import Matrix, Players, Values


@front_door
def to_shap(top: TopK, data: Any = None) -> Any:
    """Return a result as a ``shap.Explanation``, with 95% intervals as its bounds."""
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    cells = as_cells(top.player_values) if data is None else _cells(data, top.n_players)
    low, high = top.interval().T
    shift = adding_up(top) - top.estimates
    return shap.Explanation(
        values=adding_up(top),
        base_values=top.empty,
        data=cells,
        display_data=cells,
        feature_names=_names(top),
        lower_bounds=low + shift,
        upper_bounds=high + shift,
        error_std=top.std_errors,
    )


@front_door
def pairs_to_shap(top: TopPairs, data: Any = None) -> Any:
    """Return interactions as a ``shap.Explanation`` of shape (n, n), as shap's tree explainers return them."""
    if top.shapley_values is None:
        raise RaceError(
            "The main effects on the diagonal of shap's interaction values need the Shapley values of the players, "
            "which this result does not have. top.matrix has the interactions alone, identify(...).interactions both."
        )
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    cells = as_cells(top.player_values) if data is None else _cells(data, top.n_players)
    halves = top.matrix / 2.0
    names = [str(i) for i in range(top.n_players)] if top.player_names is None else list(top.player_names)
    return shap.Explanation(
        values=halves + np.diag(top.shapley_values - halves.sum(axis=1)),
        base_values=top.empty,
        data=cells,
        display_data=cells,
        feature_names=names,
        error_std=top.matrix_std_errors / 2.0,
    )


@front_door
def outputs_to_shap(tops: TopKs, data: Any = None) -> Any:
    """Return the results of all outputs as one ``shap.Explanation`` of shape (1, n, R), with 95% intervals as bounds.

    The first axis is that of explained rows, as in the explanations of shap. Without it, shap would confuse players
    with outputs if there are as many of the one as of the other.
    """
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    cells = None if data is None else _cells(data, tops.n_players)[None]
    values = np.stack([adding_up(top) for top in tops], axis=1)
    low, high = tops.interval().transpose(2, 1, 0) + (values - tops.estimates.T)
    return shap.Explanation(
        values=values[None],
        base_values=tops.empty[None],
        data=cells,
        display_data=cells,
        feature_names=_names(tops[0]),
        output_names=[tops.output_name(i) for i in range(len(tops))],
        lower_bounds=low[None],
        upper_bounds=high[None],
        error_std=tops.std_errors.T[None],
    )


def many_to_shap(tops: Explanations) -> Any:
    """Return many rows as one ``shap.Explanation``, with the outputs on its last axis and 95% intervals as bounds."""
    if tops.order != 1:
        raise RaceError("Interactions of many rows have no layout in shap. tops[i].to_shap() is that of one row.")
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    shift = _shares(tops.estimates, tops.players, tops.grand - tops.empty)
    half = two_sided_quantile(0.05) * tops.std_errors
    half = np.where(np.isnan(half), np.inf, half)
    values = tops.estimates + shift
    axes = (0, 2, 1) if tops.n_outputs is not None else (0, 1)
    names = None if tops.n_outputs is None or tops.output_names is None else list(tops.output_names)
    return shap.Explanation(
        values=values.transpose(axes),
        base_values=tops.empty.copy(),
        data=None if tops.data is None else _colours(tops.data),
        display_data=None if tops.data is None else tops.data.copy(),
        feature_names=list(tops.all_names),
        output_names=names,
        lower_bounds=(values - half).transpose(axes),
        upper_bounds=(values + half).transpose(axes),
        error_std=tops.std_errors.transpose(axes).copy(),
    )


def _colours(cells: NDArray[Any]) -> Matrix:
    """Return values as numbers; those of a player without any are 0, since shap warns of a column of nan."""
    numbers = numeric_table(cells)
    numbers[:, np.isnan(numbers).all(axis=0)] = 0.0
    return numbers


def as_cells(values: Sequence[PlayerValue] | None) -> NDArray[Any] | None:
    """Return values of players as floats, with nan for None, if all are numbers, and otherwise as objects."""
    if values is None:
        return None
    numeric = all(each is None or isinstance(each, int | float) for each in values)
    cells: NDArray[Any] = np.empty(len(values), dtype=np.float64 if numeric else object)
    cells[:] = values
    return cells


def adding_up(top: TopK) -> Values:
    """Return the estimates, adjusted to sum to v(grand) - v(empty) as Shapley values do.

    The residual is spread equally over the players outside the top k, whose values are of less interest, or over all
    players if there are no others.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    >>> top = topshap.identify(game, k=2, budget=40, algorithm="cmcs", random_state=0)
    >>> bool(abs(top.estimates.sum() - 4.0) > 0.1), bool(np.isclose(adding_up(top).sum(), 4.0))
    (True, True)
    """
    return top.estimates + _shares(top.estimates, top.players, top.grand - top.empty)


def _shares(estimates: Values, players: Players, total: Any) -> Values:
    """Return what is added to the estimates of each row, on the last axis, to sum to its total."""
    takes_part = np.ones(estimates.shape, dtype=np.bool_)
    if players.shape[-1] < estimates.shape[-1]:
        np.put_along_axis(takes_part, players, False, axis=-1)
    share = (total - estimates.sum(axis=-1)) / (estimates.shape[-1] - players.shape[-1] or estimates.shape[-1])
    return np.where(takes_part, np.asarray(share)[..., np.newaxis], 0.0)


def _names(top: TopK) -> list[str]:
    return [str(i) for i in range(top.n_players)] if top.player_names is None else list(top.player_names)


def _cells(data: Any, n_players: int) -> Any:
    if data is None:
        return None
    cells = np.asarray(data).ravel()
    if len(cells) != n_players:
        must_be = f"one value for each of the {n_players} players"
        refuse("data", got=f"{len(cells)} values", must_be=must_be)
    return cells
