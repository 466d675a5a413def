"""Results as ``shap.Explanation``, for the plots of shap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topshap.core.player_values import PlayerValue
    from topshap.core.result import TopK
    from topshap.core.typing import Values


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


def values_of_many(tops: Sequence[TopK]) -> NDArray[Any] | None:
    """Return the value of each player in each input, shape (results, players); None if the inputs are unknown.

    Examples
    --------
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0], np.zeros((1, 2)))
    >>> values_of_many(explainer.explain_many([[1.0, 2.0], [3.0, 4.0]], k=1))
    array([[1., 2.],
           [3., 4.]])
    """
    rows = [as_cells(top.player_values) for top in tops]
    return None if any(row is None for row in rows) else np.stack([row for row in rows if row is not None])


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
