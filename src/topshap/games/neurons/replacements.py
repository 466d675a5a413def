"""The activations of absent units: zero, their mean, or those of another input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.neurons.inputs import import_torch
from topshap.games.neurons.recording import clean_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Players
    from topshap.games.neurons.layers import Layer
    from topshap.games.neurons.network import Setting
    from topshap.games.neurons.running import Runner

ABLATIONS = ("zero", "mean", "resample")


def make_replacements(
    setting: Setting, runner: Runner, layers: Sequence[Layer], size: int
) -> dict[str, Callable[[slice], Any]]:
    """Return a function for each layer, from a slice of the scored inputs to the activations of absent units.

    The result broadcasts against the unfolded output of the layer; see `Layer.unfold`.
    """
    if setting.ablation == "zero":
        zero = import_torch().zeros((), device=setting.inputs.device)
        return {layer.name: _constant(zero) for layer in layers}
    if setting.ablation == "mean":
        return {name: _constant(mean) for name, mean in _means(runner, layers, size).items()}
    others = _other_inputs(setting.rows, setting.inputs.size, setting.seed)
    return _activations(runner, layers, others, size)


def _means(runner: Runner, layers: Sequence[Layer], size: int) -> dict[str, Any]:
    """Return the mean of each unit over all inputs and positions."""
    n_inputs = runner.inputs.size
    means: dict[str, Any] = {}
    for block in clean_outputs(runner, [layer.name for layer in layers], np.arange(n_inputs), size):
        for layer in layers:
            output = block[layer.name]
            others = [axis for axis in range(layer.ndim) if axis != layer.unit_axis]
            share = output.shape[layer.batch_axis] / n_inputs
            mean = share * output.double().mean(dim=others)
            means[layer.name] = means[layer.name] + mean if layer.name in means else mean
    dtypes = {name: output.dtype for name, output in block.items()}
    return {layer.name: layer.columns(means[layer.name].to(dtypes[layer.name])) for layer in layers}


def _activations(
    runner: Runner, layers: Sequence[Layer], rows: Players, size: int
) -> dict[str, Callable[[slice], Any]]:
    """Return the activations for other inputs, one for each scored input."""
    blocks = list(clean_outputs(runner, [layer.name for layer in layers], rows, size))
    found = {}
    for layer in layers:
        output = import_torch().cat([block[layer.name] for block in blocks], dim=layer.batch_axis)
        found[layer.name] = _rows_of(output, layer)
    return found


def _constant(values: Any) -> Callable[[slice], Any]:
    return lambda _: values


def _rows_of(output: Any, layer: Layer) -> Callable[[slice], Any]:
    def of(rows: slice) -> Any:
        return output.narrow(layer.batch_axis, rows.start, rows.stop - rows.start).unsqueeze(layer.batch_axis)

    return of


def _other_inputs(rows: Players, n_inputs: int, seed: int) -> Players:
    """Return a random input for each row, different from the row.

    Examples
    --------
    >>> _other_inputs(np.array([0, 1, 1]), 2, seed=0)
    array([1, 0, 0])
    """
    if n_inputs < 2:
        refuse("inputs", got="1 input", must_be="at least two inputs with ablation='resample'")
    others = np.random.default_rng(seed).integers(n_inputs - 1, size=len(rows))
    return (others + (others >= rows)).astype(np.intp)
