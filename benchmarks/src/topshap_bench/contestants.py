"""Algorithms by name: those of topshap, shap and shapiq, and custom ones given as ``"module:Class"``."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import topshap
from topshap.algorithms import ALGORITHMS, Algorithm
from topshap.core.validation import front_door, refuse
from topshap_bench import external
from topshap_bench.rivals import RIVALS


def known(*, slow: bool = True) -> list[str]:
    """Return the names of all algorithms of topshap and of the installed packages.

    Parameters
    ----------
    slow
        Whether to include algorithms of other packages that take seconds for a run.

    Examples
    --------
    >>> {"odd-gp", "cmcs", "shap:kernel"} <= set(known())
    True
    """
    return [*ALGORITHMS, *external.available(slow=slow)]


@front_door
def contestant(algorithm: str) -> Any:
    """Return the algorithm to pass to `topshap.Race`: a built-in name, or an object for ``"module:Class"``.

    Parameters
    ----------
    algorithm
        A name in `topshap.algorithms.ALGORITHMS`, ``"auto"``, or an import string ``"module:attribute"``. The
        attribute is a subclass of `topshap.algorithms.Algorithm`, which is instantiated with its default parameters, or
        an instance of one.

    Examples
    --------
    >>> contestant("cmcs")
    'cmcs'
    >>> contestant("topshap.algorithms:CMCS")
    CMCS()
    >>> contestant("topshap:identify")
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'algorithm' parameter of contestant must be an import string
    'module:Class' of a subclass of topshap.algorithms.Algorithm. Got 'topshap:identify' instead.
    """
    if algorithm == "auto" or algorithm in ALGORITHMS:
        return algorithm
    found = _imported(algorithm)
    return found() if isinstance(found, type) else found


def check_name(parameter: str, algorithm: object) -> None:
    """Raise an error for an algorithm that is not given by name, since results are stored by name."""
    if not isinstance(algorithm, str):
        must_be = "names of algorithms, or 'module:Class' for a custom one"
        refuse(parameter, algorithm, must_be=must_be)


def plans_by_budget(name: str) -> bool:
    """Return whether an algorithm depends on the budget, so that every budget needs a separate race.

    Examples
    --------
    >>> plans_by_budget("cmcs"), plans_by_budget("kernelshap"), plans_by_budget("topshap.algorithms:CMCS")
    (False, True, False)
    """
    if name == "auto" or name in RIVALS:
        return True
    algorithm = ALGORITHMS[name] if name in ALGORITHMS else _imported(name)
    return not algorithm.extendable


def depends_on_k(name: str) -> bool:
    """Return whether the estimates of an algorithm may depend on k; those of other packages do not.

    Examples
    --------
    >>> depends_on_k("cmcs@k"), depends_on_k("shap:kernel")
    (True, False)
    """
    return name not in RIVALS


def version_of(name: str) -> str:
    """Return the package of an algorithm and its version; for an import string, a checksum of the module's file.

    Results in a file are reused only if the version is the same, so that a modified algorithm runs again.

    Examples
    --------
    >>> version_of("shap:kernel").startswith("shap ")
    True
    """
    if name in RIVALS:
        return external.version_of(name)
    ours = f"topshap {topshap.__version__}"
    if name == "auto" or name in ALGORITHMS:
        return ours
    return f"{name.partition(':')[0]} {_checksum(name)}, {ours}"


@cache
def _imported(name: str) -> Any:
    """Return the class or instance that an import string names."""
    must_be = "an import string 'module:Class' of a subclass of topshap.algorithms.Algorithm"
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        names = ", ".join(map(repr, ["auto", *known()]))
        refuse("algorithm", name, must_be=f"{must_be}, or one of {names}")
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise  # the module exists, but one of its imports is missing
        refuse("algorithm", name, must_be=f"{must_be}, in an importable module")
    except AttributeError:
        refuse("algorithm", name, must_be=f"{must_be}; the module {module!r} has no attribute {attribute!r}")
    is_algorithm = isinstance(found, type) and issubclass(found, Algorithm) and not inspect.isabstract(found)
    if not is_algorithm and not isinstance(found, Algorithm):
        refuse("algorithm", name, must_be=must_be)
    return found


@cache
def _checksum(name: str) -> str:
    """Return the first characters of a checksum of the file that defines the algorithm."""
    found = _imported(name)
    file = inspect.getsourcefile(found if isinstance(found, type) else type(found))
    content = Path(file).read_bytes() if file is not None else b""
    return hashlib.blake2b(content, digest_size=4).hexdigest()
