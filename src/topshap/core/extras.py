"""Optional libraries, imported on first use; the error for a missing one names the extra that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, *, extra: str, needed_by: str, package: str = "topshap") -> Any:
    """Return a module of an optional library; if it is missing, raise an error that names the extra.

    Examples
    --------
    >>> import_extra("json", extra="json", needed_by="this example").dumps([1])
    '[1]'
    >>> import_extra("no_such_library.part", extra="none", needed_by="this example")
    Traceback (most recent call last):
    ...
    ImportError: this example needs no_such_library: pip install 'topshap[none]'
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is installed, but one of its dependencies is missing
        raise ImportError(f"{needed_by} needs {library}: pip install '{package}[{extra}]'", name=library) from error
