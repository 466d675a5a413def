"""Names and versions of importable functions and classes, as they enter fingerprints."""

from __future__ import annotations

import functools
import operator
import sys
from pathlib import Path
from typing import Any

import numpy as np

_RECORDED_MODULES = {
    "topshap.core.errors": "topshap.errors",
    "topshap.core.fingerprints": "topshap.games.fingerprints",
    "topshap.core.race": "topshap.race",
    "topshap.core.result": "topshap.result",
    "topshap.games.analytic": "topshap.games.synthetic",
    "topshap.games.lookup": "topshap.games.tables",
    "topshap.games.outputs": "topshap.games.models",
    "topshap.games.per_coalition": "topshap.games.functions",
    "topshap.games.total_correlation": "topshap.games.unsupervised",
    "topshap.selector": "topshap.selection",
}
_RECORDED_NAMES = {
    "topshap.entrypoints.aidentify": "topshap.aidentify.aidentify",
    "topshap.entrypoints.identify": "topshap.identify.identify",
    "topshap.games.fixed_predictions.FixedClassifier": "topshap.games.known.KnownClassifier",
    "topshap.games.fixed_predictions.FixedRegressor": "topshap.games.known.KnownRegressor",
}
"""Names in the fingerprints of existing stores, for functions and classes that have moved since."""


def recorded_name(thing: Any) -> str:
    """Return the name of a function or class in fingerprints, which stays the same when it is moved.

    Examples
    --------
    >>> from topshap.games import TableGame
    >>> recorded_name(TableGame)
    'topshap.games.tables.TableGame'
    """
    module = module_of(thing)
    name = f"{_RECORDED_MODULES.get(module, module)}.{thing.__qualname__}"
    return _RECORDED_NAMES.get(name, name)


def module_of(thing: Any) -> str:
    """Return the name of the module that a function or class is defined in, "" if it has none."""
    return str(getattr(thing, "__module__", None) or "")


def version_of(module: str) -> str:
    """Return the version of the package that a module belongs to, "" if it has none."""
    version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", "")
    return version if isinstance(version, str) else ""


@functools.cache
def is_installed(module: str) -> bool:
    """Return whether a module belongs to Python, to topshap or to another installed package."""
    root = module.partition(".")[0]
    if root in ("builtins", "topshap") or root in sys.stdlib_module_names:
        return True
    path = Path(getattr(sys.modules.get(root), "__file__", None) or "")
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


def is_importable(thing: Any) -> bool:
    """Return whether a function or class can be imported by its name from an installed package."""
    module = module_of(thing) or ("numpy" if isinstance(thing, np.ufunc) else "builtins")
    if not is_installed(module):
        return False
    try:
        return operator.attrgetter(thing.__qualname__)(sys.modules[module]) is thing
    except (AttributeError, KeyError):
        return False
