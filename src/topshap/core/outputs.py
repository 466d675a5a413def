"""The outputs that a game declares: their number and their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from topshap.core.validation import check_int, refuse


def check_outputs(n_outputs: Any, output_names: Any) -> tuple[int | None, tuple[str, ...] | None]:
    """Return the number of outputs and their names, None where they are not given; the names give the number.

    Examples
    --------
    >>> check_outputs(None, ["low", "high"]), check_outputs(3, None)
    ((2, ('low', 'high')), (3, None))
    """
    if output_names is None:
        return None if n_outputs is None else check_int("n_outputs", n_outputs, low=1), None
    if isinstance(output_names, str) or not isinstance(output_names, Iterable):
        refuse("output_names", output_names, must_be="one name per output")
    names = tuple(output_names)
    n_outputs = check_int("n_outputs", len(names) if n_outputs is None else n_outputs, low=1)
    if len(set(names)) < len(names) or len(names) != n_outputs or not all(isinstance(name, str) for name in names):
        refuse("output_names", output_names, must_be=f"{n_outputs} distinct strings, one per output")
    return n_outputs, names
