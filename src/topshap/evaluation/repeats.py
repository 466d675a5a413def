"""Check that a game is deterministic: evaluate a few coalitions twice and compare."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import NoisyGameWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values

logger = logging.getLogger("topshap")

REPEATS = 3
"""The number of coalitions that are evaluated twice."""
ROUNDING = 1e-9
"""Values that differ by less than this, relative to the larger one, count as equal."""


def rows_to_repeat(count: int) -> NDArray[np.intp]:
    """Return the rows of a batch to evaluate a second time: the first, the last and one in between.

    Examples
    --------
    >>> rows_to_repeat(100), rows_to_repeat(2)
    (array([ 0, 50, 99]), array([0, 1]))
    """
    return np.unique(np.linspace(0, count - 1, min(count, REPEATS)).round().astype(np.intp))


def warn_if_different(coalitions: Coalitions, first: Values, second: Values, names: tuple[str, ...] | None) -> None:
    """Issue a warning that names the first coalition whose values differ by more than rounding."""
    logger.info("%d coalitions were evaluated a second time to check that the game is deterministic", len(coalitions))
    if first.shape != second.shape:  # all repeats have failed, or the number of outputs has changed
        return
    differ = np.abs(first - second) > ROUNDING * np.maximum(np.abs(first), np.abs(second))  # nan: it has failed
    if differ.any():
        row, *output = place = tuple(int(i[0]) for i in np.nonzero(differ))
        of_output = f" in output {output[0]}" if output else ""
        warnings.warn(
            f"The game is not deterministic: the coalition {names_of(coalitions[row], names)} has the value "
            f"{float(first[place])!r}{of_output} and, evaluated again, {float(second[place])!r}. Declare it with "
            "topshap.Oracle(game, deterministic=False) or an attribute 'deterministic' that is False.",
            NoisyGameWarning,
            stacklevel=2,
        )
