"""Importance: the mean magnitude of each player's Shapley value over many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.bindings import bound
from topshap.statistics.folded_normal import folded_normal_moments

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from topshap.core.explanations import Explanations
    from topshap.core.typing import Players, Values


@dataclass(frozen=True, eq=False)
class Importance:
    """The mean magnitude of each player's Shapley value over many rows, with standard errors.

    Examples
    --------
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0, 0.0], np.zeros((1, 3)), random_state=0)
    >>> importance = explainer.explain_many([[1.0, 1.0, 1.0], [-2.0, -1.0, 5.0]], k=1).importance()
    >>> importance.values, importance.ranking
    (array([1.5, 2. , 0. ]), array([1, 0, 2]))
    """

    names: tuple[str, ...]
    """The names of all players; indices as text if they have none."""
    values: Values
    """The mean magnitudes, shape (players,) or (outputs, players)."""
    std_errors: Values
    """Their standard errors, nan if there is only one row."""
    n_rows: int
    """The number of rows."""
    output_names: tuple[str, ...] | None = None
    """The names of the outputs, None if they have none."""

    def __post_init__(self) -> None:
        self.values.flags.writeable = False
        self.std_errors.flags.writeable = False

    @property
    def ranking(self) -> Players:
        """The indices of all players, most important first; with several outputs, by the sum over them."""
        total = self.values if self.values.ndim == 1 else self.values.sum(axis=0)
        return np.argsort(-total, kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame, most important players first. Needs the extra ``topshap[pandas]``."""
        frame: pd.DataFrame = bound("importance_to_frame")(self)
        return frame

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the mean magnitudes as bars, see `topshap.show.bar`. Needs the extra ``topshap[plots]``."""
        axes: Axes = bound("plot_bar")(self, ax, **options)
        return axes

    def __str__(self) -> str:
        """Return the most important players as text."""
        return str(bound("text_importance")(self))


def importance_of(tops: Explanations) -> Importance:
    """Return the importance of all players in some explanations; see `Explanations.importance`."""
    rows = len(tops)
    if rows == 0:
        unknown = np.full(tops.estimates.shape[1:], np.nan)
        return Importance(tops.all_names, unknown, unknown.copy(), 0, tops.output_names)
    # Squares of very large or small numbers are not floats; a power of two changes no digit.
    scale = 2.0 ** int(np.frexp(np.abs(tops.estimates).max())[1])
    magnitudes, variances = folded_normal_moments(tops.estimates / scale, tops.std_errors / scale)
    between = magnitudes.var(axis=0, ddof=1) if rows > 1 else np.full(magnitudes.shape[1:], np.nan)
    errors = np.sqrt((between + variances.mean(axis=0)) / rows)
    return Importance(tops.all_names, scale * magnitudes.mean(axis=0), scale * errors, rows, tops.output_names)
