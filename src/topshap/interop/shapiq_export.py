"""A result as shapiq's InteractionValues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from topshap.core.result import TopK


def to_shapiq(top: TopK) -> Any:
    """Return the estimates as ``shapiq.InteractionValues`` of order 1."""
    shapiq = import_extra("shapiq", extra="shapiq", needed_by="to_shapiq")
    scores = {(): top.empty} | {(i,): float(value) for i, value in enumerate(top.estimates)}
    return shapiq.InteractionValues(
        scores,
        index="SV",
        min_order=0,
        max_order=1,
        n_players=top.n_players,
        estimated=top.stopped != "exact",
        estimation_budget=top.evaluations,
        baseline_value=top.empty,
    )
