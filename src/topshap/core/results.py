"""TopKs: the immutable result of a race on a game with several outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from topshap.core.bindings import bound
from topshap.core.covariances import covariance_of
from topshap.core.history import History
from topshap.core.result import TopK
from topshap.core.validation import front_door

if TYPE_CHECKING:
    import os

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from topshap.core.covariances import Covariances
    from topshap.core.player_values import PlayerValue
    from topshap.core.result import Stopped
    from topshap.core.stopping import Guarantee
    from topshap.core.typing import Matrix, Players, Values
    from topshap.core.usage import Usage
    from topshap.statistics.ranking import RankBy


@dataclass(frozen=True, eq=False)
class TopKs(Sequence[TopK]):
    """The results for all outputs of a game: a sequence of `TopK`, one per output, made when they are accessed.

    `identify` returns it for a game whose answers have the shape (m, R). All outputs share the evaluated coalitions.
    A slice is a `TopKs` of some of the outputs.

    Examples
    --------
    >>> import topshap
    >>> def game(coalitions):  # two outputs of the same coalition
    ...     return coalitions @ np.array([[3.0, 0.0], [1.0, 1.0], [2.0, 5.0]])
    >>> tops = topshap.identify(game, 3, k=1, player_names=["age", "sex", "bmi"])
    >>> tops.names, tops.estimates.shape, tops.evaluations
    ([('age',), ('bmi',)], (2, 3), 8)
    >>> tops[1].players, len(tops[:1])
    (array([2]), 1)
    >>> print(tops)
    Top 1 of 3 players for each of 2 outputs after 8 evaluations (all coalitions are known)
    0: age
    1: bmi
    Certain: all coalitions are known. It took 8 evaluations of a budget of 8.
    """

    players: Players
    """The indices of the top k of each output, best first, shape (R, k)."""
    estimates: Matrix
    """One estimated Shapley value per output and player, shape (R, n)."""
    std_errors: Matrix
    """The standard errors of the estimates, nan where unknown, shape (R, n)."""
    covariance: Covariances | None = field(repr=False)
    """The covariances of the estimates: an array of shape (R, n, n), nan for outputs without one, matrices that they
    share times a factor per output (see `topshap.core.covariances`), or None where only the standard errors are known,
    or if R * n**2 is above 2**24."""
    player_names: tuple[str, ...] | None
    """The names of all players, None if they have none."""
    output_names: tuple[str, ...] | None
    """The names of all outputs, None if they have none."""
    evaluations: int
    """The number of evaluations; of distinct coalitions, if the game is deterministic. All outputs share them."""
    calls: int
    """The number of accesses to values, including repeated ones."""
    budget: int | None
    """The budget, None without a limit."""
    epsilon: float | None
    """The tolerance, None in a race for a fixed budget."""
    delta: float | None
    """The allowed probability, for each output, of an error larger than `epsilon`; None without `epsilon`."""
    stopped: Stopped
    """Why the race ended, see `TopK.stopped`."""
    algorithm: str
    """The name of the algorithm."""
    counting: str
    """Whether the budget counts distinct coalitions (``"distinct"``) or all accesses (``"calls"``)."""
    empty: Values
    """v(empty coalition) of each output, shape (R,)."""
    grand: Values
    """v(grand coalition) of each output, shape (R,)."""
    deterministic: bool = True
    """Whether the game is deterministic; if not, `evaluations` includes repeated ones."""
    guarantee: Guarantee | None = None
    """The guarantee of a confident answer, for each output by itself; None without `epsilon`."""
    value_range: tuple[float, float] | None = None
    """The range of values that was given and checked, None if there was none."""
    rule: str | None = None
    """The `stop` criterion of the race as text, None if there was none."""
    history: History | None = field(default=None, repr=False)
    """The estimates during the race, shape (m, R, n); None if R * n is above 4096."""
    random_state: int | None = None
    """The seed, if the race was given one as an int."""
    rank_by: RankBy = "value"
    """The order in which players are ranked."""
    clear_gap: ClassVar[bool] = False
    """Always False: each output would need a k of its own."""
    ordered: bool = False
    """Whether the race was about the order of the top k, and not only about the set."""
    player_values: tuple[PlayerValue, ...] | None = None
    """The value of each player in the explained input, None if unknown; all outputs have the same input."""
    usage: Usage | None = None
    """The requests, tokens and cost of the evaluations, None unless they were calls of a language model."""
    rare_contributions: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    """For each output, whether contributions may be rare and large, so that intervals may be too optimistic."""

    def __post_init__(self) -> None:
        if len(self.rare_contributions) == 0:
            object.__setattr__(self, "rare_contributions", np.zeros(len(self.estimates), dtype=np.bool_))
        for name in (*_PER_OUTPUT, "covariance"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def k(self) -> int:
        """The number of players to find."""
        return self.players.shape[1]

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self.estimates.shape[1]

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.estimates)

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The names of the top k of each output, best first; indices as text if the players have no names."""
        return [tuple(self.name_of(i) for i in of_output) for of_output in self.players.tolist()]

    @cached_property
    def confidence(self) -> Values:
        """For each output, the estimated probability that these are the top k, shape (R,); see `TopK.confidence`."""
        return np.array([top.confidence for top in self])

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.estimates)

    @overload
    def __getitem__(self, output: int) -> TopK: ...
    @overload
    def __getitem__(self, output: slice) -> TopKs: ...
    def __getitem__(self, output: int | slice) -> TopK | TopKs:
        """Return the result for one output, or for several."""
        if isinstance(output, slice):
            return self._some(output)
        i = range(len(self))[output]  # raises an IndexError, and counts negative ones from the end
        shared = {each.name: getattr(self, each.name) for each in fields(TopK) if each.name not in _DIFFERENT}
        return TopK(
            players=self.players[i],
            estimates=self.estimates[i],
            std_errors=self.std_errors[i],
            covariance=covariance_of(self.covariance, i),
            empty=self.empty.item(i),
            grand=self.grand.item(i),
            rare_contributions=bool(self.rare_contributions[i]),
            history=_history_of(self.history, i),
            output_name=None if self.output_names is None else self.output_names[i],
            **shared,
        )

    def _some(self, outputs: slice) -> TopKs:
        if len(range(len(self))[outputs]) == 0:
            raise IndexError(f"A TopKs has at least one output; the slice {outputs} of {len(self)} has none.")
        return replace(
            self,
            covariance=None if self.covariance is None else self.covariance[outputs],
            output_names=None if self.output_names is None else self.output_names[outputs],
            history=_history_of(self.history, outputs),
            **{name: getattr(self, name)[outputs] for name in _PER_OUTPUT},
        )

    def name_of(self, i: int) -> str:
        """Return the name of a player; its index as text if the players have no names."""
        return str(i) if self.player_names is None else self.player_names[i]

    def output_name(self, i: int) -> str:
        """Return the name of an output; its index as text if the outputs have no names."""
        return str(i) if self.output_names is None else self.output_names[i]

    @front_door
    def interval(self, level: float = 0.95) -> Matrix:
        """Return an interval for every Shapley value, shape (R, n, 2); unbounded where nothing is known."""
        return np.stack([top.interval(level) for top in self])

    @property
    def headline(self) -> str:
        """The result in one line: the number of players and outputs, and the evaluations."""
        return str(bound("outputs_headline")(self))

    @property
    def promise(self) -> str:
        """One line with the guarantee, its assumptions and the cost. It is about each output by itself."""
        return str(bound("outputs_promise")(self))

    def to_frame(self) -> pd.DataFrame:
        """Return all outputs and players as a pandas DataFrame, with a column ``output``.

        The players of an output are sorted, best first. Needs the extra ``topshap[pandas]``.
        """
        frame: pd.DataFrame = bound("outputs_to_frame")(self)
        return frame

    def to_shap(self, data: Any = None) -> Any:
        """Return one ``shap.Explanation`` of shape (1, n, R), with an output axis and bounds; see `TopK.to_shap`.

        ``tops.to_shap()[0, :, r]`` is the explanation of output r. Needs the extra ``topshap[shap]``.

        Parameters
        ----------
        data
            One value per player, shown next to its name.
        """
        return bound("outputs_to_shap")(self, data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results to a JSON file; `topshap.load` restores them exactly."""
        bound("save")(self, path)

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None) -> None:
        """Write a report on all outputs to a single HTML file that needs no network.

        It has a table of the outputs, and a leaderboard for each of the first 50.

        Parameters
        ----------
        path
            The file to write.
        title
            The title of the report.
        game
            A description of the game.
        """
        bound("outputs_to_html")(self, path, title=title, game=game)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw a heat map of outputs and players, see `topshap.show.output_map`. Needs the extra ``topshap[plots]``."""
        axes: Axes = bound("plot_outputs")(self, ax, **options)
        return axes

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return str(bound("outputs_notebook_html")(self))

    def __str__(self) -> str:
        """Return the headline, one line for each of the first outputs, and the promise as text."""
        return str(bound("text_outputs")(self))


_PER_OUTPUT = ("players", "estimates", "std_errors", "empty", "grand", "rare_contributions")
"""The arrays with one row per output."""
_DIFFERENT = {*_PER_OUTPUT, "covariance", "history", "output_name", "clear_gap"}
"""The fields of a `TopK` that differ between outputs, or that a game with several outputs does not have."""


def _history_of(history: History | None, outputs: int | slice) -> History | None:
    """Return the history of one output or of several."""
    if history is None:
        return None
    return History(history.evaluations, history.estimates[:, outputs], history.std_errors[:, outputs])
