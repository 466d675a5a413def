"""Where a value comes from: games are callables from the rows of a bool array to their values."""

from topshap.games.data import DataGame
from topshap.games.ensemble import EnsembleGame
from topshap.games.fingerprints import fingerprint_of
from topshap.games.functions import PerCoalition, per_coalition
from topshap.games.image import ImageGame
from topshap.games.prediction import PredictionGame
from topshap.games.retraining import RetrainingGame
from topshap.games.shapiq import from_shapiq, to_shapiq
from topshap.games.synthetic import (
    AdditiveGame,
    AirportGame,
    AllOrNothingGame,
    GloveGame,
    UnanimityGame,
)
from topshap.games.tables import TableGame
from topshap.games.text import TextGame
from topshap.games.unsupervised import UnsupervisedGame
from topshap.games.voting import VotingGame

__all__ = [
    "AdditiveGame",
    "AirportGame",
    "AllOrNothingGame",
    "DataGame",
    "EnsembleGame",
    "GloveGame",
    "ImageGame",
    "PerCoalition",
    "PredictionGame",
    "RetrainingGame",
    "TableGame",
    "TextGame",
    "UnanimityGame",
    "UnsupervisedGame",
    "VotingGame",
    "fingerprint_of",
    "from_shapiq",
    "per_coalition",
    "to_shapiq",
]
