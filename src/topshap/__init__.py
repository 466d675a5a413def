"""topshap finds the k most important players of any cooperative game with as few evaluations as possible."""

from topshap import algorithms, errors, exact, games, metrics, show, stopping, theory
from topshap.aidentify import aidentify
from topshap.errors import (
    EvaluationError,
    GameError,
    ParameterError,
    RaceError,
    StoreError,
    StoreWarning,
    TopshapError,
)
from topshap.identify import identify
from topshap.oracle import Oracle, Store
from topshap.race import Race
from topshap.result import TopK

__version__ = "0.1.0"

__all__ = [
    "EvaluationError",
    "GameError",
    "Oracle",
    "ParameterError",
    "Race",
    "RaceError",
    "Store",
    "StoreError",
    "StoreWarning",
    "TopK",
    "TopshapError",
    "__version__",
    "aidentify",
    "algorithms",
    "errors",
    "exact",
    "games",
    "identify",
    "metrics",
    "show",
    "stopping",
    "theory",
]
