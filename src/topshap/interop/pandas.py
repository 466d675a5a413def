"""Results as pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.pairs import all_pairs
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from topshap.core.explanations import Explanations
    from topshap.core.importance import Importance
    from topshap.core.result import TopK
    from topshap.core.results import TopKs


def outputs_to_frame(tops: TopKs) -> pd.DataFrame:
    """Return all outputs and players as a DataFrame, the players of each output best first."""
    pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
    frames = []
    for i, top in enumerate(tops):
        frame = to_frame(top)
        names = pandas.Series([tops.output_name(i)] * len(frame), index=frame.index, dtype=object)
        frame.insert(0, "output", names)
        frames.append(frame)
    together: pd.DataFrame = pandas.concat(frames)
    return together


def to_frame(top: TopK) -> pd.DataFrame:
    """Return all players or pairs of a result as a DataFrame, best first.

    Players have their values in the explained input, if these are known.
    """
    pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
    low, high = top.interval().T
    columns = {
        **_candidates(top, pandas),
        "estimate": top.estimates,
        "std_error": top.std_errors,
        "low": low,
        "high": high,
        "p_top_k": top.inclusion,
        "top_k": np.isin(np.arange(top.n_candidates), top.players),
    }
    if top.player_values is not None and top.order == 1:
        columns["player_value"] = pandas.Series(list(top.player_values), dtype=object)
    frame: pd.DataFrame = pandas.DataFrame(columns).iloc[top.ranking]
    return frame


def _candidates(top: TopK, pandas: Any) -> dict[str, Any]:
    """Return the columns with names: those of the players, or of both players of each pair.

    They are objects, since strings of pandas cannot hold every name.
    """
    if top.order == 1:
        return {"player": pandas.Series([top.name_of(i) for i in range(top.n_players)], dtype=object)}
    names = [str(i) for i in range(top.n_players)] if top.player_names is None else list(top.player_names)
    players = all_pairs(top.n_players).T
    return {
        column: pandas.Series([names[i] for i in of_pair.tolist()], dtype=object)
        for column, of_pair in zip(("player_a", "player_b"), players, strict=True)
    }


def many_to_frame(tops: Explanations, *, wide: bool, probabilities: bool) -> pd.DataFrame:
    """Return many rows as one DataFrame: one line per row and player, best first, or one line per row."""
    pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
    return _wide(tops, pandas) if wide else _long(tops, pandas, probabilities=probabilities)


def _long(tops: Explanations, pandas: Any, *, probabilities: bool) -> pd.DataFrame:
    shape, order = tops.estimates.shape, tops.ranking
    rows = np.broadcast_to(np.arange(len(tops)).reshape(-1, *[1] * (len(shape) - 1)), shape)
    top_k = np.zeros(shape, dtype=np.bool_)
    np.put_along_axis(top_k, tops.players, True, axis=-1)
    half = two_sided_quantile(0.05) * tops.std_errors
    half = np.where(np.isnan(half), np.inf, half)
    columns: dict[str, NDArray[Any]] = {"row": rows if tops.row_names is None else _objects(tops.row_names)[rows]}
    if tops.n_outputs is not None:
        outputs = np.broadcast_to(np.arange(tops.n_outputs)[:, np.newaxis], shape)
        columns["output"] = outputs if tops.output_names is None else _objects(tops.output_names)[outputs]
    columns["player"] = _objects(tops.all_names)[order]
    numbers: dict[str, NDArray[Any]] = {"estimate": tops.estimates, "std_error": tops.std_errors}
    numbers |= {"low": tops.estimates - half, "high": tops.estimates + half}
    if probabilities:
        results = [top for row in tops for top in ([row] if tops.n_outputs is None else row)]
        numbers["p_top_k"] = np.array([top.inclusion for top in results]).reshape(shape)
    numbers["top_k"] = top_k
    columns |= {name: np.take_along_axis(array, order, axis=-1) for name, array in numbers.items()}
    if tops.data is not None:
        columns["player_value"] = tops.data[rows, order]
    frame: pd.DataFrame = pandas.DataFrame(
        # as objects: strings of pandas cannot hold every name
        {name: pandas.Series(column.ravel(), dtype=column.dtype) for name, column in columns.items()}
    )
    return frame


def _wide(tops: Explanations, pandas: Any) -> pd.DataFrame:
    players = pandas.Index(_objects(tops.all_names), dtype=object, name="player")
    names = range(len(tops)) if tops.row_names is None else _objects(tops.row_names)
    index = pandas.Index(names, name="row")
    if tops.n_outputs is not None:
        outputs = range(tops.n_outputs) if tops.output_names is None else _objects(tops.output_names)
        index = pandas.MultiIndex.from_product([names, outputs], names=["row", "output"])
    frame: pd.DataFrame = pandas.DataFrame(tops.estimates.reshape(-1, tops.n_players), index=index, columns=players)
    return frame


def importance_to_frame(importance: Importance) -> pd.DataFrame:
    """Return the mean magnitudes as a DataFrame, most important players first."""
    pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
    order, means = importance.ranking, importance.values  # noqa: PD011 - not of pandas
    n_outputs = 1 if means.ndim == 1 else len(means)
    columns: dict[str, Any] = {}
    if means.ndim == 2:
        names = range(n_outputs) if importance.output_names is None else importance.output_names
        columns["output"] = pandas.Series(np.repeat(_objects(names), len(order)), dtype=object)
    columns["player"] = pandas.Series(np.tile(_objects(importance.names)[order], n_outputs), dtype=object)
    columns["importance"] = means[..., order].ravel()
    columns["std_error"] = importance.std_errors[..., order].ravel()
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


def _objects(names: Any) -> NDArray[Any]:
    """Return an array of objects, which holds strings that arrays of text cannot hold."""
    array = np.empty(len(names), dtype=object)
    array[:] = list(names)
    return array
