"""Fingerprints recorded with version 0.1.0: a store written then is still recognised as belonging to the same game.

Fingerprints depend on bytecode and on the versions of libraries. So versions are left out here, and models, scorers and
scores are from the standard library or have their own fingerprint.
"""

import operator

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from topshap import games
from topshap.core import fingerprints

FIRST_COLUMN = operator.itemgetter((slice(None), 0))
COLUMN_A = operator.itemgetter("a")
X = np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 0.0], [3.0, 5.0, 2.0], [6.0, 3.0, 2.0]])
Y = np.array([1.0, 2.0, 0.0, 1.0])


class Regressor(RegressorMixin, BaseEstimator):
    """A regressor that learns the mean."""

    fingerprint = "regressor"

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier that considers all classes equally probable."""

    fingerprint = "classifier"

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))


class Scorer:
    """The negative mean squared error."""

    fingerprint = "scorer"

    def __call__(self, estimator, X, y):
        return -float(np.mean((estimator.predict(X) - y) ** 2))


class Score:
    """A score of texts or images."""

    fingerprint = "score"

    def __call__(self, inputs):
        return [float(len(each)) for each in inputs]


def pandas_frame():
    return pd.DataFrame(
        {
            "a": [1.0, 2.0, None, 4.0],
            "kind": pd.Categorical(["u", "v", "u", "u"], categories=["u", "v", "w"]),
            "rank": pd.Categorical(["lo", "hi", "lo", "lo"], categories=["lo", "hi"], ordered=True),
            "whole": [1, 2, 3, 6],
            "flag": [True, False, True, True],
            "maybe": pd.array([1, None, 2, 3], dtype="Int64"),
        }
    )


def polars_frame():
    return pl.DataFrame(
        {
            "a": [1.0, 2.0, None, 4.0],
            "text": ["u", "v", None, "u"],
            "whole": [1, 2, 3, 6],
            "flag": [True, False, True, True],
        }
    )


def prediction(background, predict, **options):
    return games.PredictionGame(predict, background[1:2], background, **options)


GAMES = {
    "prediction-numpy": lambda: prediction(X, FIRST_COLUMN),
    "prediction-numpy-whole": lambda: prediction(X.astype(int), FIRST_COLUMN, output=0, groups={"g": [0, 2]}),
    "prediction-numpy-objects": lambda: prediction(np.array([[1.0, "u"], [2.0, None]], dtype=object), Score()),
    "prediction-pandas": lambda: prediction(pandas_frame(), COLUMN_A),
    "prediction-pandas-marginal": lambda: prediction(pandas_frame(), COLUMN_A, imputer="marginal", always=["kind"]),
    "prediction-pandas-conditional": lambda: prediction(pandas_frame(), COLUMN_A, imputer="conditional"),
    "prediction-polars": lambda: prediction(polars_frame(), COLUMN_A),
    "prediction-polars-marginal": lambda: prediction(polars_frame(), COLUMN_A, imputer="marginal"),
    "prediction-polars-conditional": lambda: prediction(polars_frame(), COLUMN_A, imputer="conditional"),
    "retraining-numpy": lambda: games.RetrainingGame(Regressor(), X, Y, cv=2, scoring=Scorer()),
    "retraining-pandas": lambda: games.RetrainingGame(Regressor(), pandas_frame(), Y, cv=2, scoring=Scorer()),
    "retraining-polars": lambda: games.RetrainingGame(Regressor(), polars_frame(), Y, cv=2, scoring=Scorer()),
    "data-numpy": lambda: games.DataGame(Regressor(), X, Y, X, Y, scoring=Scorer()),
    "data-pandas": lambda: games.DataGame(Regressor(), pandas_frame(), Y, pandas_frame(), Y, scoring=Scorer()),
    "text": lambda: games.TextGame(Score(), "to be or not", groups={"both": ["to", "be"]}),
    "image": lambda: games.ImageGame(Score(), np.eye(4), segments=np.arange(16).reshape(4, 4) // 8, fill=0.0),
    "ensemble": lambda: games.EnsembleGame([Regressor().fit(X, Y), Regressor().fit(X, Y + 1)], X, Y, scoring=Scorer()),
    "ensemble-default-score": lambda: games.EnsembleGame([Regressor().fit(X, Y), Regressor().fit(X, Y + 1)], X, Y),
    "ensemble-classifiers": lambda: games.EnsembleGame([Classifier().fit(X, Y)], X, Y),
    "unsupervised-discrete": lambda: games.UnsupervisedGame(pandas_frame(), method="discrete", bins=2),
    "unsupervised-discrete-polars": lambda: games.UnsupervisedGame(polars_frame(), method="discrete", bins=2),
    "unsupervised-discrete-numpy": lambda: games.UnsupervisedGame(X, method="discrete", bins=2),
    "per-coalition": lambda: games.per_coalition(operator.itemgetter(0), n_players=2),
    "table": lambda: games.TableGame([0.0, 1.0, 2.0, 5.0]),
    "additive": lambda: games.AdditiveGame([1.0, 2.0], baseline=3.0),
    "unanimity": lambda: games.UnanimityGame([[0, 1], [2]], [1.0, 2.0], n_players=3),
    "airport": lambda: games.AirportGame([1.0, 2.0]),
    "glove": lambda: games.GloveGame(1, 2),
    "all-or-nothing": lambda: games.AllOrNothingGame(3),
    "voting": lambda: games.VotingGame([1, 4], quota=2),
}

RECORDED = {
    "prediction-numpy": "ecf324ca62b9b107d1f1ad273efd5f4da7acc48336ac26abc2fcf7d6ff4d9eb0",
    "prediction-numpy-whole": "8ec66700ee20fe70b22e9d5f484c16f474583113667ed9584f4a3724e219a1b3",
    "prediction-numpy-objects": "0935d49c642ebfd22f78f095e561a1ea9133f8ce308fba7abe4dab0c172c960a",
    "prediction-pandas": "526284ecaa84442c0ca8898fa615a0b158fd8cffae98b25f7e7949ce50547c11",
    "prediction-pandas-marginal": "b6354b5dec8934d237481c2d2ab38a108def11bd0b3e00bf50b4eb6b11c78a6f",
    "prediction-pandas-conditional": "27a3c4fd54c0100b5423ac78f8185e0d7a6b9870fc69ce1538e7ebe9349c486b",
    "prediction-polars": "f3a5eeb54f1afcc530e9fea87bcc21a1b9d1b926cb2fef10d6bbbb3715713dc5",
    "prediction-polars-marginal": "017df53b7ab6691ba812c309a3a5e28be02d06c9c73136c55ec1eb4b8f47f949",
    "prediction-polars-conditional": "084df32bdd24ff843295d24a90ed1b7edc45be06402a39dcd7d82ea0d9dba2b8",
    "retraining-numpy": "4ecf8d5db86bfe0dedd2f5fe1624886ef533ae5fc69e47bfce2fb9cf7bc662dd",
    "retraining-pandas": "4a73797fbeb14c736698f5d93ce283267868b5ba1d543121b4d3fdf87819b940",
    "retraining-polars": "fb790ada9a62970d1e7732dbb0b56c45163480dc514fa6061402f23c1c78690f",
    "data-numpy": "db5b978f20a72dd0c97d3f134c2e7e1d972bcab35f2a7f3d7300a9509c6ff1da",
    "data-pandas": "33a8a34d67e0e0c2408c7da4d29ca69580425b61ad7054d6e18a3db9a8291968",
    "text": "b6f26b8d20c9d20f68a38bffbee7a2965b08795bc87998f7fc7d1444db6bb853",
    "image": "6000fd07c64e2de93745f3d0badb9427ffd3477b874e10135afeede3fd07c1f9",
    "ensemble": "5d77bf17f0948ec36b7f942442c1f00119144fb5d01835dcb1f6cd076ad9b308",
    "ensemble-default-score": "bcfae06bde6a454bef93b5977f8634836528a9d2372affa661ff01b1fb05c270",
    "ensemble-classifiers": "4ae930cef5f20aa5f70ba2569b2c1bcab0be1b08bdd6ad0425f461310bc5a05b",
    "unsupervised-discrete": "136d976f3089c6bc3031d584aa4322222e72e5d80eb7b88b31639e510266034e",
    "unsupervised-discrete-polars": "6cb0eb0a6159b048ea28cdb756a6e1cd1e2f2ff0ca284401a654edfc80897c60",
    "unsupervised-discrete-numpy": "7e5a807de78c032bbf35cdd97c4a694c8eb6dd0cc4bae11016ffd25c5b6c6de9",
    "per-coalition": "5c9bf9697cc42d94a4796d5c53262ff461a118ad16f835c4d083379523dc186b",
    "table": "c5d8befe4762ade3bdabf6f883f0d612df5c3f37abe96dcb8313852bd6abab31",
    "additive": "540f116dc68d05702d445bc6c8aeaa658a4c226aa4d3b9b00ceb602c82eec648",
    "unanimity": "dbc1a71f3bbefb19262431fd3e8247e7ce4ea4e11e443352b09bb1d2d7cd8105",
    "airport": "fb1876e518b63820ae0ada8eb127ffef71c874af2ad364f0d8554f732a026446",
    "glove": "e4e5051feae4eab5a6ae8c8a634f07acc3e249bbbbcdcc8b3f19a1b07c09a4f9",
    "all-or-nothing": "7eeb4b5539894b6d09139653d3f3966ebe4f785ada7e76bc5513af42175adc99",
    "voting": "d5fc80250424b2f83cb9aab13d233299b785bbbf3b22f01ca26c1129a6d5c374",
}


@pytest.fixture(autouse=True)
def without_versions(monkeypatch):
    monkeypatch.setattr(fingerprints, "version_of", lambda module: "")


def is_older(package, recorded_with):
    return tuple(int(part) for part in package.__version__.split(".")[:2]) < recorded_with


@pytest.mark.parametrize("name", GAMES)
def test_a_fingerprint_equals_the_recorded_one(name):
    if "pandas" in name and is_older(pd, (3, 0)):
        pytest.skip("recorded with pandas 3; categories have another dtype in earlier versions")
    if name in ("ensemble-default-score", "ensemble-classifiers") and is_older(sklearn, (1, 9)):
        pytest.skip("recorded with scikit-learn 1.9, whose default scorer is part of the fingerprint")
    assert GAMES[name]().fingerprint == RECORDED[name]
