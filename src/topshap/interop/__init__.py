"""Conversions between topshap and shap, shapiq, pandas and JSON files.

shapiq is imported when one of these names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topshap.interop.shapiq import ShapiqApproximator, ShapiqGame, from_shapiq, to_shapiq

__all__ = ["ShapiqApproximator", "ShapiqGame", "from_shapiq", "to_shapiq"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("topshap.interop.shapiq"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
