"""Explainer: from a model and data to the k features behind a prediction."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door
from topshap.entrypoints import identify
from topshap.evaluation.parallel import in_order
from topshap.games.outputs import prediction_of
from topshap.games.prediction import PredictionGame, option_names
from topshap.games.tables import as_table
from topshap.interop.shap import many_to_shap

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from topshap.core.result import TopK
    from topshap.games.tables import Table

_log = logging.getLogger("topshap")


@front_door
class Explainer:
    """The k features behind each prediction of a model.

    Parameters
    ----------
    model_or_predict
        A fitted model with ``predict_proba`` or ``predict``, a torch module, or a function from rows to numbers. Of a
        classifier the probability of the positive class (the second of two) is explained, of a regressor its
        prediction; `picked` says which it is.
    background
        Rows to fill in from, as an array, a pandas or a polars DataFrame; usually training data or a sample of it.
    output
        Which class to explain, by name, where there are more than two; or which output of a function, by position.
    **options
        Options of `topshap.games.PredictionGame` (imputer, groups, always, categorical, feature_names, batch_bytes)
        and, as defaults for every explanation, of `topshap.identify` (budget, epsilon, random_state, ...).

    Attributes
    ----------
    picked : str
        Which output is explained, in words.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> explainer = Explainer(model, X, random_state=0)
    >>> explainer
    Explainer(predict_proba of class 1, 30 columns, imputer='mean-mode')
    >>> explainer.explain(X.iloc[19], k=2).names
    ('worst texture', 'radius error')
    """

    def __init__(self, model_or_predict: Any, background: Any, *, output: Any = None, **options: Any) -> None:
        self._prediction = prediction_of(model_or_predict, output)
        self.picked = self._prediction.output_name
        self._background: Table = as_table("background", background)
        self._game_options = {name: options.pop(name) for name in option_names() if name in options}
        _check_options(options)
        self._options = options
        # A game for the first row finds out at once whether model, background and options fit together.
        self._players = self.game(self._background.rows(np.array([0])).data).player_names or ()
        _log.info("Explainer explains %s of %s.", self.picked, type(model_or_predict).__name__)

    def __repr__(self) -> str:
        imputer = self._game_options.get("imputer", "mean-mode")
        return f"Explainer({self.picked}, {len(self._background.labels)} columns, imputer={imputer!r})"

    def game(self, x: Any) -> PredictionGame:
        """Return the game about one row: the value of a set of features is the prediction that knows them alone."""
        return PredictionGame(self._prediction, x, self._background.data, **self._game_options)

    @front_door
    def explain(self, x: Any, k: int = 5, **options: Any) -> TopK:
        """Find the k features with the highest Shapley values in the prediction for one row: those that raise it most.

        Parameters
        ----------
        x
            The row: an array, a Series, a dict, or a frame of one row.
        k
            How many features, or groups of features, to find.
        **options
            Options of `topshap.identify`, such as budget, epsilon or random_state; with ``rank_by="magnitude"`` it
            finds the features that matter most, whether they raise the prediction or lower it.

        Returns
        -------
        TopK
            The features found, all estimates, how sure they are and what they cost.
        """
        self._check_k(k)
        return identify(self.game(x), k=k, **(self._options | options))

    @front_door
    def explain_many(
        self, X: Any, k: int = 5, *, n_jobs: int | None = None, progress: bool = False, **options: Any
    ) -> Explanations:
        """Explain each row of a table; see `explain`.

        Parameters
        ----------
        X
            The rows, as an array, a pandas or a polars DataFrame.
        k
            How many features, or groups of features, to find for each row.
        n_jobs
            How many rows to explain at a time, as joblib counts them. The results are the same for any number.
        progress
            Whether to show a progress bar over the rows. Needs the extra ``topshap[progress]``.
        **options
            Options of `topshap.identify`.

        Returns
        -------
        Explanations
            One `TopK` per row, in order.
        """
        self._check_k(k)
        table = as_table("X", X)
        rows = [table.rows(np.array([i])).data for i in range(table.n_rows)]
        results: Iterable[TopK] = in_order(partial(self.explain, k=k, **options), rows, n_jobs)
        if progress:
            tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
            results = tqdm(results, total=len(rows), unit="row")
        return Explanations(list(results), self._cells(table))

    def _cells(self, table: Table) -> NDArray[Any] | None:
        """Return what each player is in each row; None with groups, which have no single value."""
        if len(self._players) != len(table.labels):
            return None
        columns = [table.column(j) for j in range(len(table.labels))]
        return np.stack(columns, axis=1) if columns else None

    def _check_k(self, k: Any) -> None:
        check_int("k", k, low=1, high=len(self._players))


def _check_options(options: dict[str, Any]) -> None:
    """Refuse what no game and no run takes now, not when the first row is explained."""
    of_a_run = {
        name for name, given in inspect.signature(identify).parameters.items() if given.kind is given.KEYWORD_ONLY
    }
    for name in options.keys() - of_a_run:
        raise TypeError(f"Explainer got an unexpected keyword argument {name!r}")


class Explanations(Sequence["TopK"]):
    """The results for several rows, in order: a sequence of `TopK` that turns into one explanation for plots.

    Examples
    --------
    >>> import topshap
    >>> explainer = Explainer(lambda X: X @ [1.0, -2.0, 0.0], np.zeros((1, 3)))
    >>> tops = explainer.explain_many([[1.0, 1.0, 1.0], [-1.0, -1.0, 5.0]], k=1)
    >>> [top.names for top in tops], len(tops)
    ([('0',), ('1',)], 2)
    """

    def __init__(self, results: Sequence[TopK], data: NDArray[Any] | None = None) -> None:
        self._results, self._data = list(results), data

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> TopK: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: int | slice) -> TopK | Explanations:
        if isinstance(index, slice):
            return Explanations(self._results[index], None if self._data is None else self._data[index])
        return self._results[index]

    def __repr__(self) -> str:
        return f"<{len(self)} explanations>"

    def to_shap(self) -> Any:
        """Return one ``shap.Explanation`` of all rows, for beeswarm and bar plots. Needs ``topshap[shap]``."""
        return many_to_shap(self._results, self._data)

    def to_frame(self) -> pd.DataFrame:
        """Return the players of all rows as one DataFrame, with the column ``row``. Needs ``topshap[pandas]``."""
        pandas = import_extra("pandas", extra="pandas", needed_by="to_frame")
        frames = [top.to_frame().assign(row=row) for row, top in enumerate(self._results)]
        frame: pd.DataFrame = pandas.concat(frames, ignore_index=True)
        return frame
