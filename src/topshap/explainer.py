"""Explainer: from a model and data to the k features behind a prediction."""

from __future__ import annotations

import logging
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.explanations import Explanations
from topshap.core.extras import import_extra
from topshap.core.known_dummies import players_to_play, with_dummies
from topshap.core.limits import default_budget
from topshap.core.options import OPTION_DEFAULTS, CheckedOptions, keyword_options, lists_options, refuse_unknown
from topshap.core.pairs import n_candidates
from topshap.core.player_values import check_player_values
from topshap.core.validation import check_bool, check_int, check_names, front_door, refuse
from topshap.entrypoints import RunOptions, identify
from topshap.evaluation.parallel import in_order
from topshap.evaluation.store.per_game import function_name, store_of_game
from topshap.games.active_players import ActivePlayers
from topshap.games.backgrounds import Background, as_background
from topshap.games.outputs import explained_errors
from topshap.games.predicted_class import PredictedClass, explained_output
from topshap.games.prediction import PredictionGame, option_names
from topshap.games.predictions import PredictionsGame
from topshap.games.row_outputs import RowOutputs
from topshap.games.tables import as_table, dense_table
from topshap.global_importance import (
    MOST_PARTS,
    HowEvaluated,
    Settings,
    importance_by_loss,
    importance_by_magnitude,
    refuse_for_magnitudes,
)
from topshap.many_rows import TogetherRun
from topshap.row_results import RowResults
from topshap.sharing import shares

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    from topshap.core.clear_gap import HowMany
    from topshap.core.importance_result import ImportanceKind, Population, TopImportance
    from topshap.core.result import TopK
    from topshap.core.typing import Players
    from topshap.evaluation import Store
    from topshap.games.imputers import ImputerName
    from topshap.games.links import LinkName
    from topshap.games.losses import LossName
    from topshap.games.tables import Table
    from topshap.sharing import Share

_log = logging.getLogger("topshap")

_RUN_OPTIONS = keyword_options(identify)
_GAME_OPTIONS = {name: keyword_options(PredictionGame)[name] for name in option_names()}
_GAME_OPTIONS["imputer"] = _GAME_OPTIONS["imputer"].replace(default="marginal")
_AVERAGED = ("marginal", "conditional")
"""The imputers whose cost grows with the number of background rows."""


class ExplainerOptions(RunOptions, total=False):
    """The options of an `Explainer`: those of `PredictionGame`, and those of `identify` as defaults."""

    imputer: ImputerName
    groups: Mapping[str, Iterable[Any]] | None
    always: Iterable[Any] | None
    categorical: Iterable[Any] | None
    feature_names: Sequence[str] | None
    link: LinkName
    draws: int
    missing_value: Any
    batch_bytes: int


