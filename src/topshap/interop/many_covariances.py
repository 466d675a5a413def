"""Covariances that several results of a file share: matrices that are saved once, and a factor in each result.

A result is made complete when it is accessed, so that a file that is read takes memory in proportion to its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.explained_rows import ARRAYS
from topshap.core.result import TopK
from topshap.interop.json_fields import FieldError, shorten_value
from topshap.interop.json_values import plain

if TYPE_CHECKING:
    from topshap.core.covariances import CovarianceParts
    from topshap.core.typing import Matrix

OF, FACTOR = "of", "factor"
"""The fields of a shared covariance in a result: the position of its matrix, and its factor."""


def write_shared(parts: CovarianceParts | None, results: Sequence[dict[str, Any]]) -> list[Any]:
    """Replace covariances that at least two results share, and return their matrices for the file."""
    if parts is None:
        return []
    which, factors = parts.which.ravel(), parts.factors.ravel()
    counts = np.bincount(which[which >= 0], minlength=len(parts.matrices))
    kept = np.flatnonzero(counts >= 2)
    place = np.full(len(parts.matrices) + 1, -1)  # the last one for results without a shared matrix
    place[kept] = np.arange(len(kept))
    for result, position, factor in zip(results, place[which].tolist(), factors.tolist(), strict=True):
        if position >= 0 and result["covariance"] is not None:
            result["covariance"] = {OF: position, FACTOR: factor}
    return [plain(parts.matrices[i]) for i in kept.tolist()]


def read_matrices(value: Any) -> list[Matrix]:
    """Return the matrices of a file; raise a `FieldError` if they are not square matrices of finite numbers."""
    if not isinstance(value, list):
        raise FieldError(f"the field 'covariances' must be a list of matrices, not {shorten_value(value)}")
    matrices = []
    for each in value:
        square = isinstance(each, list) and all(isinstance(row, list) and len(row) == len(each) for row in each)
        if not square or not all(type(number) in (int, float) for row in each for number in row):
            raise FieldError(f"the field 'covariances' must have square matrices of numbers, not {shorten_value(each)}")
        matrices.append(np.array(each, dtype=np.float64).reshape(len(each), len(each)))
    return matrices


def take_shared(result: dict[str, Any], matrices: Sequence[Matrix]) -> tuple[int, float]:
    """Replace a reference to a shared covariance by its numbers, and return its position and factor; -1 without one."""
    found = result.get("covariance")
    if not isinstance(found, dict):
        return -1, 1.0
    position: Any = found.get(OF)
    factor: Any = found.get(FACTOR)
    valid = set(found) == {OF, FACTOR} and type(position) is int and 0 <= position < len(matrices)
    if not valid or type(factor) not in (int, float) or not 0.0 <= factor < np.inf:
        must_be = f"have {OF!r}, the position of one of {len(matrices)} matrices, and {FACTOR!r}, a finite number >= 0"
        raise FieldError(f"the field 'covariance' must {must_be}, not {shorten_value(found)}")
    result["covariance"] = (matrices[position] * factor).tolist()
    return position, float(factor)


@dataclass(frozen=True, eq=False)
class SharedResults(Sequence[TopK]):
    """Results of which some share their covariances, which they get when they are accessed."""

    bare: Sequence[TopK]
    """The results, without the covariances that they share."""
    covariance_parts: CovarianceParts

    def __post_init__(self) -> None:
        """Gather the arrays that `ExplainedRows.of` takes from a sequence of results."""
        for name in (*ARRAYS, "evaluations"):
            object.__setattr__(self, name, np.array([getattr(top, name) for top in self.bare]))

    def __len__(self) -> int:
        return len(self.bare)

    def __getitem__(self, index: Any) -> Any:
        position = range(len(self))[index]
        matrices, which, factors = self.covariance_parts
        if which[position] < 0:
            return self.bare[position]
        return replace(self.bare[position], covariance=matrices[which[position]] * factors[position])
