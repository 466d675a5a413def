"""Local explanation of one prediction: the features of a row are the players."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from topshap.core.validation import front_door
from topshap.games.base import PlayerGroups
from topshap.games.imputers import Imputer, ImputerOptions, background_for, make_imputer
from topshap.games.links import apply_link
from topshap.games.masked_game import MaskedGame, as_prediction
from topshap.games.player_values import values_of_players

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.games.imputers import ImputerName
    from topshap.games.links import LinkName


@front_door
class PredictionGame(MaskedGame):
    """A local explanation: v(S) is the prediction of a model for x when only the features in S are known.

    Parameters
    ----------
    predict
        A function from rows to numbers, such as ``model.predict`` or ``model.predict_proba``. Its argument has the type
        of `background`: a data frame with the same columns and dtypes, or an array with the same columns.
    x
        The row to explain: an array, a Series, a dict, or a data frame of one row. Named values are matched by name.
    background
        Rows that replace absent features, usually training data or a sample of it: an array, or a data frame of pandas,
        Polars, PyArrow or another library that narwhals supports (needs the extra ``topshap[frames]``). Also an object
        with the attributes ``data``, an array of numbers, and ``weights``, such as the result of ``shap.kmeans``; the
        Gaussian imputers do not take one.
    output
        The output of `predict` to explain, if it has several: the name of a class if `predict` is a method of a model
        with ``classes_``, otherwise a position. With ``"all"`` a coalition has one value per output, for the same
        number of predictions.
    imputer
        The values of features outside S. ``"mean-mode"``: the mean of numeric columns, rounded for integer columns to
        keep their dtype, and the most frequent value of all others; missing values are ignored. ``"baseline"``: the
        values of the single row of `background`. ``"marginal"``: the values of each background row in turn, with the
        predictions averaged (interventional Shapley values). ``"conditional"``: the same, but rows are weighted by
        their similarity to x in the features of S, with a Gaussian kernel of 0.1 standard deviations per feature.
        ``"gaussian"``: `draws` values from the normal distribution with the mean and the covariance of `background`,
        given the features of S, with the predictions averaged; for numeric columns, which the model gets as floats.
        ``"gaussian-copula"``: the same, but each column keeps its distribution in `background`. ``"missing"``: missing
        values (nan), or `missing_value`, for models that accept them; integers become floats.
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
        function only: x, background, options and players are always part of the fingerprint.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> def predict(X):
    ...     return 2.0 * X[:, 0] + X[:, 1] * X[:, 2]
    >>> game = PredictionGame(predict, x=[1.0, 2.0, 3.0], background=[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    >>> game(np.array([[False, False, False], [False, True, True], [True, True, True]]))
    array([2., 8., 8.])
    >>> topshap.identify(game, k=2).estimates
    array([0., 3., 3.])
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        x: Any,
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
        own = rows.like(x)
        players = PlayerGroups(whole.labels(feature_names), groups, always)
        as_categories = {players.find(label, "categorical") for label in categorical or ()}
        settings = ImputerOptions(draws, random_state, missing_value)
        chosen = make_imputer(imputer, whole, own, as_categories, settings)
        super().__init__(prediction, own, chosen, players, link=link, batch_bytes=batch_bytes, fingerprint=fingerprint)
        self._distances = chosen.squared_distances if isinstance(chosen, Imputer) else None
        self._background_rows = rows
        self.player_values = values_of_players(own, rows, players)
        """The value of each player in x; None for groups, except for one-hot columns, where it is the category."""

    def zoomed(self, players: Sequence[int]) -> Self:
        """Return the game whose players are the columns of some players; the other columns of x are always known.

        Parameters
        ----------
        players
            The positions of players, such as groups of columns.

        Examples
        --------
        >>> groups = {"size": ["width", "height"]}
        >>> names = ["width", "height", "age"]
        >>> rows = [[0, 0, 0], [1, 1, 1]]
        >>> game = PredictionGame(lambda rows: rows.sum(axis=1), [1, 2, 3], rows, groups=groups, feature_names=names)
        >>> game.zoomed([0]).player_names
        ('width', 'height')
        """
        game = super().zoomed(players)
        game.player_values = values_of_players(self._own, self._background_rows, game._groups)  # noqa: SLF001 - same class
        return game

    @property
    def dummies(self) -> NDArray[np.bool_]:
        """Players known to contribute nothing, shape (n,): x and all rows that replace it have the same value.

        With ``imputer="conditional"`` and the Gaussian imputers there are none: a known feature changes the values
        that replace others, even if all background rows have its value.
        """
        dummies: NDArray[np.bool_] = self._dummies()[0]
        return dummies

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """The names of the outputs with ``output="all"``, otherwise None."""
        return self._prediction.names(self._rows.n_outputs) if self._prediction.several else None

    @property
    def output_name(self) -> str:
        """The description of the output that is explained."""
        return self._prediction.output_name

    def _values(self, present: Coalitions) -> Values:
        averages = apply_link(self._link, self._rows.averages(present)[:, 0])
        return averages if self._prediction.several else averages[:, 0]

    def _parts(self) -> dict[str, Any]:
        return self._common_parts() | {"distances": self._distances}


def option_names() -> tuple[str, ...]:
    """Return the names of the options of `PredictionGame` that do not depend on the row or the model.

    Examples
    --------
    >>> option_names()
    ('imputer', 'groups', 'always', 'categorical', 'feature_names', 'link', 'draws', 'missing_value', 'batch_bytes')
    """
    parameters = inspect.signature(PredictionGame).parameters.values()
    options = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    return tuple(name for name in options if name not in ("output", "random_state", "fingerprint"))