@front_door
class Explainer:
    """Find the k features behind each prediction of a model.

    Parameters
    ----------
    model_or_predict
        A fitted model with ``predict_proba`` or ``predict``, a torch module, or a function from rows to numbers.
    background
        The rows that replace unknown features, usually the training data: an array or a data frame (pandas, Polars,
        PyArrow, ...), or a weighted summary such as that of ``shap.kmeans``, which is used as it is.
    output
        The name of the class to explain, or the position of a function's output. By default it is the probability of
        the class that the model predicts for the row; the decision function of this class, if the classifier has no
        probabilities; the highest output of a torch module with several; and the prediction of a regressor.
    max_background
        The maximum number of background rows of the imputers ``"marginal"`` and ``"conditional"``, which predict every
        coalition once per row; None for all rows. If there are more, a sample is used for all explanations. It depends
        only on the `random_state` of the explainer if that is an int; otherwise the seed is 0. The other imputers use
        all rows.
    **options
        Options of `topshap.games.PredictionGame` (imputer, groups, always, categorical, feature_names, link, draws,
        missing_value, batch_bytes); and of `topshap.identify` (budget, epsilon, rank_by, random_state, ...) as defaults
        for every explanation. The default `imputer` is ``"marginal"``: unknown features take their values from the
        background rows, and the predictions are averaged. ``"mean-mode"`` and ``"missing"`` need one prediction per
        coalition. The draws of ``"gaussian"`` and ``"gaussian-copula"`` have the seed of the sample of background rows.
        ``link="logit"`` explains log-odds instead of probabilities. Each row is a separate game: if the file given as
        ``store`` belongs to another row, the values are kept in a file next to it, whose name ends in digits of the
        game's fingerprint. Pass a `topshap.Store` to name the model.

    Attributes
    ----------
    output_name : str
        The output that is explained, for example ``"predict_proba of the predicted class"``; `TopK.output_name` names
        the class of one row.

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
    Explainer(predict_proba of the predicted class, 30 columns, imputer='marginal', 100 of 569 background rows)
    >>> top = explainer.explain(X.iloc[19], k=2)
    >>> top.output_name, top.names
    ('predict_proba of class 1', ('worst texture', 'radius error'))
    """

    @lists_options(_GAME_OPTIONS | _RUN_OPTIONS)
    def __init__(
        self,
        model_or_predict: Any,
        background: Any,
        *,
        output: Any = None,
        max_background: int | None = 100,
        **options: Unpack[ExplainerOptions],
    ) -> None:
        refuse_unknown(options, Explainer)
        given: dict[str, Any] = dict(options)
        self._game_options = {name: given.pop(name) for name in _GAME_OPTIONS if name in given}
        self._game_options.setdefault("imputer", _GAME_OPTIONS["imputer"].default)
        self._run_options = given
        CheckedOptions(**{name: value for name, value in given.items() if name in OPTION_DEFAULTS})
        if max_background is not None:
            max_background = check_int("max_background", max_background, low=1)
        everything = as_background(background)
        self._n_background = everything.table.n_rows
        self._background = self._sampled(everything, max_background)
        self._game_options["random_state"] = self._seed
        self._model = model_or_predict
        first = self._background.table.rows(np.array([0])).data
        self._output = explained_output(model_or_predict, output, first)
        self.output_name = self._output.output_name
        # Creating a game now reports at once if model, background and options do not fit together.
        game = self.game(first)
        self._players, self._output_names = game.player_names or (), game.output_names
        self._player_of = game.player_of
        _log.info("Explainer explains %s of %s.", self.output_name, type(model_or_predict).__name__)

    def __repr__(self) -> str:
        imputer, used = self._game_options["imputer"], self._background.table.n_rows
        sample = f", {used} of {self._n_background} background rows" if used < self._n_background else ""
        return (
            f"Explainer({self.output_name}, {len(self._background.table.labels)} columns, imputer={imputer!r}{sample})"
        )

    @property
    def _seed(self) -> int:
        """The seed of the sample of background rows and of conditional draws."""
        seed = self._run_options.get("random_state")
        return int(seed) if isinstance(seed, Integral) else 0

    def _sampled(self, background: Background, most: int | None) -> Background:
        """Return the background, or a sample of its rows if there are too many for the imputer."""
        rows = background.table
        if most is None or rows.n_rows <= most or self._game_options["imputer"] not in _AVERAGED:
            return background
        if background.weights is not None:  # a summary that the user has chosen
            return background
        _log.info("Explainer sampled %d of %d background rows (seed %d).", most, rows.n_rows, self._seed)
        return Background(rows.sample(most, self._seed))

    def game(self, x: Any) -> PredictionGame:
        """Return the game of one row: the value of a set of features is the prediction when only they are known."""
        return self._game(x)

    def _game(self, x: Any, fingerprint: str | None = None) -> PredictionGame:
        output, rows = self._output, self._background.table
        prediction = output.for_row(rows.like(x).data) if isinstance(output, PredictedClass) else output
        return PredictionGame(prediction, x, self._background, fingerprint=fingerprint, **self._game_options)

    @front_door
    @lists_options(_RUN_OPTIONS)
    def explain(self, x: Any, k: HowMany = 5, **options: Unpack[RunOptions]) -> TopK:
        """Find the k features with the highest Shapley values in the prediction for one row: those that raise it most.

        Features that are known to contribute nothing, since all rows that replace them have the same value, are not
        played: their estimates are 0.

        Parameters
        ----------
        x
            The row: an array, a Series, a dict, or a frame of one row.
        k
            The number of features, or groups of features, to find; of pairs of them with ``order=2``; or ``"clear"``,
            see `topshap.identify`.
        **options
            Options of `topshap.identify`, such as budget, epsilon or random_state, in place of the explainer's. With
            ``rank_by="magnitude"`` the features with the largest effect are found, whether they raise the prediction
            or lower it.

        Returns
        -------
        TopK
            The features found, all estimates, their uncertainty and their cost. With ``output="all"``, a `TopKs` with
            one result per output; with ``order=2``, a `TopPairs`.
        """
        refuse_unknown(options, Explainer.explain)
        chosen: Any = {**self._run_options, **options}
        order = 1 if isinstance(k, str) else self._check_k(k, chosen)
        store = chosen.pop("store", None)
        game = self._game(x, function_name(store))
        names, values = game.player_names, check_player_values(game.player_values, game.n_players)
        if isinstance(k, str) or game.output_names is not None:  # a clear gap may be next to a dummy
            return identify(game, k=k, store=store_of_game(store, game), **chosen)
        players = players_to_play(game.dummies, k, guaranteed=chosen.get("epsilon") is not None, order=order)
        if len(players) == game.n_players:
            return identify(game, k=k, store=store_of_game(store, game), **chosen)
        names = check_names(chosen.pop("player_names", None), game.n_players) or names
        smaller = ActivePlayers(game, players)
        least = min(k, n_candidates(len(players), order))
        top = identify(smaller, k=least, store=store_of_game(store, smaller), **chosen)
        return with_dummies(top, players, game.n_players, k, names=names, values=values)

    @front_door
    @lists_options(_RUN_OPTIONS)
    def explain_many(
        self, X: Any, k: int = 5, *, share: Share = "auto", refine: bool = False, **options: Unpack[RunOptions]
    ) -> Explanations:
        """Explain each row of a table; see `explain`.

        Parameters
        ----------
        X
            The rows, as an array or a data frame.
        k
            The number of features, or groups of features, to find for each row.
        share
            Whether rows share their coalitions: every coalition is evaluated for all rows at once, and one Gaussian
            process serves all rows. With one background row, as with ``imputer="mean-mode"``, groups of up to 15 rows
            with the same known dummies have coalitions of their own, and share calls of the model and the fit of the
            hyper-parameters. ``"auto"``: from 8 rows on, up to 200 features, with a budget of at least two
            evaluations per feature; not with `epsilon`, `stop` or an algorithm other than ``"odd-gp"``.
        refine
            Whether half of the budget is for coalitions that rows share, and half for rows whose top k is in doubt,
            which choose coalitions of their own; `budget` is then an average over the rows. The sets are right more
            often, and the values of other features are less accurate. It needs rows that share coalitions. It is
            refused with `callback`, since there is no race to pass to it, with ``ordered=True``, since own coalitions
            are chosen for the border of the top k only, and with ``counting="calls"``.
        **options
            Options of `topshap.identify`. ``budget`` is the number of evaluations of each row. ``n_jobs`` is the number
            of workers; the results are the same for any number. ``progress=True`` shows one progress bar with the time
            left and needs the extra ``topshap[progress]``. Rows that share coalitions share a file of the ``store``.

        Returns
        -------
        Explanations
            One `TopK` per row, in order; with ``output="all"``, one per row and output.
        """
        refuse_unknown(options, Explainer.explain_many)
        chosen: dict[str, Any] = {**self._run_options, **options}
        self._check_k(k, chosen)
        table = as_table("X", X)
        n_rows, n_players = table.n_rows, len(self._players)
        budget = chosen.get("budget") or default_budget(n_players)
        together = shares(share, chosen, n_values=n_rows, n_players=n_players, budget=budget)
        if together:
            return self._explain_together(table, k, chosen, refine=check_bool("refine", refine))
        if check_bool("refine", refine):
            refuse("refine", refine, must_be="False where rows do not share coalitions; see 'share'")
        return self._explain_one_by_one(table, k, options)

    def _explain_one_by_one(self, table: Table, k: int, options: RunOptions) -> Explanations:
        n_jobs, progress = options.pop("n_jobs", None), options.pop("progress", False)
        rows = [table.rows(np.array([i])).data for i in range(table.n_rows)]
        results: Iterable[TopK] = in_order(partial(self.explain, k=k, **options), rows, n_jobs)
        if progress:
            tqdm = import_extra("tqdm.auto", extra="progress", needed_by="progress=True").tqdm
            results = tqdm(results, total=len(rows), unit="row")
        return Explanations(list(results), output_names=self._output_names)

    def _explain_together(self, table: Table, k: int, options: dict[str, Any], *, refine: bool) -> Explanations:
        game_of, positions = self._games_of(self._background.table.all_like(table.data), options)
        run = TogetherRun(game_of, table.n_rows, k, options, refine=refine)
        results = RowResults(
            run.explain(),
            n_players=len(self._players),
            k=k,
            player_names=check_names(options.get("player_names"), len(self._players)) or run.game.player_names,
            player_values=run.game.player_table,
            names_of_outputs=self._output_names or self._names_of_rows(positions, table.n_rows),
            outputs_per_row=len(self._output_names or ("",)),
        )
        return Explanations(results, data=results.player_values, output_names=self._output_names)

    def _games_of(
        self, own: Table, options: Mapping[str, Any]
    ) -> tuple[Callable[..., PredictionsGame | RowOutputs], Players | None]:
        """Return the games of some of the rows as a function of their positions, and the predicted class of each row.

        The function takes a background other than the explainer's as well. There are no predicted classes if the same
        output is explained for all rows.
        """
        output, named = self._output, function_name(options.get("store"))
        positions = None
        if isinstance(output, PredictedClass):
            with explained_errors():
                positions = output.positions(own.data)

        def game_of(index: Players, background: Background = self._background) -> PredictionsGame | RowOutputs:
            prediction = output.all_classes if isinstance(output, PredictedClass) else output
            part = own.rows(index).data
            game = PredictionsGame(prediction, part, background, fingerprint=named, **self._game_options)
            return game if positions is None else RowOutputs(game, positions[index])

        return game_of, positions

    @front_door
    def importance(
        self,
        X: Any,
        y: Any = None,
        k: int = 5,
        *,
        by: ImportanceKind | None = None,
        loss: LossName | Callable[..., Any] | None = None,
        population: Population = "table",
        budget: int | None = None,
        epsilon: float | None = None,
        delta: float = 0.05,
        random_state: Any = None,
        player_names: Iterable[str] | None = None,
        n_jobs: int | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> TopImportance:
        """Find the k features that are most important to the model over the rows of a table, without retraining.

        Rows are sampled, not swept: each sampled row is evaluated for a few coalitions of its own, and covariates that
        are known for all rows, such as the values of the features and the predictions, correct for the rows that were
        not sampled. By mean magnitude and with ``imputer="marginal"``, different background rows replace the absent
        features of different coalitions. If the budget covers at least three coalitions per feature for every row, the
        loss is instead evaluated for the same coalitions on all rows.

        Parameters
        ----------
        X
            The rows, as an array or a data frame; preferably not those that the model was trained on.
        y
            The target of these rows, for ``by="loss"``.
        k
            The number of features, or groups of features, to find.
        by
            ``"loss"``: how much a feature reduces the loss of the model, as in `topshap.games.LossGame` (SAGE values).
            ``"mean_abs"``: the mean magnitude of its Shapley values over the rows, as in the bar plot of shap. By
            default ``"loss"`` if `y` is given.
        loss
            ``"mse"``, ``"mae"``, ``"log-loss"`` or a function of (y, prediction); see `topshap.games.LossGame`.
        population
            ``"table"``: the result is about the rows of X, and rows add no uncertainty once all of them were sampled.
            ``"infinite"``: X is itself a sample, and the result is about the population it was drawn from.
        budget
            The number of evaluations, each of one coalition for one row: as many predictions as there are background
            rows, less those of equal masked rows. By default 1000 per feature; with `epsilon`, 20 visits of all rows.
            Predictions with no feature known and with all known are not counted.
        epsilon
            Stop as soon as no feature left out is more important than one in the set by more than `epsilon`, with
            probability at least 1 - `delta`. This is asymptotic: it assumes that enough rows were sampled for the
            estimates to be normal and their covariance to be known. It is corrected for all pairs of features and for
            repeated looks. Rows of great importance that are rare may be missed.
        delta
            The allowed probability of an error larger than `epsilon`.
        random_state
            A seed or a numpy Generator; by default the explainer's.
        player_names
            One name per feature or group; by default those of the columns.
        n_jobs
            The number of workers, -1 for one per processor; None for the number of joblib's context. The result is the
            same for any number.
        store
            The file in which the predictions of all evaluations are kept, or a `topshap.Store` that names the model.
            The same call with the same `random_state` resumes where an earlier one was interrupted or killed.
        progress
            Whether to show a progress bar, which needs the extra ``topshap[progress]``. With `epsilon` a run may end
            long before its budget is spent.

        Returns
        -------
        TopImportance
            A `TopK` for importance, with the parts of the standard errors that are due to rows and to coalitions. Of
            the explainer's own options for races, `random_state`, `player_names`, `n_jobs`, `store` and `progress` are
            defaults here; the others are not used.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(LinearRegression().fit(X, y), X, random_state=0)
        >>> explainer.importance(X, y, k=2).names
        ('s5', 'bmi')
        """
        names = check_names(player_names or self._run_options.get("player_names"), len(self._players))
        settings = Settings.checked(
            k=check_int("k", k, low=1, high=len(self._players)),
            by=by or ("mean_abs" if y is None else "loss"),
            population=population,
            budget=budget,
            epsilon=epsilon,
            delta=delta,
            random_state=self._run_options.get("random_state") if random_state is None else random_state,
            player_names=names or self._players,
        )
        defaults = self._run_options
        how = HowEvaluated(
            n_jobs=defaults.get("n_jobs") if n_jobs is None else n_jobs,
            store=defaults.get("store") if store is None else store,
            progress=check_bool("progress", progress) or bool(defaults.get("progress")),
        )
        own = self._background.table.all_like(dense_table("X", X).data)
        if settings.by == "loss":
            options = self._game_options
            return importance_by_loss(
                self._model, own, y, self._background, loss=loss, game_options=options, settings=settings, how=how
            )
        refuse_for_magnitudes(y=y, loss=loss, output_names=self._output_names)
        game_of, _ = self._games_of(own, {"store": how.store})
        # An average of games, one per background row, unless their weights or the link depend on the coalition.
        averages = (
            self._game_options["imputer"] == "marginal" and self._game_options.get("link", "identity") == "identity"
        )
        parts = self._background.parts(MOST_PARTS if averages else 1)
        return importance_by_magnitude(
            game_of, parts, own, self._player_of, output_name=self.output_name, settings=settings, how=how
        )

    def _names_of_rows(self, positions: Players | None, n_rows: int) -> list[str]:
        """Return the name of the output that is explained for each row."""
        if positions is None or not isinstance(self._output, PredictedClass):
            return [self.output_name] * n_rows
        names = {position: self._output.at(position).output_name for position in np.unique(positions).tolist()}
        return [names[position] for position in positions.tolist()]

    def _check_k(self, k: Any, options: Mapping[str, Any]) -> int:
        """Check the number of features or pairs to find, and return the order."""
        order = check_int("order", options.get("order", 1), low=1, high=2)
        check_int("k", k, low=1, high=max(1, n_candidates(len(self._players), order)))
        return order
