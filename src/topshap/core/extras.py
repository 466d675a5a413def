"""Libraries that only some parts need: imported where they are used, and missed with a message that helps."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, *, extra: str, needed_by: str) -> Any:
    """Return a module of an optional library, or say which extra of topshap brings it.

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
            raise  # the library is there, and what it lacks itself is another matter
        raise ImportError(f"{needed_by} needs {library}: pip install 'topshap[{extra}]'", name=library) from error
