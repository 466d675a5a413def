"""TopKSelector: a scikit-learn selector of the k features that a model needs most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import EvaluationError, UncertainResultWarning, warn_caller
from topshap.core.extras import import_extra
from topshap.core.options import OPTION_DEFAULTS, refuse_unknown, takes_options
from topshap.core.validation import check_int, parameters_of, refuse
from topshap.entrypoints import identify
from topshap.evaluation import Oracle
from topshap.evaluation.store.per_game import function_name, store_of_game
from topshap.games.retraining import RetrainingGame
from topshap.games.scoring import check_estimator

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Self, Unpack

    from topshap.core.options import RaceOptions
    from topshap.core.typing import Coalition
    from topshap.evaluation import Store
    from topshap.show.progress import Progress

import_extra("sklearn", extra="sklearn", needed_by="TopKSelector")  # its error names the extra

from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier  # noqa: E402 - after the check above
from sklearn.feature_selection import SelectorMixin  # noqa: E402 - after the check above
from sklearn.utils import check_random_state, get_tags  # noqa: E402 - after the check above
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402 - after the check above
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402 - after the check above

SURE = 0.5
"""A result with a lower probability of being right is reported with a warning."""


class TopKSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Select the k features with the highest Shapley values in the score of a model that is trained on them.

    The value of a set of features is the score of the estimator trained on them alone, minus that of a constant
    prediction; see `topshap.games.RetrainingGame`. Redundant features share their value: each of two copies of a strong
    feature has half of it.

    Parameters
    ----------
    estimator
        A classifier or regressor. It is cloned for each set of features.
    k
        The number of features, or groups of features, to select.
    scoring
        The name of a scikit-learn scorer, a function of (estimator, X, y), or None for the estimator's own score.
    cv
        The cross-validation: a number of folds, a splitter, (train, test) positions, or a float, the fraction of rows
        in a single test split.
    groups
        A dict from a name to columns that are selected or left out together.
    n_jobs
        The number of feature sets that are scored in parallel, as in joblib. The result is the same for any number.
    store
        A file that keeps every score as soon as it is known, or a `topshap.Store` with a name for the estimator. If the
        file belongs to other data, for example to another fold of a search, the scores are kept in a file next to it,
        whose name ends in digits of the game's fingerprint. Set ``random_state`` so that a second fit finds the scores
        of the first.
    progress
        Whether to show a progress bar, or ``"live"`` for a leaderboard: see `topshap.identify`.
    **options
        The options of a race, see `topshap.RaceOptions`: budget, epsilon, delta, guarantee, value_range, stop,
        algorithm, rank_by, counting, player_names, random_state; ``order=2`` is refused. An evaluation is one set of
        features, which takes as many fits as there are splits. ``random_state`` is an int, a RandomState or None, as
        in scikit-learn; it also sets every ``random_state`` in the estimator that is None.

    Warns
    -----
    topshap.UncertainResultWarning
        In `fit`, if the estimated probability that the selected features are the best is below 50%.

    Attributes
    ----------
    result_ : TopK
        The features found, all estimates, their uncertainty and their cost.
    support_ : ndarray of bool
        Whether each column is selected.
    n_features_in_ : int
        The number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        The names of the columns seen by `fit`, if they have names.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = make_regression(n_features=8, n_informative=2, shuffle=False, random_state=0)
    >>> selector = TopKSelector(LinearRegression(), k=2, budget=60, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True), selector.transform(X).shape
    (array([0, 1]), (100, 2))
    """

    @takes_options
    def __init__(
        self,
        estimator: Any,
        k: int = 5,
        *,
        scoring: Any = None,
        cv: Any = 5,
        groups: Mapping[str, Iterable[Any]] | None = None,
        n_jobs: int | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        progress: Progress = False,
        **options: Unpack[RaceOptions],
    ) -> None:
        refuse_unknown(options, TopKSelector)
        self.estimator = estimator
        self.k = k
        self.scoring = scoring
        self.cv = cv
        self.groups = groups
        self.n_jobs = n_jobs
        self.store = store
        self.progress = progress
        for name, value in (OPTION_DEFAULTS | dict(options)).items():
            setattr(self, name, value)

    def fit(self, X: Any, y: Any) -> Self:
        """Find the features.

        Parameters
        ----------
        X
            The data: an array, a sparse matrix or a data frame. The estimator is trained on the same kind.
        y
            The target.

        Returns
        -------
        TopKSelector
            The fitted selector.
        """
        with parameters_of(TopKSelector):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        check_estimator(self.estimator)
        tags = get_tags(self)
        checked, y = validate_data(
            self,
            X,
            y,
            dtype=None,
            accept_sparse="csr" if tags.input_tags.sparse else False,
            ensure_all_finite=not tags.input_tags.allow_nan,
            ensure_min_samples=2,
            multi_output=True,
        )
        if is_classifier(self.estimator):
            check_classification_targets(y)
        seed = self._draw_seed()
        game = RetrainingGame(
            self.estimator,
            X if hasattr(X, "columns") else checked,
            y,
            scoring=self.scoring,
            cv=self.cv,
            groups=self.groups,
            random_state=seed,
            fingerprint=function_name(self.store),
        )
        if check_int("order", self.order, low=1, high=2) != 1:
            refuse("order", self.order, must_be="1, since a selector selects features, not pairs of them")
        k = check_int("k", self.k, low=1, high=game.n_players)
        store = self._store_of(game)
        oracle = Oracle(game, n_jobs=self.n_jobs, store=store, retries=0)  # a fit that fails would fail again
        options: Any = {name: getattr(self, name) for name in OPTION_DEFAULTS} | {"random_state": seed}
        try:
            self.result_ = identify(oracle, k=k, progress=self.progress, **options)
        except EvaluationError as error:
            raise error.__cause__ or error from None  # the estimator's own error, with a note on the features
        self._warn_if_uncertain()
        self.support_ = np.isin(game.player_of, self.result_.players)
        return self

    def _store_of(self, game: RetrainingGame) -> Any:
        """Return the store of this data."""
        return store_of_game(self.store, game)

    def _warn_if_uncertain(self) -> None:
        """Warn if the result is more likely wrong than right, by its own estimate."""
        top = self.result_
        if top.confidence >= SURE:
            return
        unknown = np.isnan(top.confidence)
        likely = "not known" if unknown else f"{top.confidence:.0%}"
        tied = f" {len(top.tied)} more are tied with the last one selected." if len(top.tied) > 0 else ""
        warn_caller(
            f"The probability that these are the {top.k} best features is {likely}, after {top.evaluations} "
            f"evaluations.{tied} A larger 'budget' makes the result more certain.",
            UncertainResultWarning,
        )

    def _draw_seed(self) -> int:
        """Return the seed of the race and of the estimators, drawn as scikit-learn does."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _get_support_mask(self) -> Coalition:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        # A pipeline does not declare whether its steps take missing values; a step that rejects them raises an error.
        tags.input_tags.allow_nan = inner.allow_nan or hasattr(self.estimator, "steps")
        tags.input_tags.sparse = inner.sparse
        tags.target_tags.required = True
        return tags
