"""The paper's tables: from scikit-learn, from a folder, or from OpenML."""

from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from topshap.core.errors import ParameterError
from topshap_bench.datasets import FOLDER_VARIABLE, NAMES, TABLES, load_dataset

FEATURES = {"adult": 14, "bank-marketing": 16, "bike-sharing": 15, "german-credit": 20, "titanic": 11}
TARGET = {
    "adult": "class",
    "bank-marketing": "y",
    "bike-sharing": "cnt",
    "german-credit": "class",
    "titanic": "Survived",
}
FILES = {
    "adult": "adult.csv.gz",
    "bank-marketing": "bank_marketing.csv.gz",
    "bike-sharing": "day.csv",
    "german-credit": "german_credit.csv.gz",
    "titanic": "train.csv",
}


def columns_of(name):
    return list(TABLES[name].columns)


def test_datasets_of_scikit_learn_need_no_folder():
    assert set(NAMES) == {*FEATURES, "diabetes", "wine"}
    assert load_dataset("diabetes").X.shape == (442, 10)
    X, y, task = load_dataset("wine")
    assert (X.shape, y.nunique(), task) == ((178, 13), 3, "classification")


@pytest.mark.parametrize("name", FEATURES)
def test_a_table_is_read_from_a_folder(name, tmp_path, monkeypatch):
    columns = columns_of(name)
    assert len(columns) == FEATURES[name]
    frame = pd.DataFrame(np.arange(3 * (len(columns) + 2)).reshape(3, -1), columns=["extra", TARGET[name], *columns])
    frame.to_csv(tmp_path / FILES[name], index=False)
    given = load_dataset(name, folder=tmp_path)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    for X, y, task in (given, load_dataset(name)):
        assert list(X.columns) == columns
        pd.testing.assert_series_equal(y, frame[TARGET[name]])
        assert task == ("regression" if name == "bike-sharing" else "classification")


OPENML = {
    "adult": (1590, None),
    "bank-marketing": (1461, [f"V{i}" for i in range(1, 17)]),
    "german-credit": (31, None),
    "titanic": (
        40945,
        ["pclass", "name", "sex", "age", "sibsp", "parch", "ticket", "fare", "cabin", "embarked", "boat"],
    ),
}


@pytest.mark.parametrize("name", OPENML)
def test_without_a_folder_a_table_is_fetched_from_openml(name, monkeypatch):
    number, theirs = OPENML[name]
    theirs = theirs or list(TABLES[name].openml_columns) or columns_of(name)

    def fetch_openml(*, data_id, as_frame, return_X_y, parser):
        assert (data_id, as_frame, return_X_y) == (number, True, True)
        return pd.DataFrame({column: [column, column] for column in theirs}), pd.Series([0, 1], name="theirs")

    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    X, y, _ = load_dataset(name)
    assert list(X.columns) == columns_of(name)
    assert y.tolist() == [0, 1]
    if name == "titanic":
        assert X["PassengerId"].tolist() == [1, 2]
        assert X["Pclass"].tolist() == ["pclass", "pclass"]


def test_the_error_without_a_network_suggests_a_folder(monkeypatch):
    def fetch_openml(**_):
        raise URLError("Name or service not known")

    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    with pytest.raises(ParameterError, match=r"Cannot fetch the table 'adult' .*not known.* 'adult.csv' from a folder"):
        load_dataset("adult")


def test_missing_datasets_files_and_columns_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(ParameterError, match=r"'name' parameter of load_dataset must be 'adult', .*Got 'iris'"):
        load_dataset("iris")
    with pytest.raises(
        ParameterError, match="'bike-sharing' is not on OpenML; the environment variable TOPSHAP_DATASETS"
    ):
        load_dataset("bike-sharing")
    with pytest.raises(ParameterError, match=r"must be a folder with the file 'adult.csv.gz' or 'adult.csv'"):
        load_dataset("adult", folder=tmp_path)
    (tmp_path / "adult.csv").write_text("age,class\n1,2\n")
    with pytest.raises(ParameterError, match=r"'adult' lacks the columns \['workclass', .*It has \['age', 'class'\]"):
        load_dataset("adult", folder=tmp_path)
