"""Results as pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd

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
    """Return all players of a result as a DataFrame, best first."""
    pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
    low, high = top.interval().T
    columns = {
        # as objects: strings of pandas cannot hold every name
        "player": pandas.Series([top.name_of(i) for i in range(top.n_players)], dtype=object),
        "estimate": top.estimates,
        "std_error": top.std_errors,
        "low": low,
        "high": high,
        "p_top_k": top.inclusion,
        "top_k": np.isin(np.arange(top.n_players), top.players),
    }
    frame: pd.DataFrame = pandas.DataFrame(columns).iloc[top.ranking]
    return frame
