"""The prices of models: given by the user, or from litellm's table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topshap.core.validation import check_real, refuse

PER = 1e6
"""Prices are those of this many tokens."""


def prices_of(model: str | None, prices: Any, *, needed: bool = False) -> tuple[float, float] | None:
    """Return the prices of a million tokens of prompts and of completions, None if they are not known.

    Parameters
    ----------
    model
        The name of the model.
    prices
        A pair of prices, a dict from models to pairs, or None for litellm's table, if litellm is installed.
    needed
        Whether unknown prices are an error.

    Examples
    --------
    >>> prices_of("small", {"small": (0.15, 0.6), "large": (2.5, 10.0)})
    (0.15, 0.6)
    """
    must_be = "a pair of prices per million tokens (prompt, completion), or a dict from models to such pairs"
    if isinstance(prices, Mapping):
        if model in prices:
            return _pair(prices[model], must_be)
        refuse("prices", prices, must_be=f"a dict that contains the model {model!r}")
    if prices is not None:
        return _pair(prices, must_be)
    found = _from_litellm(model) if needed else None
    if needed and found is None:
        must_be = f"given for 'max_cost', since litellm does not know the prices of {model!r}: {must_be}"
        refuse("prices", prices, must_be=must_be)
    return found


def _pair(prices: Any, must_be: str) -> tuple[float, float]:
    if isinstance(prices, str) or not hasattr(prices, "__len__") or len(prices) != 2:
        refuse("prices", prices, must_be=must_be)
    for_prompt, for_completion = (check_real("prices", price, low=0.0) for price in prices)
    return for_prompt, for_completion


def _from_litellm(model: str | None) -> tuple[float, float] | None:
    """Return the prices of litellm's table, None without litellm or if it does not have the model."""
    try:
        from litellm import model_cost  # noqa: PLC0415 - an optional dependency, which takes long to import
    except ImportError:
        return None
    entry = model_cost.get(model, {})
    if "input_cost_per_token" not in entry:
        return None
    return PER * float(entry["input_cost_per_token"]), PER * float(entry.get("output_cost_per_token") or 0.0)
