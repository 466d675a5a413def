"""Local explanations of many rows at once: the features are the players, and each row is an output of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.errors import GameError, ParameterError
from topshap.core.validation import front_door
from topshap.games.base import PlayerGroups
from topshap.games.imputers import ImputerOptions, background_for, make_imputer
from topshap.games.links import apply_link
from topshap.games.masked_game import MaskedGame, as_prediction
from topshap.games.player_values import table_of_players
from topshap.games.tables import dense_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix
    from topshap.games.imputers import ImputerName
    from topshap.games.links import LinkName


@front_door
class PredictionsGame(MaskedGame):
    """Local explanations of many rows: v(S) are the predictions of a model when only the features in S are known.

    All rows share the evaluated coalitions. The values are those of one `PredictionGame` per row, but the model is
    called with many masked rows at a time, and masked rows that are equal are predicted once: for each coalition, those
    of rows to explain that agree in the features of S and of background rows that agree in all others; and those that
    are equal between coalitions, as far as they fit into `batch_bytes`.

    Parameters
    ----------
    predict
        A function from rows to numbers, such as ``model.predict`` or ``model.predict_proba``. Its argument has the type
        of `background`: a data frame with the same columns and dtypes, or an array with the same columns.
    X
        The rows to explain: an array or a data frame. The columns of a frame are matched by name.
    background
        Rows that replace absent features; see `PredictionGame`. Large backgrounds are usually sampled.
    output
        The output of `predict` to explain, if it has several: the name of a class if `predict` is a method of a model
        with ``classes_``, otherwise a position. With ``"all"`` each row has one value per output, for the same number
        of predictions.
    imputer
        The values of features outside S: ``"mean-mode"``, ``"baseline"``, ``"missing"``, ``"marginal"``,
        ``"conditional"``, ``"gaussian"`` or ``"gaussian-copula"``; see `PredictionGame`.
    groups
        A dict from a player's name to its columns, such as all columns of a one-hot encoding. Each column that is not
        in a group is a separate player.
    always
        Columns or groups that are always known and are therefore not players.
    categorical
        Numeric columns that hold categories: ``"mean-mode"`` uses their most frequent value.
    feature_names
        The names of the columns, if the background has none or repeated ones.
    link
        The scale of the values. ``"identity"``: the averaged prediction. ``"logit"``: the log-odds of the averaged
        prediction, a probability, which is clipped to [1e-12, 1 - 1e-12].
    draws
        The number of conditional draws with the Gaussian imputers: the predictions per coalition.
    missing_value
        The value of absent features with ``imputer="missing"``, by default a missing value.
    random_state
        The seed of the draws. A coalition has the same value every time.
    batch_bytes
        The approximate memory of the rows in one call to `predict`, in bytes; a call has at most 65,536 rows.
    fingerprint
        A name for `predict` in stores, if it cannot be fingerprinted; see `topshap.core.fingerprints`. It replaces the
        function only: X, background, options and players are always part of the fingerprint.

    Attributes
    ----------
    n_rows : int
        The number of rows R.
    outputs_per_row : int
        The number of outputs C of the model that are explained; 1 unless ``output="all"``.
    n_outputs : int
        The number of values of a coalition, R C.

    Examples
    --------
    >>> def predict(X):
    ...     return 2.0 * X[:, 0] + X[:, 1]
    >>> game = PredictionsGame(predict, [[1.0, 2.0], [3.0, 4.0]], background=[[0.0, 0.0], [2.0, 0.0]])
    >>> game(np.array([[False, False], [False, True], [True, True]]))
    array([[ 2.,  2.],
           [ 4.,  6.],
           [ 4., 10.]])
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        X: Any,
        background: Any,
        *,
        output: Any = None,
        imputer: ImputerName = "mean-mode",
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        categorical: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        link: LinkName = "identity",
        draws: int = 100,
        missing_value: Any = None,
        random_state: int = 0,
        batch_bytes: int = 2**26,
        fingerprint: str | None = None,
    ) -> None:
        prediction = as_prediction(predict, output)
        whole = background_for(imputer, background, missing_value)
        rows = whole.table
        own = rows.all_like(dense_table("X", X).data)
        players = PlayerGroups(whole.labels(feature_names), groups, always)
        as_categories = {players.find(label, "categorical") for label in categorical or ()}
        settings = ImputerOptions(draws, random_state, missing_value)
        chosen = make_imputer(imputer, whole, own, as_categories, settings)
        # Weights by similarity depend on which columns are categories; everything else is in the rows themselves.
        self._weighting = {"categorical": sorted(as_categories)} if chosen.conditional else {}
        super().__init__(prediction, own, chosen, players, link=link, batch_bytes=batch_bytes, fingerprint=fingerprint)
        self._own, self._background = own, rows
        self.n_rows, self.outputs_per_row = self._rows.n_own, self._rows.n_outputs
        self.n_outputs = self.n_rows * self.outputs_per_row

    @property
    def player_table(self) -> NDArray[Any]:
        """The value of each player in each row, shape (rows, n); None for groups that are not one-hot columns."""
        return table_of_players(self._own, self._background, self._groups)

    @property
    def n_replacing(self) -> int:
        """The number of rows, or draws, that replace absent features; 1 with ``"mean-mode"`` or ``"missing"``."""
        return self._rows.n_replacing

    @property
    def output_names(self) -> tuple[str, ...]:
        """One name per value of a coalition, in their order: ``"row 0"``, or ``"row 0, setosa"`` with all outputs."""
        rows = [f"row {i}" for i in range(self.n_rows)]
        if not self._prediction.several:
            return tuple(rows)
        return tuple(f"{row}, {name}" for row in rows for name in self._prediction.names(self.outputs_per_row))

    @property
    def dummies(self) -> NDArray[np.bool_]:
        """Players known to contribute nothing to a row, shape (rows, n): the row and all rows that replace it agree.

        With ``imputer="conditional"`` and the Gaussian imputers there are none: a known feature changes the values
        that replace others, even if all background rows have its value.

        Examples
        --------
        >>> PredictionsGame(lambda X: X[:, 0], [[1.0, 2.0], [3.0, 0.0]], [[1.0, 0.0]], imputer="baseline").dummies
        array([[ True, False],
               [False,  True]])
        """
        return self._dummies()

    def evaluate_for(self, coalitions: Coalitions, wanted: NDArray[np.bool_]) -> Matrix:
        """Evaluate each coalition for some of the rows only.

        Parameters
        ----------
        coalitions
            A bool array of shape (m, n).
        wanted
            A bool array of shape (m, rows): the rows that each coalition is evaluated for.

        Returns
        -------
        ndarray of shape (m, rows x outputs)
            The values as the game itself returns them, and nan for the outputs of all other rows.

        Examples
        --------
        >>> game = PredictionsGame(lambda X: X[:, 0], [[1.0, 2.0], [3.0, 4.0]], background=[[0.0, 0.0]])
        >>> game.evaluate_for(np.array([[True, False], [True, True]]), np.array([[True, False], [True, True]]))
        array([[ 1., nan],
               [ 1.,  3.]])
        """
        checked, asked = check_coalitions(coalitions, self.n_players), np.asarray(wanted)
        if asked.dtype != np.bool_ or asked.shape != (len(checked), self.n_rows):
            shape = (len(checked), self.n_rows)
            got = f"Got {asked.dtype} of shape {asked.shape} instead."
            raise ParameterError.about("wanted", f"must be a bool array of shape {shape}. {got}")
        return self._evaluate(self._groups.present(checked), asked)

    def _values(self, present: Coalitions) -> Matrix:
        return self._evaluate(present, None)

    def _evaluate(self, present: Coalitions, wanted: NDArray[np.bool_] | None) -> Matrix:
        averages = self._rows.averages(present, wanted)
        infinite = ~np.isfinite(averages)
        if wanted is not None:
            infinite &= wanted[:, :, None]
        if infinite.any():
            coalition, row, output = np.argwhere(infinite)[0]
            got = f"{averages[coalition, row, output]} for row {row} and coalition {coalition}"
            raise GameError(f"The model must predict finite numbers. Their average is {got}.")
        return apply_link(self._link, averages).reshape(len(present), self.n_outputs)

    def _parts(self) -> dict[str, Any]:
        return self._common_parts() | {"n_rows": self.n_rows} | self._weighting
