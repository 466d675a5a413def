"""Import objects given as ``module:name``."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from topshap.core.errors import ParameterError


def load_object(spec: str, *, what: str) -> Any:
    """Return the object ``module:name``; the module may be in the current directory.

    Examples
    --------
    >>> load_object("math:sqrt", what="--predict")(9.0)
    3.0
    >>> load_object("math:sqr", what="--predict")
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The module 'math' has no attribute 'sqr'. Did you mean 'sqrt'?
    """
    module_name, colon, name = spec.partition(":")
    if not (module_name and colon and name):
        pickled = " Use --trust-pickle to load a pickle." if Path(spec).is_file() else ""
        raise ParameterError(f"{what} must be module:name, such as my_code:my_function. Got {spec!r} instead.{pickled}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise ParameterError(f"Cannot import the module {module_name!r}: {error}") from error
        raise ParameterError(
            f"The module {module_name!r} is neither installed nor in the current directory."
        ) from error
    except Exception as error:
        raise ParameterError(f"Cannot import the module {module_name!r}: {_one_line(error)}") from error
    try:
        return attrgetter(name)(module)
    except AttributeError as error:
        near = get_close_matches(name, dir(module), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"The module {module_name!r} has no attribute {name!r}.{hint}") from error


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
