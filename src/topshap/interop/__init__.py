"""topshap together with shap, shapiq and JSON files.

Each library is imported when something here that needs it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.interop.shapiq_game import from_shapiq, to_shapiq

if TYPE_CHECKING:
    from topshap.interop.shapiq_adapters import ShapiqApproximator, ShapiqGame

__all__ = ["ShapiqApproximator", "ShapiqGame", "from_shapiq", "to_shapiq"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from topshap.interop import shapiq_adapters  # noqa: PLC0415 - it needs the extra

        return getattr(shapiq_adapters, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
