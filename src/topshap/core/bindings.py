"""Functions of the layers above the core, bound by name.

A `TopK` has methods such as `to_html`, and a `Race` takes the name of an algorithm, but the core does not import the
layers that implement them. The package binds each of these functions to a name when it is imported, as
``"module:function"``. A function is loaded when it is first called, so that importing topshap stays fast.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

_targets: dict[str, str] = {}


def bind(**targets: str) -> None:
    """Bind functions, each given as ``"module:function"``, to names."""
    _targets.update(targets)
    bound.cache_clear()


@cache
def bound(name: str) -> Any:
    """Return the function that a name is bound to.

    Examples
    --------
    >>> from topshap.core.bindings import bound
    >>> bound("make_algorithm")("cmcs")
    CMCS()
    """
    module, _, function = _targets[name].partition(":")
    return getattr(import_module(module), function)
