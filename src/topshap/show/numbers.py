"""Probabilities and numbers as text."""

from __future__ import annotations

import math

import numpy as np

from topshap.statistics.ties import OF_ERROR, ROUNDING, SMALL


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


def negligible(value: float, scale: float, error: float = 0.0) -> bool:
    """Return whether a number is a rounding error relative to `scale`, or small relative to both `scale` and `error`.

    Examples
    --------
    >>> negligible(1e-11, scale=3.0), negligible(1e-8, scale=3.0), negligible(1e-8, scale=3.0, error=1e-5)
    (True, False, True)
    """
    size = abs(value)
    return size <= ROUNDING * scale or (size <= SMALL * scale and size <= OF_ERROR * error)


def short_number(value: float, scale: float, *, error: float = 0.0, digits: int = 3) -> str:
    """Return a number with a few digits; a number that is `negligible` is 0.

    Examples
    --------
    >>> short_number(0.123456, scale=3.0), short_number(1.35e-11, scale=3.0)
    ('0.123', '0')
    """
    return f"{0.0 if negligible(value, scale, error) else value:.{digits}g}"


def cell_number(value: float, largest: float) -> str:
    """Return a number for a cell of a table whose largest magnitude is given, with as many decimals as the others.

    Examples
    --------
    >>> [cell_number(value, 12.57) for value in (-12.57, 3.47, 0.0001)], cell_number(2e-9, 3e-9)
    (['-12.6', '3.5', '0'], '2e-09')
    """
    if not 1e-3 <= largest < 1e4:
        return short_number(value, largest, digits=2)
    text = f"{value:.{max(0, 2 - math.floor(math.log10(largest)))}f}"
    return text if float(text) != 0.0 else "0"
