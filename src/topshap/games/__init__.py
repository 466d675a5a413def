"""Games: callables from a bool array with one coalition per row to one value per row."""

from topshap.core.fingerprints import fingerprint_of
from topshap.games.analytic import AdditiveGame, AirportGame, AllOrNothingGame, GloveGame, UnanimityGame
from topshap.games.data import DataGame
from topshap.games.ensemble import EnsembleGame
from topshap.games.image import ImageGame
from topshap.games.informed import InformedGame
from topshap.games.knn_shapley import knn_shapley
from topshap.games.lookup import TableGame
from topshap.games.loss import LossGame
from topshap.games.neurons import NeuronGame
from topshap.games.per_coalition import PerCoalition, per_coalition
from topshap.games.prediction import PredictionGame
from topshap.games.predictions import PredictionsGame
from topshap.games.prompt import AnswerLogProb, ExactMatch, Judge, PromptGame, Similarity
from topshap.games.recontext import RecontextGame
from topshap.games.retraining import RetrainingGame
from topshap.games.text import TextGame
from topshap.games.total_correlation import UnsupervisedGame
from topshap.games.voting import VotingGame

__all__ = [
    "AdditiveGame",
    "AirportGame",
    "AllOrNothingGame",
    "AnswerLogProb",
    "DataGame",
    "EnsembleGame",
    "ExactMatch",
    "GloveGame",
    "ImageGame",
    "InformedGame",
    "Judge",
    "LossGame",
    "NeuronGame",
    "PerCoalition",
    "PredictionGame",
    "PredictionsGame",
    "PromptGame",
    "RecontextGame",
    "RetrainingGame",
    "Similarity",
    "TableGame",
    "TextGame",
    "UnanimityGame",
    "UnsupervisedGame",
    "VotingGame",
    "fingerprint_of",
    "knn_shapley",
    "per_coalition",
]
