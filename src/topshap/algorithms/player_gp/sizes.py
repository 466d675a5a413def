"""The sizes of random coalitions: a density that puts the evaluations where they reduce the errors most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Players, Values

EXPLORING = 0.2
"""The share of the log-uniform density in every later one: no size is neglected because of a few lucky residuals."""
SIZES_PER_BIN, MOST_BINS = 8, 16
"""The number of coalitions per bin of sizes, and the largest number of bins, that the residuals are averaged in."""


def logits(sizes: Players, n: int) -> Values:
    """Return log(s / (n - s)) for coalitions of s of n players, as a fraction of the largest.

    Examples
    --------
    >>> logits(np.array([1, 5, 9]), 10)
    array([-1.,  0.,  1.])
    """
    return np.log(sizes / (n - sizes)) / np.log(max(n - 1, 2))


def log_uniform(n: int, largest: int) -> Values:
    """Return the density over the sizes 1..largest that is uniform in the logit of the size.

    Contributions to small coalitions are large and vary most. In the logit, every order of magnitude of the size gets
    the same share.

    Examples
    --------
    >>> log_uniform(4, 3).round(3)
    array([0.364, 0.273, 0.364])
    """
    sizes = np.arange(1, largest + 1)
    density = 1.0 / sizes + 1.0 / (n - sizes)
    return density / density.sum()


def adapted(n: int, largest: int, sizes: Players, residuals: Values) -> Values:
    """Return the density that minimises the variance of the estimates, given the residuals at some sizes.

    A coalition of the fraction q of the players has the variance r**2 / (q (1 - q)) / density, so the best density is
    proportional to the standard deviation of the residuals over sqrt(q (1 - q)).

    Examples
    --------
    >>> sizes = np.repeat(np.arange(1, 10), 8)
    >>> adapted(10, 9, sizes, np.where(sizes < 5, 1.0, 0.1)).argmax()
    np.int64(0)
    """
    base = log_uniform(n, largest)
    n_bins = min(MOST_BINS, len(sizes) // SIZES_PER_BIN)
    if n_bins < 2 or not residuals.any():
        return base
    order = np.argsort(sizes, kind="stable")
    bins = np.array_split(order, n_bins)
    centres = np.array([logits(sizes[each], n).mean() for each in bins])
    scaled = residuals / np.abs(residuals).max()  # so that squares do not underflow
    deviations = np.sqrt([np.mean(scaled[each] ** 2) for each in bins])
    every = np.arange(1, largest + 1)
    deviation = np.interp(logits(every, n), centres, deviations)
    density = deviation / np.sqrt(every * (n - every))
    return EXPLORING * base + (1.0 - EXPLORING) * density / density.sum()


def draw_sizes(density: Values, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw sizes from a density over 1, 2, ..., spread evenly over it, in random order.

    Examples
    --------
    >>> np.bincount(draw_sizes(np.array([0.5, 0.25, 0.25]), 8, np.random.default_rng(0)))
    array([0, 4, 2, 2])
    """
    at = (rng.permutation(count) + rng.random()) / count
    return np.minimum(np.searchsorted(np.cumsum(density), at, side="right"), len(density) - 1) + 1
