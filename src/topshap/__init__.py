"""topshap finds the k most important players of any cooperative game with as few evaluations as possible."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topshap import adapters, datasets, errors, exact, games, metrics, show, stopping, theory
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
from topshap.explainer import Explainer
from topshap.exports.json import load
from topshap.identify import identify
from topshap.oracle import Oracle, Store
from topshap.race import Race
from topshap.result import TopK

if TYPE_CHECKING:
    from topshap import algorithms
    from topshap.selection import TopKSelector

__version__ = "0.1.0"

__all__ = [
    "EvaluationError",
    "Explainer",
    "GameError",
    "Oracle",
    "ParameterError",
    "Race",
    "RaceError",
    "Store",
    "StoreError",
    "StoreWarning",
    "TopK",
    "TopKSelector",
    "TopshapError",
    "__version__",
    "adapters",
    "aidentify",
    "algorithms",
    "datasets",
    "errors",
    "exact",
    "games",
    "identify",
    "load",
    "metrics",
    "show",
    "stopping",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name == "algorithms":  # with most of scipy, which takes longer to import than all of topshap
        return import_module("topshap.algorithms")
    if name == "TopKSelector":  # a scikit-learn class, so scikit-learn is imported only by those who use it
        from topshap.selection import TopKSelector  # noqa: PLC0415 - loaded when asked for

        return TopKSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
