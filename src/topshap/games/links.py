"""Links: the scale on which an averaged prediction is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap.core.errors import GameError
from topshap.core.validation import check_choice

if TYPE_CHECKING:
    from topshap.core.typing import Values

LinkName: TypeAlias = Literal["identity", "logit"]
LINKS: tuple[LinkName, ...] = ("identity", "logit")

CLIP = 1e-12
"""Probabilities are clipped to [CLIP, 1 - CLIP] before the logit, so log-odds are at most 27.7 in magnitude."""

_ROUNDING = 1e-6
"""How far a probability may be outside [0, 1], since models compute in single precision."""


def check_link(link: LinkName) -> LinkName:
    """Return the link; raise an error if there is no link of this name."""
    check_choice("link", link, LINKS)
    return link


def apply_link(link: LinkName, predictions: Values) -> Values:
    """Return predictions on the scale of a link: unchanged, or the log-odds of probabilities.

    Examples
    --------
    >>> apply_link("logit", np.array([0.5, 0.75]))
    array([0.        , 1.09861229])
    >>> apply_link("logit", np.array([0.5, 2.0]))
    Traceback (most recent call last):
    ...
    topshap.core.errors.GameError: link='logit' needs predictions in [0, 1], such as probabilities. Got 2.0 instead.
    """
    if link == "identity":
        return predictions
    outside = (predictions < -_ROUNDING) | (predictions > 1.0 + _ROUNDING)
    if outside.any():
        got = float(predictions[outside].ravel()[0])
        raise GameError(f"link='logit' needs predictions in [0, 1], such as probabilities. Got {got} instead.")
    chances = np.clip(predictions, CLIP, 1.0 - CLIP)
    log_odds: Values = np.log(chances) - np.log1p(-chances)
    return log_odds
