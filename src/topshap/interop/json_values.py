"""Values of results as the lists, numbers and strings of JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value as lists, numbers and strings, for JSON; numbers that it does not have are strings.

    Examples
    --------
    >>> plain((np.array([1.0, np.nan]), "a"))
    [[1.0, 'nan'], 'a']
    """
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
