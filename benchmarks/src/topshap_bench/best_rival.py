"""The best of several rivals, chosen in other runs than those in which it is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def error_of_best(errors: Mapping[str, Sequence[float]]) -> float:
    """Return the mean error of the best rival, which every run takes from the other runs.

    The smallest of several measured errors is biased downwards. Here, the error of a run is that of the rival with the
    smallest mean error in all other runs. Rivals with fewer runs than others do not take part. With a single run, there
    are no others, and the smallest error is returned.

    Parameters
    ----------
    errors
        The errors of the runs of each rival. The runs of all rivals have the same order.

    Examples
    --------
    >>> error_of_best({"a": [0.0, 2.0], "b": [1.0, 1.0]})  # in the first run b seems better, in the second a
    1.5
    """
    most = max(len(runs) for runs in errors.values())
    table = np.array([runs for runs in errors.values() if len(runs) == most])
    if most == 1:
        return float(table.min())
    others = table.sum(axis=1, keepdims=True) - table
    return float(np.mean(table[np.argmin(others, axis=0), np.arange(most)]))
