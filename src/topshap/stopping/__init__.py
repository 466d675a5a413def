"""When it is enough: rules by which a race stops by itself."""

from topshap.stopping.rules import (
    GUARANTEES,
    Credible,
    Guarantee,
    OverlappingIntervals,
    Promised,
    SeparatedBorder,
    StoppingRule,
)

__all__ = [
    "GUARANTEES",
    "Credible",
    "Guarantee",
    "OverlappingIntervals",
    "Promised",
    "SeparatedBorder",
    "StoppingRule",
]
