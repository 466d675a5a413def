"""Explanations: the results of many rows, for one output or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import index as as_int
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from topshap.core.bindings import bound
from topshap.core.cells import check_cells
from topshap.core.explained_rows import ExplainedRows, confidence_of, explained_outputs, first_result, player_values_of
from topshap.core.importance import Importance, importance_of
from topshap.core.row_selection import named_players, outputs_in_one_sequence, selected_positions
from topshap.core.validation import check_choice, did_you_mean, front_door, refuse
from topshap.statistics.ranking import rank_key

if TYPE_CHECKING:
    import os

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values
    from topshap.statistics.ranking import RankBy

PlotKind: TypeAlias = Literal["beeswarm", "bar", "heat_map"]
"""The plots of explanations."""


@front_door
class Explanations(Sequence[Any]):
    """The results of many rows, in order: a sequence of `TopK` with arrays, plots, one table and one report.

    An index gives the `TopK` of a row. A slice, a list of positions or a bool array gives the `Explanations` of these
    rows. With several outputs, such as the classes of a model, each item is a sequence of one `TopK` per output, and
    the arrays have a second axis for the outputs; `output` selects one of them.

    Parameters
    ----------
    results
        One `TopK` per row, or one sequence of `TopK` per row with one per output. All are for the same players, with
        the same k. If the sequence has the attributes ``players``, ``estimates``, ``std_errors``, ``empty`` and
        ``grand``, with the numbers of all its results, no `TopK` is built before it is asked for.
    data
        The value of each player in each row, shape (rows, players), None where unknown; by default the
        ``player_values`` of the results, if they have any.
    row_names
        One name per row; by default rows are counted from 0.
    output_names
        One name per output. If `results` has one `TopK` per row and output in a single sequence, with the outputs of
        the first row first, the number of names is the number of outputs.

    Attributes
    ----------
    data : numpy.ndarray or None
        The value of each player in each row, shape (rows, players).
    player_names, row_names, output_names : tuple of str or None
        The names, None if there are none.
    rank_by : str
        The order in which players are ranked.
    order : int
        1, or 2 if the results are `TopPairs`: what is said about players is then about pairs.

    Examples
    --------
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0, 0.0], np.zeros((1, 3)))
    >>> tops = explainer.explain_many([[1.0, 1.0, 1.0], [-1.0, -1.0, 5.0]], k=1)
    >>> len(tops), tops.names, tops[1].names
    (2, [('0',), ('1',)], ('1',))
    >>> tops.estimates
    array([[ 1., -2.,  0.],
           [-1.,  2.,  0.]])
    >>> tops[tops.grand > 0].estimates
    array([[-1.,  2.,  0.]])
    """

    data: NDArray[Any] | None
    player_names: tuple[str, ...] | None
    row_names: tuple[str, ...] | None
    output_names: tuple[str, ...] | None
    rank_by: RankBy
    order: int

    def __init__(
        self,
        results: Sequence[Any],
        *,
        data: Any = None,
        row_names: Iterable[Any] | None = None,
        output_names: Iterable[str] | None = None,
    ) -> None:
        outputs = _texts(output_names)
        self._rows = ExplainedRows.of(results, outputs_in_one_sequence(results, outputs))
        first = first_result(self._rows.results)
        self.player_names = None if first is None else _candidate_names(first)
        self.order = 1 if first is None else first.order
        self.rank_by = "value" if first is None else first.rank_by
        own = player_values_of(self._rows.results) if self.order == 1 else None  # pairs have no values
        cells = own if data is None else data
        self.data = check_cells(cells, len(self), self.n_players)
        self.row_names = _checked("row_names", _texts(row_names), len(self))
        self.output_names = _checked("output_names", outputs, self.n_outputs or 1)

    def __len__(self) -> int:
        return len(self._rows.estimates)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, index: Any) -> Any:
        if hasattr(index, "__index__") and not isinstance(index, np.ndarray):
            return self._rows.results[range(len(self))[as_int(index)]]
        positions = selected_positions(index, len(self))
        return self._with(
            self._rows.take(positions),
            data=None if self.data is None else self.data[positions],
            row_names=None if self.row_names is None else tuple(self.row_names[i] for i in positions),
        )

    @front_door
    def output(self, output: int | str) -> Explanations:
        """Return the explanations of one of several outputs.

        Parameters
        ----------
        output
            The position of the output, or its name.

        Examples
        --------
        >>> import topshap
        >>> classes = [topshap.identify(topshap.games.AdditiveGame(w), k=1) for w in ([2.0, 1.0], [-2.0, 3.0])]
        >>> tops = topshap.Explanations([classes], output_names=["yes", "no"])
        >>> tops.estimates.shape, tops.output("no").estimates
        ((1, 2, 2), array([[-2.,  3.]]))
        """
        if self.n_outputs is None:
            refuse("output", output, must_be="left out, since there is only one output")
        names = self.output_names or tuple(str(i) for i in range(self.n_outputs))
        if isinstance(output, str) and output not in names:
            listed = ", ".join(map(repr, names[:20]))
            refuse("output", output, must_be=f"one of {listed}", hint=did_you_mean(output, names))
        position = names.index(output) if isinstance(output, str) else range(self.n_outputs)[output]
        return self._with(self._rows.output(position), output_names=(names[position],))

    @property
    def n_players(self) -> int:
        """The number of players, or of pairs if `order` is 2."""
        return self._rows.estimates.shape[-1]

    @property
    def k(self) -> int:
        """The number of players that were looked for in each row."""
        return self._rows.players.shape[-1]

    @property
    def n_outputs(self) -> int | None:
        """The number of outputs, None if there is no axis for them."""
        return self._rows.estimates.shape[1] if self._rows.estimates.ndim == 3 else None

    @property
    def players(self) -> Players:
        """The indices of the top k of each row, best first, shape (rows, k) or (rows, outputs, k)."""
        return self._rows.players

    @property
    def estimates(self) -> Values:
        """The estimated Shapley values, shape (rows, players) or (rows, outputs, players)."""
        return self._rows.estimates

    @property
    def std_errors(self) -> Values:
        """The standard errors of the estimates, nan where unknown."""
        return self._rows.std_errors

    @property
    def empty(self) -> Values:
        """The value of the empty coalition in each row: the base value, shape (rows,) or (rows, outputs)."""
        return self._rows.empty

    @property
    def grand(self) -> Values:
        """The value of the grand coalition in each row: the prediction, shape (rows,) or (rows, outputs)."""
        return self._rows.grand

    @property
    def evaluations(self) -> int:
        """The evaluations of all rows in total; those of a row are counted once, whatever the number of outputs."""
        return int(self._rows.evaluations.sum())

    @cached_property
    def confidence(self) -> Values:
        """The estimated probability that the top k of each row is correct, shape (rows,) or (rows, outputs)."""
        return confidence_of(self._rows.results).reshape(self._rows.empty.shape)

    @property
    def names(self) -> list[Any]:
        """The names of the top k of each row, best first: tuples, or lists of one tuple per output."""
        named: list[Any] = named_players(self.players.tolist(), self.all_names)
        return named

    @cached_property
    def explained(self) -> tuple[str, ...] | None:
        """The output that each row is explained for, such as its predicted class; None if there are several."""
        return explained_outputs(self._rows.results)

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of all players; indices as text if they have none."""
        return self.player_names or tuple(str(i) for i in range(self.n_players))

    @cached_property
    def ranking(self) -> Players:
        """The indices of all players in each row, best first: the top k, then the others."""
        keys = rank_key(self.estimates, self.rank_by).copy()
        np.put_along_axis(keys, self.players, np.inf, axis=-1)
        order = np.argsort(-keys, axis=-1, kind="stable")
        order[..., : self.k] = self.players
        return order

    def importance(self) -> Importance:
        """Return the mean magnitude of each player's Shapley value over all rows, with standard errors.

        A magnitude is that of the true value, given its estimate and standard error, and not of the estimate alone,
        whose error would add to it: the mean of a folded normal distribution. The standard errors count the spread
        between rows and the uncertainty in each row. Rows are taken as independent.

        Examples
        --------
        >>> import topshap
        >>> explainer = topshap.Explainer(lambda X: X @ [1.0, -2.0, 0.0], np.zeros((1, 3)), random_state=0)
        >>> tops = explainer.explain_many([[1.0, 1.0, 1.0], [-2.0, -1.0, 5.0]], k=1)
        >>> print(tops.importance())
        Mean magnitude over 2 rows
           1  1           2
           2  0           1.5 ± 0.98
           3  2           0
        ± is the 95% interval (1.96 standard errors).
        """
        return importance_of(self)

    def to_shap(self) -> Any:
        """Return one ``shap.Explanation`` of all rows, for the plots of shap. Needs the extra ``topshap[shap]``.

        Its ``values`` have the shape (rows, players) or (rows, players, outputs), and add up to the prediction as in
        `TopK.to_shap`. Its ``data`` are numbers, so that plots can colour by them: categories are their positions in
        sorted order, and ``display_data`` has the values themselves.
        """
        return bound("many_to_shap")(self)

    @front_door
    def to_frame(self, *, wide: bool = False, probabilities: bool = False) -> pd.DataFrame:
        """Return all rows as one DataFrame. Needs the extra ``topshap[pandas]``.

        Parameters
        ----------
        wide
            Whether there is one line per row, with the estimates of all players in one column each, instead of one
            line per row and player, best first.
        probabilities
            Whether the long table has the column ``p_top_k``, each player's probability to belong to the top k of its
            row. It takes a few milliseconds per row to compute.
        """
        frame: pd.DataFrame = bound("many_to_frame")(self, wide=wide, probabilities=probabilities)
        return frame

    def to_html(self, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None) -> None:
        """Write one report on all rows to a single HTML file that needs no network.

        It shows the mean magnitudes, the values of all rows by player, and a table of rows that can be sorted and
        filtered. Each row opens to its leaderboard. With several outputs, the report has a list to choose from.

        Parameters
        ----------
        path
            The file to write.
        title
            The title of the report.
        game
            A description of the model and the data.
        """
        bound("many_to_html")(self, path, title=title, game=game)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all results to a JSON file; `topshap.load` restores them exactly.

        Values in `data` must be numbers, strings, bools or None; others are saved as text.
        """
        bound("save_many")(self, path)

    def plot(self, kind: PlotKind = "beeswarm", ax: Axes | None = None, **options: Any) -> Axes:
        """Draw all rows. Needs the extra ``topshap[plots]``.

        Parameters
        ----------
        kind
            ``"beeswarm"``, ``"bar"`` or ``"heat_map"``: see the functions of these names in `topshap.show`.
        ax
            The axes to draw on; by default those of a new figure.
        **options
            The options of the function.
        """
        check_choice("kind", kind, ("beeswarm", "bar", "heat_map"))
        axes: Axes = bound(f"plot_{kind}")(self, ax, **options)
        return axes

    def __repr__(self) -> str:
        outputs = "" if self.n_outputs is None else f", {self.n_outputs} outputs"
        what = "players" if self.order == 1 else "pairs"
        return f"<{len(self)} explanations of {self.n_players} {what}, k={self.k}{outputs}>"

    def __str__(self) -> str:
        """Return a short table of the first rows."""
        return str(bound("text_rows")(self))

    def _repr_html_(self) -> str:
        """Return the representation in a notebook."""
        return str(bound("html_rows")(self))

    def _with(self, rows: ExplainedRows, **changed: Any) -> Explanations:
        """Return a copy with other rows and some other attributes, without checking them again."""
        new = object.__new__(Explanations)
        for name in ("data", "player_names", "row_names", "output_names", "rank_by", "order"):
            setattr(new, name, changed.get(name, getattr(self, name)))
        new._rows = rows
        return new


def _candidate_names(top: TopK) -> tuple[str, ...] | None:
    """Return the names of all players, None if they have none, or those of all pairs."""
    return top.player_names if top.order == 1 else tuple(map(top.name_of, range(top.n_candidates)))


def _texts(names: Iterable[Any] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(str(name) for name in names)


def _checked(parameter: str, names: tuple[str, ...] | None, count: int) -> tuple[str, ...] | None:
    if names is not None and len(names) != count:
        refuse(parameter, must_be=f"{count} names", got=f"{len(names)} names")
    return names
