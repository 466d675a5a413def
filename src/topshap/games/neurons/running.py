"""Forward passes of a torch module; everything that they change in the module is restored when they end."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

from topshap.games.neurons.inputs import import_torch
from topshap.games.neurons.layers import is_attention, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from topshap.games.neurons.inputs import Inputs

_ONE_AT_A_TIME = RLock()
"""Hooks belong to the module, so threads that share it take turns."""


@contextmanager
def evaluation_mode(module: Any) -> Iterator[None]:
    """Run a module in evaluation mode, without gradients and without fused kernels that do not call submodules."""
    torch = import_torch()
    modes = [(each, each.training) for each in module.modules()]
    fused = torch.backends.mha.get_fastpath_enabled()
    with _ONE_AT_A_TIME, torch.no_grad():
        try:
            torch.backends.mha.set_fastpath_enabled(False)
            module.eval()
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fused)
            for each, training in modes:
                each.training = training


class Runner:
    """A module and its inputs: forward passes with hooks and with replaced submodules.

    Parameters
    ----------
    module, inputs
        The module and its inputs.
    names, units
        The names and the kinds of units of the layers. If heads of multi-head attention are units, a function for the
        output of such a layer gets and replaces the concatenated heads, before their projection.

    Attributes
    ----------
    modules : dict
        All submodules by name.
    """

    def __init__(self, module: Any, inputs: Inputs, names: Sequence[str], units: Sequence[str]) -> None:
        self.module, self.inputs = module, inputs
        self.modules = names_of(module)
        self._attention = [
            self.modules[name]
            for name, unit in zip(names, units, strict=True)
            if unit == "head" and is_attention(self.modules[name])
        ]

    def run(
        self,
        rows: Any,
        *,
        copies: int = 1,
        on_output: Mapping[str, Callable[[Any], Any]] | None = None,
        forwards: Mapping[str, Callable[..., Any]] | None = None,
    ) -> Any:
        """Return the output for some rows, all of them repeated `copies` times.

        Parameters
        ----------
        rows, copies
            Positions of inputs, and how often they are repeated.
        on_output
            Functions of the outputs of submodules, by name; a result that is not None replaces the output.
        forwards
            Forward functions of submodules, by name, that are run instead of their own.
        """
        with ExitStack() as stack:
            for name, function in (forwards or {}).items():
                stack.enter_context(_replaced(self.modules[name], function))
            for name, function in (on_output or {}).items():
                stack.callback(self.modules[name].register_forward_hook(_hook(function)).remove)
            for attention in self._attention:
                stack.enter_context(_separate_heads(attention))
            return self.inputs.call(self.module, rows, copies)


def _hook(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda _module, _arguments, output: function(output)


@contextmanager
def _replaced(module: Any, forward: Callable[..., Any]) -> Iterator[None]:
    """Replace the forward function of a module."""
    before = vars(module).get("forward")
    try:
        module.forward = forward
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before


def tensor_of(output: Any) -> Any:
    """Return the tensor of a module's output, which is the first entry of a tuple; None if there is no tensor."""
    first = output[0] if isinstance(output, tuple) and output else output
    return first if isinstance(first, import_torch().Tensor) else None


def with_tensor(output: Any, tensor: Any) -> Any:
    """Return the output of a module with another tensor."""
    return (tensor, *output[1:]) if isinstance(output, tuple) else tensor


@contextmanager
def _separate_heads(attention: Any) -> Iterator[None]:
    """Replace the output projection by the identity, and project after all hooks."""
    torch = import_torch()
    projection = attention.out_proj
    weight, bias = projection.weight, projection.bias
    identity = torch.nn.Linear(weight.shape[1], weight.shape[1], bias=False, device=weight.device, dtype=weight.dtype)
    torch.nn.init.eye_(identity.weight)

    def project(_module: Any, _given: Any, output: Any) -> Any:
        return with_tensor(output, torch.nn.functional.linear(tensor_of(output), weight, bias))

    handle = attention.register_forward_hook(project)
    try:
        attention.out_proj = identity
        yield
    finally:
        attention.out_proj = projection
        handle.remove()
