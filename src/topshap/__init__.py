"""topshap finds the k most important players of any cooperative game with as few evaluations as possible."""

from topshap import algorithms, errors, exact, games, metrics, stopping, theory
from topshap.errors import GameError, ParameterError, RaceError, TopshapError
from topshap.identify import identify
from topshap.race import Race
from topshap.result import TopK

__version__ = "0.1.0"

__all__ = [
    "GameError",
    "ParameterError",
    "Race",
    "RaceError",
    "TopK",
    "TopshapError",
    "__version__",
    "algorithms",
    "errors",
    "exact",
    "games",
    "identify",
    "metrics",
    "stopping",
    "theory",
]
