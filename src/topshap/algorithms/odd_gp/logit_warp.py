"""Logit warps of bounded values.

A probability, an accuracy or a score saturates near its bounds, which looks like an interaction of players that do not
interact otherwise. Warped to

    f(S) = logit((v(S) - low) / (high - low)),

such games are smoother, often almost additive. The bounds are [0, 1] or [-1, 1] where all values lie strictly inside
and some come close to an end; then small values are as informative as those in the middle. A value on an end rules
these bounds out: a model's probability is never exactly 0 or 1, but a normalised game starts at 0 or ends at 1.
Otherwise the bounds lie beyond the observed values: slightly, or far at an end where the values do not saturate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from topshap.algorithms.odd_gp.sigmoid_game import sigmoid_shapley_values

if TYPE_CHECKING:
    from topshap.core.typing import Values

MARGINS = ((0.005, 0.005), (0.01, 1.0), (1.0, 0.01))
"""The distances of the bounds below and above the observed values, relative to their range: for values that saturate at
both ends, at the lower end, and at the upper end.

Chosen on the tuning games of the fixed-budget benchmark. More warps, up to 14, gained 1 to 2% each for 15% more time.
"""
USUAL_BOUNDS = ((0.0, 1.0), (-1.0, 1.0))
"""The bounds of probabilities and of scores."""
CLOSE, SLACK = 0.1, 1e-4
"""Relative to the range of the observed values: usual bounds apply if a value is this close to one of them; and they
are moved outwards by this much, which limits the logits of values next to them."""
TIGHT, TIGHT_SLACK = 1e-2, 1e-9
"""The same for tight bounds, which differ only where values are closer to a bound than the slack.

If a game is almost additive on the logit scale, its tight logits are as well, however close to a bound its values are:
of steep sigmoids of 30 to 500 players, the slack of 1e-4 hides most values, and mean squared errors are more than 1000
times as large without tight bounds. In other saturated games, tight logits are dominated by the most extreme values.
"""


class Warp(NamedTuple):
    """The logit between two bounds that lie outside an interval by fractions of its length.

    The fields are numbers, or arrays with one number per output, for values with one column per output.
    """

    low: float | Values
    """The lower end of the interval."""
    length: float | Values
    """The length of the interval."""
    below: float | Values
    """The distance of the lower bound from the interval, relative to its length."""
    above: float | Values
    """The distance of the upper bound from the interval, relative to its length."""

    @classmethod
    def around(cls, values: Values, margins: tuple[float, float]) -> Warp:
        """Return the warp with these margins around the range of the values."""
        return cls(float(values.min()), float(np.ptp(values)), *margins)

    @property
    def _width(self) -> float | Values:
        """The distance between the bounds, relative to the length of the interval."""
        return 1.0 + self.below + self.above

    def forward(self, values: Values) -> Values:
        """Return f of values between the bounds."""
        # The low end is subtracted first, so that values that differ only by rounding errors have finite logits.
        return np.asarray(logit(((values - self.low) / self.length + self.below) / self._width))

    def expected(self, mean: Values, variance: Values | float) -> Values:
        """Return the expected value where f is normal (MacKay's approximation); with variance 0, the inverse."""
        between = expit(mean / _flattening(variance))
        return np.asarray(self.low + self.length * (self._width * between - self.below))

    def expected_part(self, odd: Values, even: Values | float, variance: Values | float, sign: float = 1.0) -> Values:
        """Return the expected (v(x) - sign * v(-x)) / 2 for the odd and even parts of f: odd for 1, even for -1."""
        return (self.expected(even + odd, variance) - sign * self.expected(even - odd, variance)) / 2.0

    def additive_shapley_values(self, constant: float, effects: Values, variance: float) -> Values:
        """Return the Shapley values of the expected value where f has the mean constant + effects @ x."""
        flattening = float(_flattening(variance))
        values = sigmoid_shapley_values(constant / flattening, effects / flattening)
        return np.multiply(self.length, self._width) * values


def _flattening(variance: Values | float) -> Values | float:
    """Return the factor by which the variance of f flattens the sigmoid (MacKay's approximation)."""
    return np.sqrt(1.0 + np.pi / 8.0 * variance)


def candidate_warps(values: Values) -> list[Warp]:
    """Return the warps that may fit the values of a game, the most likely first.

    Examples
    --------
    >>> [warp.low for warp in candidate_warps(np.array([0.01, 0.4, 0.9]))]
    [0.0, 0.01]
    """
    around = [Warp.around(values, margins) for margins in MARGINS]
    usual = usual_warp(values)
    return [*usual, around[0]] if usual else around


def usual_warp(values: Values) -> list[Warp]:
    """Return the warp between the bounds of probabilities or scores, if one fits the values.

    Examples
    --------
    >>> usual_warp(np.array([0.01, 0.4, 0.9]))[0].length, usual_warp(np.array([0.4, 7.0]))
    (1.0, [])
    """
    return _between_usual_bounds(values, CLOSE, SLACK)


def tight_warp(values: Values) -> list[Warp]:
    """Return the warp between tight bounds of probabilities or scores, if values are close enough to one of them.

    Examples
    --------
    >>> tight_warp(np.array([1e-5, 0.4, 0.9]))[0].below < 1e-8, tight_warp(np.array([0.05, 0.4, 0.9]))
    (True, [])
    """
    return _between_usual_bounds(values, TIGHT, TIGHT_SLACK)


def _between_usual_bounds(values: Values, close: float, slack: float) -> list[Warp]:
    """Return the warp between usual bounds of which one is close to a value, moved outwards by the slack."""
    smallest, largest = float(values.min()), float(values.max())
    spread = largest - smallest
    for low, high in USUAL_BOUNDS:
        if low < smallest and largest < high and min(smallest - low, high - largest) <= close * spread:
            margin = slack * spread / (high - low)
            return [Warp(low, high - low, margin, margin)]
    return []
