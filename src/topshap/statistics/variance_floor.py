"""Variances of samples that were all equal: zero sample variance is not certainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Values

RELATIVE_ZERO = 1e-12
"""A variance below this fraction of the largest squared sample is rounding noise: the samples were all equal."""


def with_unseen_jump_floor(variances: Values, counts: Values, largest_square: float) -> Values:
    """Replace variances that are practically zero by the variance if one more sample had a jump.

    Examples
    --------
    >>> with_unseen_jump_floor(np.array([0.5, 0.0]), np.array([9.0, 9.0]), 2.0)
    array([0.5, 0.2])
    """
    constant = variances <= RELATIVE_ZERO * largest_square
    if np.count_nonzero(constant):
        return np.where(constant, (largest_square or np.nan) / (counts + 1.0), variances)
    return variances
