"""TopKSelector: the k features that a model needs most, as a scikit-learn selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import EvaluationError
from topshap.core.extras import import_extra
from topshap.core.validation import check_int, parameters_of
from topshap.entrypoints import identify
from topshap.evaluation import Oracle
from topshap.games.retraining import RetrainingGame
from topshap.games.scoring import check_estimator

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from topshap.core.typing import Coalition
    from topshap.evaluation import Store

import_extra("sklearn", extra="sklearn", needed_by="TopKSelector")  # a message that helps comes before the imports

from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier  # noqa: E402 - after the check above
from sklearn.feature_selection import SelectorMixin  # noqa: E402 - after the check above
from sklearn.utils import check_random_state, get_tags  # noqa: E402 - after the check above
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402 - after the check above
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402 - after the check above


class TopKSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Select the k features with the highest Shapley values in the score of a model that is trained on them.

    The value of a set of features is how much better than a constant the estimator scores when it is trained on them
    alone; see `topshap.games.RetrainingGame`. Features that say the same share what they say, so of copies of a strong
    feature each has a part of its value.

    Parameters
    ----------
    estimator
        A classifier or regressor, cloned for each set of features.
    k
        How many features to select, or groups of features.
    scoring
        A name of scikit-learn's scorers, a function of (estimator, X, y), or None for the estimator's own score.
    cv
        How the score is taken: folds, a splitter, (train, test) positions, or a float, the share of rows of one test
        split.
    budget
        How many sets of features may be tried, 50 per feature by default. Each takes as many fits as there are splits.
    epsilon, delta
        Stop as soon as no feature left out is ahead of a selected one by more than `epsilon`, with a probability of at
        least 1 - `delta`.
    groups
        A dict of a name to columns that are selected or left out together.
    n_jobs
        How many sets are tried at a time, as joblib counts them. The result is the same for any number.
    random_state
        A seed, for a selection that can be repeated; also for every ``random_state`` in the estimator that is None.
    store
        A file in which every score is kept as soon as it is known, or a `topshap.Store`: see `topshap.identify`.

    Attributes
    ----------
    result_ : TopK
        All estimates, how sure they are and what they cost.
    support_ : ndarray of bool
        Which columns are selected.
    n_features_in_ : int
        How many columns there were.
    feature_names_in_ : ndarray of str
        What they are called, if they have names.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = make_regression(n_features=8, n_informative=2, shuffle=False, random_state=0)
    >>> selector = TopKSelector(LinearRegression(), k=2, budget=60, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True), selector.transform(X).shape
    (array([0, 1]), (100, 2))
    """

    def __init__(
        self,
        estimator: Any,
        k: int = 5,
        *,
        scoring: Any = None,
        cv: Any = 5,
        budget: int | None = None,
        epsilon: float | None = None,
        delta: float = 0.05,
        groups: Mapping[str, Iterable[Any]] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        store: Store | str | os.PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.scoring = scoring
        self.cv = cv
        self.budget = budget
        self.epsilon = epsilon
        self.delta = delta
        self.groups = groups
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    def fit(self, X: Any, y: Any) -> TopKSelector:
        """Find the features.

        Parameters
        ----------
        X
            The data: an array, a sparse matrix, or a DataFrame, which the estimator gets as such.
        y
            The target.

        Returns
        -------
        TopKSelector
            Itself.
        """
        with parameters_of(TopKSelector):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> TopKSelector:
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
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        game = RetrainingGame(
            self.estimator,
            X if hasattr(X, "columns") else checked,
            y,
            scoring=self.scoring,
            cv=self.cv,
            groups=self.groups,
            random_state=seed,
        )
        k = check_int("k", self.k, low=1, high=game.n_players)
        oracle = Oracle(game, n_jobs=self.n_jobs, store=self.store, retries=0)  # a fit that fails would fail again
        try:
            self.result_ = identify(
                oracle, k=k, budget=self.budget, epsilon=self.epsilon, delta=self.delta, random_state=seed
            )
        except EvaluationError as error:
            raise error.__cause__ or error from None  # what the estimator says, with a note on the features
        self.support_ = np.isin(game.player_of, self.result_.players)
        return self

    def _get_support_mask(self) -> Coalition:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        tags.target_tags.required = True
        return tags
