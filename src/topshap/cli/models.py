"""Models for raw tables: pipelines that encode categories and impute missing values."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from topshap.cli.tables import Task
from topshap.core.extras import import_extra

MOST_CATEGORIES = 30
"""The maximum number of categories of a column; less frequent ones are combined."""


class Model(StrEnum):
    """The kinds of models."""

    forest = "forest"
    linear = "linear"
    boosting = "boosting"


def make_model(kind: Model, task: Task, seed: int) -> Any:
    """Return a scikit-learn pipeline for columns of numbers and text with missing values.

    Forests and boosted trees get missing numbers unchanged, and categories as codes. For the linear model, missing
    numbers are replaced by the median with an indicator column, numeric columns are standardised, and each category
    becomes a column. The columns are selected in `fit`, so the pipeline can be trained on any subset of them.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"rooms": [1.0, None, 3.0, 4.0], "city": ["Graz", "Linz", None, "Graz"]})
    >>> make_model(Model.linear, Task.regression, seed=0).fit(X, [1.0, 2.0, 3.0, 4.0]).predict(X).shape
    (4,)
    """
    compose = _sklearn("compose")
    numbers, categories = _encoders(kind)
    is_number = compose.make_column_selector(dtype_include="number")
    is_other = compose.make_column_selector(dtype_exclude="number")
    columns = compose.ColumnTransformer([("numbers", numbers, is_number), ("categories", categories, is_other)])
    return _sklearn("pipeline").Pipeline([("columns", columns), ("model", _estimator(kind, task, seed))])


def _encoders(kind: Model) -> tuple[Any, Any]:
    preprocessing = _sklearn("preprocessing")
    if kind is not Model.linear:
        codes = preprocessing.OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=-1,
            encoded_missing_value=np.nan,
            max_categories=MOST_CATEGORIES,
        )
        return "passthrough", codes
    fill = _sklearn("impute").SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    one_each = preprocessing.OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES)
    return _sklearn("pipeline").make_pipeline(fill, preprocessing.StandardScaler()), one_each


def _estimator(kind: Model, task: Task, seed: int) -> Any:
    classifies = task is Task.classification
    if kind is Model.linear:
        linear = _sklearn("linear_model")
        return linear.LogisticRegression(max_iter=1000, random_state=seed) if classifies else linear.Ridge()
    ensemble = _sklearn("ensemble")
    if kind is Model.forest:
        forest = ensemble.RandomForestClassifier if classifies else ensemble.RandomForestRegressor
        return forest(20, random_state=seed)
    boosting = ensemble.HistGradientBoostingClassifier if classifies else ensemble.HistGradientBoostingRegressor
    return boosting(max_iter=50, early_stopping=False, random_state=seed)


def _sklearn(module: str) -> Any:
    return import_extra(f"sklearn.{module}", extra="sklearn", needed_by="training a model")
