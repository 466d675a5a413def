"""Levels: the top players, and the top elements of these players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.bindings import bound
from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from topshap.core.result import TopK
    from topshap.core.typing import Players


@dataclass(frozen=True, eq=False)
class Levels:
    """Two results: one for players, and one for the elements of some of them. It is the result of `TopK.zoom`.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.TextGame(
    ...     lambda texts: [text.count("good") for text in texts],
    ...     ["good", "plot", "and", "so", "on"],
    ...     groups={"first": [0, 1], "second": [2, 3, 4]},
    ... )
    >>> levels = topshap.identify(game, k=1).zoom(game, k=1)
    >>> levels.outer.names, levels.inner.names
    (('first',), ('good',))
    """

    outer: TopK
    """The result for the players."""
    inner: TopK
    """The result for the elements of some players; all other players are present in every coalition."""
    parents: Players
    """The player that each element belongs to, an index of `outer`."""

    def __post_init__(self) -> None:
        parents = np.asarray(self.parents)
        if parents.shape != (self.inner.n_players,) or not np.isin(parents, np.arange(self.outer.n_players)).all():
            must_be = f"must have one player of 'outer' for each of the {self.inner.n_players} players of 'inner'."
            raise ParameterError.about("parents", f"{must_be} Got {self.parents!r} instead.")

    @property
    def evaluations(self) -> int:
        """The number of evaluations of both runs."""
        return self.outer.evaluations + self.inner.evaluations

    def elements_of(self, player: int) -> Players:
        """Return the elements of a player, best first, as indices of `inner`."""
        ranking = self.inner.ranking
        return ranking[np.asarray(self.parents)[ranking] == player]

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw both levels, see `topshap.show.levels`. Needs the extra ``topshap[plots]``."""
        axes: Axes = bound("plot_levels")(self, ax, **options)
        return axes

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report on both levels to a single HTML file that needs no network and no script.

        Parameters
        ----------
        path
            The file to write.
        title
            The title of the report.
        """
        bound("levels_to_html")(self, path, title=title)

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return str(bound("levels_notebook_html")(self))

    def __str__(self) -> str:
        """Return the headline, the nested leaderboard and the promises of both runs as text."""
        return str(bound("text_levels")(self))
