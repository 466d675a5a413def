"""Probabilities and numbers as text."""

from __future__ import annotations

import numpy as np


def percent(probability: float) -> str:
    """Return an estimated probability in percent, never as exactly 0 or 1.

    Examples
    --------
    >>> percent(1.0), percent(0.531), percent(float("nan"))
    ('>99%', '53%', '?')
    """
    if np.isnan(probability):
        return "?"
    return ">99%" if probability > 0.99 else "<1%" if probability < 0.01 else f"{probability:.0%}"


def short_number(value: float, scale: float, *, digits: int = 3) -> str:
    """Return a number with a few digits; a rounding error relative to `scale` is 0.

    Examples
    --------
    >>> short_number(0.123456, scale=3.0), short_number(1.35e-11, scale=3.0)
    ('0.123', '0')
    """
    return f"{0.0 if abs(value) < 1e-9 * scale else value:.{digits}g}"
