"""The scale in which an algorithm sees the values of a game."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.powers_of_two import SAFE_EXPONENTS, safe_exponent, times_power

if TYPE_CHECKING:
    from topshap.core.typing import Values

_LARGEST = 2.0 ** SAFE_EXPONENTS[-1]


class Scale:
    """The factor of the values that an algorithm gets: 1, or a power of two for very small or large values, and -1.

    Parameters
    ----------
    negates
        Whether the algorithm runs on the negated game.
    exponent
        The exponent of the power of two.

    Examples
    --------
    >>> scale = Scale(negates=False)
    >>> scale.fit(np.array([0.0, 3e-320])), scale.exponent
    (True, 1061)
    >>> scale.fit(np.array([1e-320, 1.0])), scale.exponent
    (True, 0)
    """

    def __init__(self, *, negates: bool, exponent: int = 0) -> None:
        self.negates = negates
        self.exponent = exponent
        self.largest = 0.0

    @property
    def is_one(self) -> bool:
        """Whether the algorithm gets the values unchanged."""
        return self.exponent == 0 and not self.negates

    def without_sign(self) -> Scale:
        """Return the same power of two for an algorithm that does not run on the negated game."""
        return Scale(negates=False, exponent=self.exponent)

    def fit(self, values: Values) -> bool:
        """Choose the scale for these values and all earlier ones; return whether it has changed."""
        largest = float(np.abs(values).max(initial=0.0))
        if largest <= self.largest:
            return False
        self.largest, before = largest, self.exponent
        wanted = safe_exponent(largest)
        if wanted == 0 or math.frexp(largest)[1] + before not in SAFE_EXPONENTS:
            self.exponent = wanted
        return self.exponent != before

    def apply(self, values: Values) -> Values:
        """Return values of the game as the algorithm gets them."""
        scaled = times_power(values, self.exponent)
        return -scaled if self.negates else scaled

    def apply_to_bound(self, bound: float) -> float:
        """Return a bound of values or differences in the units of the algorithm, cut off above its largest values."""
        with np.errstate(over="ignore"):
            return float(np.clip(times_power(np.float64(bound), self.exponent), -_LARGEST, _LARGEST))  # type: ignore[arg-type]

    def undo(self, estimates: Values) -> Values:
        """Return estimates of the algorithm in the units of the game."""
        unscaled = times_power(estimates, -self.exponent)
        return -unscaled if self.negates else unscaled
