"""What plots of many rows share: the output and the players that are shown, and the colours of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, refuse
from topshap.show.labels import shorten_all

if TYPE_CHECKING:
    from topshap.core.explanations import Explanations
    from topshap.core.typing import Matrix, Players, Values

LOW, MIDDLE, HIGH = "#0B4F9E", "#8F8FA8", "#F2A100"
"""The colours of low, medium and high values: they differ in brightness as well as in hue."""


def one_output(tops: Explanations, output: int | str | None) -> Explanations:
    """Return the explanations of one output; refuse several if none of them is chosen."""
    if len(tops) == 0:
        refuse("tops", must_be="explanations of at least one row", got="none")
    if tops.n_outputs is None:
        return tops if output is None else tops.output(output)
    if output is None and tops.n_outputs > 1:
        names = ", ".join(map(repr, (tops.output_names or range(tops.n_outputs))[:10]))
        refuse("output", None, must_be=f"given, since there are {tops.n_outputs} outputs: {names}")
    return tops.output(0 if output is None else output)


def most_important(values: Values, k: int) -> Players:
    """Return the indices of the k players with the largest mean magnitudes, in order."""
    k = check_int("k", k, low=1)
    return np.argsort(-values, kind="stable")[:k]


def labels_of(names: tuple[str, ...], players: Players) -> list[str]:
    """Return the short labels of some players."""
    return shorten_all(names[i] for i in players)


def evenly_spaced(n: int, most: int) -> Players:
    """Return at most `most` positions, evenly spaced among n."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)


def relative_values(numbers: Values) -> Values:
    """Return values scaled to [0, 1], with their 5% and 95% quantiles at the ends; nan where unknown.

    Examples
    --------
    >>> relative_values(np.array([1.0, 2.0, np.nan, 3.0])).round(2)
    array([0. , 0.5, nan, 1. ])
    """
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == 0:
        return np.full(len(numbers), np.nan)
    low, high = np.quantile(finite, [0.05, 0.95])
    if high <= low:
        low, high = float(finite.min()), float(finite.max())
    width = high - low or 1.0
    return np.clip((numbers - low) / width, 0.0, 1.0) if high > low else np.where(np.isnan(numbers), np.nan, 0.5)


def swarm_offsets(values: Values, limits: tuple[float, float], *, bins: int = 100) -> Values:
    """Return offsets in [-1, 1] that spread points with similar values, wider where there are more of them.

    Examples
    --------
    >>> swarm_offsets(np.array([0.0, 0.0, 0.0, 1.0]), (0.0, 1.0))
    array([ 0.   ,  0.125, -0.125,  0.   ])
    """
    low, high = limits
    places = np.clip((values - low) / (high - low or 1.0) * bins, 0, bins - 1).astype(np.intp)
    order = np.argsort(places, kind="stable")
    counts = np.bincount(places, minlength=bins)
    within = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    level = np.empty(len(values))
    level[order] = (within + 1) // 2 * np.where(within % 2, 1.0, -1.0) + 0.0  # not -0.0
    return level / max(8.0, float(np.abs(level).max(initial=0.0)))


def heat_map_order(estimates: Matrix, order: str, predictions: Values, *, anchors: int = 500) -> Players:
    """Return the order of rows: as given, by prediction, or such that similar rows are next to each other.

    With many rows, some of them are clustered, and each of the others is placed next to the most similar of these.
    """
    if order == "given":
        return np.arange(len(estimates))
    if order == "prediction":
        return np.argsort(-predictions, kind="stable")
    chosen = evenly_spaced(len(estimates), anchors)
    leaf = _leaf_positions(estimates[chosen])
    scale = float(np.abs(estimates).max()) or 1.0
    points, centres = estimates / scale, estimates[chosen] / scale
    nearest: Any = np.empty(len(points), dtype=np.intp)
    for start in range(0, len(points), 2000):
        part = points[start : start + 2000]
        nearest[start : start + 2000] = ((centres**2).sum(axis=1) - 2.0 * part @ centres.T).argmin(axis=1)
    return np.lexsort((-predictions, leaf[nearest]))


def _leaf_positions(estimates: Matrix) -> Players:
    """Return the place of each row in the leaves of a hierarchical clustering."""
    if len(estimates) < 3:
        return np.arange(len(estimates))
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 - slow to import

    scale = float(np.abs(estimates).max()) or 1.0
    return np.argsort(leaves_list(linkage(estimates / scale, method="ward")))
