"""The datasets of "Antithetic Sampling for Top-k Shapley Identification", with the paper's features as columns.

Diabetes and wine come with scikit-learn. The others are read from a folder of CSV files, given as `folder` or by the
environment variable ``TOPSHAP_DATASETS``, or fetched from OpenML by scikit-learn, which caches them. OpenML's titanic
has all 1309 passengers but no passenger number, so the row number is used instead. The daily bike sharing data is not
on OpenML; its file ``day.csv`` is in the UCI repository.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra
from topshap.core.validation import check_choice, front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

Task: TypeAlias = Literal["classification", "regression"]

FOLDER_VARIABLE = "TOPSHAP_DATASETS"
"""The environment variable with the folder of the datasets."""


class Dataset(NamedTuple):
    """The features, the target and the task of a dataset."""

    X: pd.DataFrame
    y: Any
    task: Task


@dataclass(frozen=True)
class TableSource:
    """The source of a dataset and its columns."""

    task: Task
    target: str
    files: tuple[str, ...]
    """Possible names of the file."""
    columns: tuple[str, ...]
    """The features."""
    openml: int | None
    """The id on OpenML."""
    openml_columns: tuple[str, ...] = ()
    """The names of the features on OpenML, if they differ; '' stands for the row number if a feature is missing."""


@front_door
def load_dataset(name: str, *, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load one of the paper's datasets.

    Parameters
    ----------
    name
        ``"adult"``, ``"bank-marketing"``, ``"bike-sharing"``, ``"diabetes"``, ``"german-credit"``, ``"titanic"`` or
        ``"wine"``.
    folder
        The folder with the CSV files, by default the environment variable ``TOPSHAP_DATASETS``. Without either, the
        dataset is fetched from OpenML.

    Returns
    -------
    Dataset
        The features ``X``, a DataFrame that may have missing values, the target ``y`` and the ``task``.

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
    source = TABLES[name]
    where = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    frame = _fetch(name, source) if where is None else _read(source, Path(where))
    missing = [column for column in (*source.columns, source.target) if column not in frame.columns]
    if missing:
        raise ParameterError(f"The table {name!r} lacks the columns {missing}. It has {list(frame.columns)}.")
    return Dataset(frame[list(source.columns)], frame[source.target], source.task)


def _read(source: TableSource, folder: Path) -> Any:
    pandas = import_extra("pandas", extra="pandas", needed_by="load_dataset")
    found = [folder / file for file in source.files if (folder / file).exists()]
    if not found:
        names = " or ".join(repr(file) for file in source.files)
        refuse("folder", str(folder), must_be=f"a folder with the file {names}")
    return pandas.read_csv(found[0])


def _fetch(name: str, source: TableSource) -> Any:
    if source.openml is None:
        must_be = f"a folder with the file {source.files[-1]!r} of the UCI repository, since {name!r} is not on OpenML"
        refuse("folder", None, must_be=f"{must_be}; the environment variable {FOLDER_VARIABLE} can name it as well")
    datasets = import_extra("sklearn.datasets", extra="sklearn", needed_by="load_dataset")
    try:
        data, target = datasets.fetch_openml(data_id=source.openml, as_frame=True, return_X_y=True, parser="auto")
    except OSError as error:  # no network or no response
        raise ParameterError(
            f"Cannot fetch the table {name!r} from OpenML ({error}). To read {source.files[-1]!r} from a folder "
            f"instead, pass folder= or set the environment variable {FOLDER_VARIABLE}."
        ) from error
    frame = data.copy()
    for column, theirs in zip(source.columns, source.openml_columns or source.columns, strict=True):
        frame[column] = range(1, len(data) + 1) if theirs == "" else data[theirs]
    frame[source.target] = target.to_numpy()
    return frame


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SHIPPED: dict[str, Task] = {"diabetes": "regression", "wine": "classification"}

TABLES: Mapping[str, TableSource] = {
    "adult": TableSource(
        "classification",
        "class",
        ("adult.csv.gz", "adult.csv"),
        _words(
            "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
            "capital-loss hours-per-week native-country"
        ),
        openml=1590,
    ),
    "bank-marketing": TableSource(
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
    "bike-sharing": TableSource(
        "regression",
        "cnt",
        ("bike_sharing_day.csv.gz", "day.csv"),
        _words(
            "instant dteday season yr mnth holiday weekday workingday weathersit temp atemp hum windspeed casual "
            "registered"
        ),
        openml=None,
    ),
    "german-credit": TableSource(
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
    "titanic": TableSource(
        "classification",
        "Survived",
        ("titanic.csv.gz", "titanic.csv", "train.csv"),
        _words("PassengerId Pclass Name Sex Age SibSp Parch Ticket Fare Cabin Embarked"),
        openml=40945,
        openml_columns=("", "pclass", "name", "sex", "age", "sibsp", "parch", "ticket", "fare", "cabin", "embarked"),
    ),
}

NAMES = tuple(sorted([*_SHIPPED, *TABLES]))
"""The datasets that `load_dataset` can load."""
