"""Saved results for importance: the fields that a result for Shapley values does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.importance_result import IMPORTANCE_KINDS, POPULATIONS, TopImportance
from topshap.interop.json_fields import RESULT, Field, check_together, one_of, read_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_SAVED = ("rows", "row_values")
"""The fields that files do not contain, since they grow with the number of rows."""


def read_importance(content: Mapping[str, Any]) -> TopImportance:
    """Return a result for importance from the fields of a file; raise a `FieldError` if one is missing or invalid.

    Examples
    --------
    >>> read_importance({"by": "height"})
    Traceback (most recent call last):
    ...
    topshap.interop.json_fields.FieldError: the fields 'algorithm', 'budget', ... are missing
    """
    estimates = content.get("estimates")
    n = len(estimates) if isinstance(estimates, list) else 0
    top: TopImportance = read_fields(TopImportance, IMPORTANCE_RESULT, content, n)
    check_together(top)
    return top


IMPORTANCE_RESULT: dict[str, Field] = {
    **RESULT,
    "by": one_of(IMPORTANCE_KINDS),
    "population": one_of(POPULATIONS),
    "n_rows": RESULT["evaluations"],
    "n_table_rows": RESULT["evaluations"],
    "row_std_errors": RESULT["std_errors"],
    "coalition_std_errors": RESULT["std_errors"],
}
"""The fields of `TopImportance`."""
