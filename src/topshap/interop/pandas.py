"""Results as pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd

    from topshap.core.result import TopK


def to_frame(top: TopK) -> pd.DataFrame:
    """Return all players of a result as a DataFrame, best first, with their values in the explained input if known."""
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
    if top.player_values is not None:
        columns["player_value"] = pandas.Series(list(top.player_values), dtype=object)
    frame: pd.DataFrame = pandas.DataFrame(columns).iloc[top.ranking]
    return frame
