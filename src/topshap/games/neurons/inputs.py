"""The inputs of a torch module: one or several tensors with one row per input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import refuse


def import_torch() -> Any:
    """Return torch; the error for a missing installation names the extra."""
    return import_extra("torch", extra="torch", needed_by="NeuronGame")


class Inputs:
    """The arguments of a module, with one row per input.

    Parameters
    ----------
    inputs
        A tensor or an array for one argument, a tuple for several positional arguments, or a dict for keyword
        arguments.
    module
        The module, whose parameters determine the device of the tensors and the dtype of real numbers.

    Attributes
    ----------
    size : int
        The number of inputs.
    tensors : list of Tensor
        The tensors, in order.
    names : tuple of str, or None
        The names of keyword arguments.
    device
        The device of the tensors.
    """

    def __init__(self, inputs: Any, module: Any) -> None:
        torch = import_torch()
        like = next(iter(module.parameters()), torch.zeros(()))
        self.device = like.device
        self.names = tuple(inputs) if isinstance(inputs, Mapping) else None
        given = list(inputs.values()) if isinstance(inputs, Mapping) else inputs
        given = list(given) if isinstance(inputs, Mapping | tuple) else [given]
        self.tensors = [_as_tensor(each, like) for each in given]
        sizes = [len(tensor) if tensor.ndim else 0 for tensor in self.tensors]
        if not sizes or 0 in sizes:
            refuse("inputs", got=f"shapes {_shapes(self.tensors)}", must_be="tensors with at least one row")
        if len(set(sizes)) > 1:
            refuse("inputs", got=f"shapes {_shapes(self.tensors)}", must_be="tensors with equally many rows")
        self.size = sizes[0]

    def call(self, module: Any, rows: Any, copies: int = 1) -> Any:
        """Return the output of the module for some rows, all of them repeated `copies` times."""
        chosen = [tensor[rows] for tensor in self.tensors]
        if copies > 1:
            chosen = [tensor.repeat(copies, *(1,) * (tensor.ndim - 1)) for tensor in chosen]
        if self.names is None:
            return _logits(module(*chosen))
        return _logits(module(**dict(zip(self.names, chosen, strict=True))))


def check_targets(targets: Any, n_inputs: int, device: Any) -> Any:
    """Return the targets as a tensor with one row per input."""
    torch = import_torch()
    tensor = targets if isinstance(targets, torch.Tensor) else _from_array("targets", targets)
    if tensor.ndim == 0 or len(tensor) != n_inputs:
        must_be = f"one target for each of the {n_inputs} inputs"
        refuse("targets", got=f"an array of shape {tuple(tensor.shape)}", must_be=must_be)
    return tensor.detach().to(device)


def check_subset(subset: Any, n_inputs: int) -> Any:
    """Return the positions of the inputs that are scored, as an array of ints."""
    if subset is None:
        return np.arange(n_inputs)
    chosen = np.asarray(subset.cpu() if hasattr(subset, "cpu") else subset)
    if chosen.dtype == np.bool_ and chosen.shape == (n_inputs,):
        chosen = np.flatnonzero(chosen)
    must_be = f"a bool array with one entry for each of the {n_inputs} inputs, or positions of inputs"
    valid = chosen.ndim == 1 and chosen.dtype.kind in "iu"
    if not valid or not ((chosen >= 0) & (chosen < n_inputs)).all():
        refuse("subset", subset, must_be=must_be)
    if not chosen.size:
        refuse("subset", subset, must_be="at least one input")
    return chosen.astype(np.intp)


def _logits(output: Any) -> Any:
    """Return the tensor of a network's output: the ``logits`` of a model output, or the first entry of a tuple."""
    output = getattr(output, "logits", output)
    return output[0] if isinstance(output, tuple | list) and output else output


def _as_tensor(values: Any, like: Any) -> Any:
    tensor = values if hasattr(values, "detach") else _from_array("inputs", values)
    tensor = tensor.detach().to(like.device)
    return tensor.to(like.dtype) if tensor.is_floating_point() and like.is_floating_point() else tensor


def _from_array(parameter: str, values: Any) -> Any:
    try:
        array = np.ascontiguousarray(values)
    except ValueError:  # ragged nested lists
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        refuse(parameter, got=f"an array of dtype {array.dtype}", must_be="numbers: a tensor or an array")
    return import_torch().as_tensor(array)


def _shapes(tensors: list[Any]) -> str:
    return ", ".join(str(tuple(tensor.shape)) for tensor in tensors)
