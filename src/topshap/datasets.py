"""The tables of "Antithetic Sampling for Top-k Shapley Identification", each with the paper's features as columns.

Diabetes and wine come with scikit-learn. The others are read from a folder of CSV files, given as `folder` or by the
environment variable ``TOPSHAP_DATASETS``, or else fetched from OpenML by scikit-learn, which keeps a copy. OpenML's
titanic has all 1309 passengers and no passenger number, which their position then is; it does not have the days of bike
sharing, whose file ``day.csv`` is in the UCI repository.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra
from topshap.core.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

Task: TypeAlias = Literal["classification", "regression"]

FOLDER_VARIABLE = "TOPSHAP_DATASETS"
"""The environment variable that names the folder."""


class Dataset(NamedTuple):
    """A table, what is to be predicted from it, and which kind of prediction that is."""

    X: pd.DataFrame
    y: Any
    task: Task


@dataclass(frozen=True)
class _Source:
    task: Task
    target: str
    files: tuple[str, ...]
    """Names of files that may hold the table."""
    columns: tuple[str, ...]
    """The features."""
    openml: int | None
    """The number of the table on OpenML."""
    openml_columns: tuple[str, ...] = ()
    """What the features are called there, where it differs; '' for one that is not there, the row's position."""


def load_dataset(name: str, *, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load one of the paper's tables. Needs the extras ``topshap[sklearn,pandas]``.

    Parameters
    ----------
    name
        ``"adult"``, ``"bank-marketing"``, ``"bike-sharing"``, ``"diabetes"``, ``"german-credit"``, ``"titanic"`` or
        ``"wine"``.
    folder
        Where the CSV files are. By default what the environment variable ``TOPSHAP_DATASETS`` says, and without it
        OpenML.

    Returns
    -------
    Dataset
        The features ``X``, a DataFrame with missing values as they are, the target ``y`` and the ``task``.

    Examples
    --------
    >>> X, y, task = load_dataset("diabetes")
    >>> X.shape, task
    ((442, 10), 'regression')
    """
    check_choice("name", name, NAMES)
    if name in _SHIPPED:
        datasets = import_extra("sklearn.datasets", extra="sklearn", needed_by="load_dataset")
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        return Dataset(X, y, _SHIPPED[name])
    source = _SOURCES[name]
    where = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    frame = _fetch(name, source) if where is None else _read(source, Path(where))
    missing = [column for column in (*source.columns, source.target) if column not in frame.columns]
    if missing:
        raise ParameterError(f"The table {name!r} must have the columns {missing}, and has {list(frame.columns)}.")
    return Dataset(frame[list(source.columns)], frame[source.target], source.task)


def _read(source: _Source, folder: Path) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="load_dataset")
    for file in source.files:
        if (folder / file).exists():
            return pandas.read_csv(folder / file)
    names = " or ".join(repr(file) for file in source.files)
    raise ParameterError(
        f"The 'folder' parameter of load_dataset must be a folder with the file {names}. Got {str(folder)!r} instead."
    )


def _fetch(name: str, source: _Source) -> Any:
    if source.openml is None:
        raise ParameterError(
            f"The 'folder' parameter of load_dataset must be given for {name!r}, or the environment variable "
            f"{FOLDER_VARIABLE} be set: a folder with the file {source.files[-1]!r} of the UCI repository."
        )
    datasets = import_extra("sklearn.datasets", extra="sklearn", needed_by="load_dataset")
    try:
        data, target = datasets.fetch_openml(data_id=source.openml, as_frame=True, return_X_y=True, parser="auto")
    except OSError as error:  # no network, or OpenML does not answer
        raise ParameterError(
            f"The table {name!r} could not be fetched from OpenML ({error}). The 'folder' parameter of load_dataset "
            f"or the environment variable {FOLDER_VARIABLE} can name a folder with {source.files[-1]!r} instead."
        ) from error
    frame = data.copy()
    for column, theirs in zip(source.columns, source.openml_columns or source.columns, strict=True):
        frame[column] = range(1, len(data) + 1) if theirs == "" else data[theirs]
    frame[source.target] = target.to_numpy()
    return frame


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SHIPPED: dict[str, Task] = {"diabetes": "regression", "wine": "classification"}

_SOURCES = {
    "adult": _Source(
        "classification",
        "class",
        ("adult.csv.gz", "adult.csv"),
        _words(
            "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
            "capital-loss hours-per-week native-country"
        ),
        openml=1590,
    ),
    "bank-marketing": _Source(
        "classification",
        "y",
        ("bank_marketing.csv.gz", "bank_marketing.csv"),
        _words(
            "age job marital education default balance housing loan contact day month duration campaign pdays previous "
            "poutcome"
        ),
        openml=1461,
        openml_columns=tuple(f"V{i}" for i in range(1, 17)),
    ),
    "bike-sharing": _Source(
        "regression",
        "cnt",
        ("bike_sharing_day.csv.gz", "day.csv"),
        _words(
            "instant dteday season yr mnth holiday weekday workingday weathersit temp atemp hum windspeed casual "
            "registered"
        ),
        openml=None,
    ),
    "german-credit": _Source(
        "classification",
        "class",
        ("german_credit.csv.gz", "german_credit.csv"),
        _words(
            "status duration credit_history purpose amount savings employment installment_rate personal_status_sex "
            "other_debtors residence_since property age other_installment housing existing_credits job num_dependents "
            "telephone foreign_worker"
        ),
        openml=31,
        openml_columns=_words(
            "checking_status duration credit_history purpose credit_amount savings_status employment "
            "installment_commitment personal_status other_parties residence_since property_magnitude age "
            "other_payment_plans housing existing_credits job num_dependents own_telephone foreign_worker"
        ),
    ),
    "titanic": _Source(
        "classification",
        "Survived",
        ("titanic.csv.gz", "titanic.csv", "train.csv"),
        _words("PassengerId Pclass Name Sex Age SibSp Parch Ticket Fare Cabin Embarked"),
        openml=40945,
        openml_columns=("", "pclass", "name", "sex", "age", "sibsp", "parch", "ticket", "fare", "cabin", "embarked"),
    ),
}

NAMES = tuple(sorted([*_SHIPPED, *_SOURCES]))
"""The names that `load_dataset` knows."""
