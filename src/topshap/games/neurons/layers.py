"""The layers whose units are players: which modules they are, and where the units are in their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topshap.core.validation import check_choice, check_int, did_you_mean, refuse
from topshap.games.neurons.inputs import import_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS = ("channel", "neuron", "head")
"""The kinds of units: axis 1 of a layer's output, its last axis, or equal blocks of its last axis."""


@dataclass(frozen=True)
class Layer:
    """A layer of a module, and the axes of its output.

    Attributes
    ----------
    name : str
        The name of the layer in the module.
    n_units : int
        The number of units.
    width : int
        The number of entries of a unit on the axis of units; above 1 for heads.
    batch_axis, unit_axis : int
        The axis of the output with one entry per input, and the axis of units.
    ndim : int
        The number of axes of the output.
    """

    name: str
    n_units: int
    width: int
    batch_axis: int
    unit_axis: int
    ndim: int

    def unfold(self, output: Any, copies: int, n_inputs: int) -> Any:
        """Split the axis of inputs into (copies, inputs); an output of one copy gets an axis of size 1."""
        held = output.shape[self.batch_axis] // n_inputs
        return output.unflatten(self.batch_axis, (1 if held < copies else copies, n_inputs))

    def mask(self, present: Any) -> Any:
        """Return a bool tensor (copies, units) in the shape of an unfolded output."""
        columns = present.repeat_interleave(self.width, dim=1)
        ordered = columns if self.batch_axis < self.unit_axis else columns.T
        return ordered.reshape(self._shape(copies=len(present)))

    def columns(self, values: Any) -> Any:
        """Return one number for each entry of the axis of units in the shape of an unfolded output."""
        return values.reshape(self._shape(copies=1))

    def _shape(self, copies: int) -> list[int]:
        shape = [1] * (self.ndim + 1)
        shape[self.batch_axis] = copies
        shape[self.unit_axis + (self.unit_axis > self.batch_axis)] = self.n_units * self.width
        return shape


def names_of(module: Any) -> dict[str, Any]:
    """Return all submodules by name; the module itself has the name of its class."""
    return {name or type(module).__name__: each for name, each in module.named_modules()}


def find_layers(module: Any, layers: Any) -> list[str]:
    """Return the names of layers that are given by name or as modules."""
    names = names_of(module)
    listed = list(layers) if isinstance(layers, Sequence) and not isinstance(layers, str) else [layers]
    found = [_find(each, names) for each in listed]
    if not found:
        refuse("layers", layers, must_be="at least one layer")
    if len(set(found)) < len(found):
        refuse("layers", layers, must_be="different layers")
    return found


def _find(layer: Any, names: Mapping[str, Any]) -> str:
    if isinstance(layer, str) and layer not in names:
        some = ", ".join(repr(name) for name in list(names)[1:7]) or f"the module itself, {next(iter(names))!r}"
        refuse("layers", layer, must_be=f"names of submodules, such as {some}", hint=did_you_mean(layer, names))
    found = [name for name, each in names.items() if each is layer or name == layer]
    if not found:
        refuse("layers", got=repr(type(layer)), must_be="layers of the module, by name or as modules")
    return found[0]


def check_units(unit: Any, n_layers: int) -> list[str]:
    """Return the kind of unit of each layer."""
    listed = list(unit) if isinstance(unit, Sequence) and not isinstance(unit, str) else [unit] * n_layers
    if len(listed) != n_layers:
        refuse("unit", unit, must_be=f"one kind of unit, or one for each of the {n_layers} layers")
    for each in listed:
        check_choice("unit", each, UNITS)
    return listed


def is_attention(module: Any) -> bool:
    """Return whether a module is torch's multi-head attention, which does not return its heads."""
    return isinstance(module, import_torch().nn.MultiheadAttention)


def make_layer(name: str, module: Any, unit: str, shapes: tuple[Any, Any], n_heads: int | None) -> Layer:
    """Return a layer, given the shapes of its output for one and for two inputs."""
    one, two = map(tuple, shapes)
    axes = [axis for axis, (a, b) in enumerate(zip(one, two, strict=False)) if (a, b) == (1, 2)]
    if len(one) != len(two) or len(one) < 2 or len(axes) != 1:
        must_be = f"layers whose output has an axis with one entry per input; that of {name!r} has shape {one}"
        refuse("layers", name, must_be=must_be + f" for one input and {two} for two")
    unit_axis = 1 if unit == "channel" else len(one) - 1
    _check_axis(name, module, unit, len(one))
    if unit_axis == axes[0]:
        must_be = f"'neuron' or 'head' for {name!r}, whose output has its inputs on axis 1"
        refuse("unit", unit, must_be=must_be)
    size = one[unit_axis]
    n_units = _heads(name, module, size, n_heads) if unit == "head" else size
    return Layer(name, n_units, size // n_units, axes[0], unit_axis, len(one))


def _check_axis(name: str, module: Any, unit: str, ndim: int) -> None:
    """Refuse units of layers whose axis 1 is not that of channels, or whose last axis is that of positions."""
    kind = type(module).__name__
    if ndim > 2 and unit == "channel" and kind == "Linear":
        refuse("unit", unit, must_be=f"'neuron' for the linear layer {name!r}, whose units are on the last axis")
    if ndim > 2 and unit != "channel" and kind.startswith("Conv"):
        refuse("unit", unit, must_be=f"'channel' for the convolution {name!r}")


def _heads(name: str, module: Any, size: int, n_heads: int | None) -> int:
    heads = module.num_heads if is_attention(module) else n_heads
    if heads is None:
        must_be = f"given for {name!r}, a {type(module).__name__}: the number of heads that its output consists of"
        refuse("n_heads", n_heads, must_be=must_be)
    heads = check_int("n_heads", heads, low=1)
    if size % heads:
        refuse("n_heads", heads, must_be=f"a divisor of {size}, the width of the output of {name!r}")
    return heads
