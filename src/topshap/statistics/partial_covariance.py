"""Covariances of some of many estimates: those of the others are taken as independent.

Among 20,000 candidates, a covariance of all of them would take gigabytes, and only those around the border of the top k
matter. All code that needs covariances goes through the functions of this module, whether all of them are known, some,
or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


@dataclass(frozen=True, eq=False)
class PartialCovariance:
    """The covariance of some candidates; the others are independent, with their standard errors.

    Examples
    --------
    >>> partial = PartialCovariance(np.array([3, 1]), np.array([[4.0, 1.0], [1.0, 9.0]]))
    >>> covariance_among(partial, np.array([1.0, 3.0, 1.0, 2.0]), np.array([0, 1, 3]))
    array([[1., 0., 0.],
           [0., 9., 1.],
           [0., 1., 4.]])
    """

    candidates: Players
    """The indices of the candidates whose covariance is known, in any order, shape (w,)."""
    matrix: Matrix
    """Their covariance, shape (w, w)."""

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.candidates), len(self.candidates)):
            raise ValueError(f"The covariance of {len(self.candidates)} candidates has the shape {self.matrix.shape}.")
        self.candidates.flags.writeable = self.matrix.flags.writeable = False

    def among(self, chosen: Players, n_candidates: int) -> PartialCovariance:
        """Return the covariance of some of all candidates, which are counted from 0 in the order given.

        Examples
        --------
        >>> partial = PartialCovariance(np.array([3, 1]), np.array([[4.0, 1.0], [1.0, 9.0]]))
        >>> partial.among(np.array([0, 3]), 4)
        PartialCovariance(candidates=array([1]), matrix=array([[4.]]))
        """
        place = np.full(n_candidates, -1)
        place[chosen] = np.arange(len(chosen))
        places = place[self.candidates]
        kept = np.flatnonzero(places >= 0)
        return PartialCovariance(places[kept], self.matrix[np.ix_(kept, kept)])

    def times_power(self, exponent: int) -> PartialCovariance:
        """Return the covariance times a power of two; itself if the exponent is 0."""
        return PartialCovariance(self.candidates, np.ldexp(self.matrix, exponent)) if exponent else self


Covariance: TypeAlias = "Matrix | PartialCovariance"
"""The covariance of all candidates, or that of some of them."""


def covariance_among(covariance: Covariance | None, std_errors: Values, chosen: Players) -> Matrix:
    """Return the covariance of the chosen candidates as an array; estimates are independent where it is not known.

    Examples
    --------
    >>> covariance_among(None, np.array([1.0, 2.0, 3.0]), np.array([2, 0]))
    array([[9., 0.],
           [0., 1.]])
    """
    if isinstance(covariance, np.ndarray):
        return np.asarray(covariance[np.ix_(chosen, chosen)])
    dense = np.diag(std_errors[chosen] ** 2)
    if covariance is not None:
        part = covariance.among(chosen, len(std_errors))
        dense[np.ix_(part.candidates, part.candidates)] = part.matrix
    return dense


def covariance_with(candidate: int, covariance: Covariance, n_candidates: int) -> Values:
    """Return the covariance of one candidate with each of all, 0 where it is not known.

    Examples
    --------
    >>> partial = PartialCovariance(np.array([2, 0]), np.array([[4.0, 1.0], [1.0, 9.0]]))
    >>> covariance_with(0, partial, 3), covariance_with(1, partial, 3)
    (array([9., 0., 1.]), array([0., 0., 0.]))
    """
    if isinstance(covariance, np.ndarray):
        return np.asarray(covariance[candidate])
    row = np.zeros(n_candidates)
    place = np.flatnonzero(covariance.candidates == candidate)
    if len(place) > 0:
        row[covariance.candidates] = covariance.matrix[place[0]]
    return row


def covariance_between(covariance: Covariance, rows: Players, columns: Players, n_candidates: int) -> Matrix:
    """Return the covariances of some candidates with some others, 0 where they are not known.

    Examples
    --------
    >>> partial = PartialCovariance(np.array([2, 0]), np.array([[4.0, 1.0], [1.0, 9.0]]))
    >>> covariance_between(partial, np.array([0]), np.array([1, 2]), 3)
    array([[0., 1.]])
    """
    if isinstance(covariance, np.ndarray):
        return np.asarray(covariance[np.ix_(rows, columns)])
    found = [covariance_with(row, covariance, n_candidates)[columns] for row in rows.tolist()]
    return np.array(found).reshape(len(rows), len(columns))


def paired_covariances(covariance: Covariance, one: Players, other: Players, n_candidates: int) -> Values:
    """Return the covariance of each of some candidates with the one at the same place in another list, 0 if unknown.

    Examples
    --------
    >>> partial = PartialCovariance(np.array([2, 0]), np.array([[4.0, 1.0], [1.0, 9.0]]))
    >>> paired_covariances(partial, np.array([0, 0, 1]), np.array([2, 0, 2]), 3)
    array([1., 9., 0.])
    """
    if isinstance(covariance, np.ndarray):
        return np.asarray(covariance[one, other])
    place = np.full(n_candidates, -1)
    place[covariance.candidates] = np.arange(len(covariance.candidates))
    known = (place[one] >= 0) & (place[other] >= 0)
    found = np.zeros(len(one))
    found[known] = covariance.matrix[place[one][known], place[other][known]]
    return found


def deviations(covariance: Covariance | None, std_errors: Values) -> Values:
    """Return the standard deviation of each estimate: by the covariance where it is known.

    Examples
    --------
    >>> deviations(PartialCovariance(np.array([1]), np.array([[4.0]])), np.array([1.0, 1.0]))
    array([1., 2.])
    """
    if covariance is None:
        return std_errors
    if isinstance(covariance, np.ndarray):
        return np.sqrt(np.maximum(np.diag(covariance), 0.0))
    values = std_errors.copy()
    values[covariance.candidates] = np.sqrt(np.maximum(np.diag(covariance.matrix), 0.0))
    return values
