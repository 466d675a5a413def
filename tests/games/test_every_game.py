"""What holds for every public game: it takes many coalitions, can be pickled and fingerprinted, and refuses others."""

import inspect
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import BernoulliNB

from topshap import games
from topshap.clients import MockClient
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
Y = X @ [1.0, -2.0, 0.5]
LABELS = (Y > 0).astype(int)
SEGMENTS = np.arange(16).reshape(4, 4) // 6
OTHERS = {"AnswerLogProb", "ExactMatch", "Judge", "Similarity"}
"""Classes that are not games, but scores of answers."""
ELSEWHERE = {"NeuronGame"}
"""Games that need packages of their own, with tests of the same facts."""


def total(inputs):
    """Return one number per text or image."""
    return [float(sum(map(ord, each))) if isinstance(each, str) else float(np.sum(each)) for each in inputs]


def answer(prompt):
    """Return the answer of a language model."""
    return "So."


def log_prob(messages, text):
    """Return the log probability of an answer."""
    return -float(len(str(messages)))


def fitted(target=Y):
    return LinearRegression().fit(X, target)


GAMES: dict[str, Any] = {
    "AdditiveGame": lambda: games.AdditiveGame([1.0, 2.0, 4.0]),
    "AirportGame": lambda: games.AirportGame([1.0, 2.0, 4.0]),
    "AllOrNothingGame": lambda: games.AllOrNothingGame(3),
    "DataGame": lambda: games.DataGame(BernoulliNB(), X[:5], LABELS[:5], X[5:], LABELS[5:], prior="knn"),
    "EnsembleGame": lambda: games.EnsembleGame([fitted(), fitted(-Y), fitted(Y**2)], X, Y),
    "GloveGame": lambda: games.GloveGame(1, 2),
    "ImageGame": lambda: games.ImageGame(total, np.arange(16.0).reshape(4, 4), segments=SEGMENTS, fill=0.0),
    "InformedGame": lambda: games.InformedGame(games.AdditiveGame([1.0, 2.0, 4.0]), prior=[0.0, 1.0, 2.0]),
    "LossGame": lambda: games.LossGame(fitted(), X, Y, background=X[:4]),
    "PerCoalition": lambda: games.per_coalition(operator.itemgetter(0), n_players=3),
    "PredictionGame": lambda: games.PredictionGame(fitted().predict, X[0], X[:4]),
    "PredictionsGame": lambda: games.PredictionsGame(fitted().predict, X[:2], X[:4]),
    "PromptGame": lambda: games.PromptGame(
        MockClient(answer, log_prob), "Why?", answer="So.", documents=["Since.", "Though.", "Hence."]
    ),
    "RecontextGame": lambda: games.RecontextGame(LinearRegression(), X, Y, X[0]),
    "RetrainingGame": lambda: games.RetrainingGame(LinearRegression(), X, Y, cv=2),
    "TableGame": lambda: games.TableGame(np.arange(8.0) ** 2),
    "TextGame": lambda: games.TextGame(total, "to be seen"),
    "UnanimityGame": lambda: games.UnanimityGame([[0, 1], [2]], [1.0, 2.0], n_players=3),
    "UnsupervisedGame": lambda: games.UnsupervisedGame(X),
    "VotingGame": lambda: games.VotingGame([1, 4, 2], quota=4),
}


def test_all_public_games_are_here():
    classes = {name for name in games.__all__ if inspect.isclass(getattr(games, name))}
    assert classes - OTHERS - ELSEWHERE == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_many_coalitions_have_the_values_of_each(name):
    game = GAMES[name]()
    coalitions = from_ids(np.arange(2**game.n_players), game.n_players)
    values = np.asarray(game(coalitions))
    assert values.dtype == np.float64
    assert len(values) == len(coalitions)
    one_by_one = np.concatenate([game(row[None]) for row in coalitions])
    np.testing.assert_allclose(values, one_by_one, rtol=1e-12, atol=1e-12)
    assert np.ptp(values.reshape(len(values), -1)[:, 0]) > 0.0


@pytest.mark.parametrize("name", GAMES)
def test_a_pickled_game_has_the_same_values_and_fingerprint(name):
    game = GAMES[name]()
    copy = pickle.loads(pickle.dumps(game))
    coalitions = from_ids(np.arange(2**game.n_players), game.n_players)
    np.testing.assert_array_equal(copy(coalitions), game(coalitions))
    assert copy.fingerprint == game.fingerprint == GAMES[name]().fingerprint
    assert isinstance(game.fingerprint, str)


@pytest.mark.parametrize("name", GAMES)
def test_coalitions_of_other_players_are_refused(name):
    game = GAMES[name]()
    with pytest.raises(ParameterError, match=rf"must be a bool array of shape \(m, {game.n_players}\)"):
        game(np.ones((2, game.n_players + 1), dtype=bool))
    with pytest.raises(ParameterError, match=rf"must be a bool array of shape \(m, {game.n_players}\)"):
        game(np.ones(game.n_players, dtype=bool))
