"""Results as ``shap.Explanation``, for the plots of shap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.core.result import TopK
    from topshap.core.results import TopKs
    from topshap.core.typing import Values


@front_door
def to_shap(top: TopK, data: Any = None) -> Any:
    """Return a result as a ``shap.Explanation``, with 95% intervals as its bounds."""
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    cells = _cells(data, top.n_players)
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


def many_to_shap(tops: Sequence[TopK], data: Any = None) -> Any:
    """Return several results for the same players as one ``shap.Explanation``."""
    shap = import_extra("shap", extra="shap", needed_by="to_shap")
    return shap.Explanation(
        values=np.stack([adding_up(top) for top in tops]),
        base_values=np.array([top.empty for top in tops]),
        data=data,
        display_data=data,
        feature_names=_names(tops[0]),
    )


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
    residual = top.grand - top.empty - top.estimates.sum()
    takes_part = np.isin(np.arange(top.n_players), top.players, invert=True)
    if not takes_part.any():
        takes_part[:] = True
    return top.estimates + np.where(takes_part, residual / takes_part.sum(), 0.0)


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
