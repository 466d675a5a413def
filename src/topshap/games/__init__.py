"""Where a value comes from: games are callables from the rows of a bool array to their values."""

from topshap.games.functions import PerCoalition, per_coalition
from topshap.games.synthetic import (
    AdditiveGame,
    AirportGame,
    AllOrNothingGame,
    GloveGame,
    UnanimityGame,
)
from topshap.games.tables import TableGame
from topshap.games.voting import VotingGame

__all__ = [
    "AdditiveGame",
    "AirportGame",
    "AllOrNothingGame",
    "GloveGame",
    "PerCoalition",
    "TableGame",
    "UnanimityGame",
    "VotingGame",
    "per_coalition",
]
