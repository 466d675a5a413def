"""topshap behind the interfaces of other libraries; each is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topshap.adapters.shapiq import ShapiqApproximator, ShapiqGame

__all__ = ["ShapiqApproximator", "ShapiqGame"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from topshap.adapters import shapiq  # noqa: PLC0415 - it needs the extra

        return getattr(shapiq, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
