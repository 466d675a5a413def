"""A network with ablated units: one forward pass for many coalitions and many inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.neurons.inputs import import_torch
from topshap.games.neurons.layers import make_layer
from topshap.games.neurons.recording import trace
from topshap.games.neurons.replacements import make_replacements
from topshap.games.neurons.replay import make_replay
from topshap.games.neurons.running import Runner, evaluation_mode, tensor_of, with_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topshap.core.typing import Coalitions, Players
    from topshap.games.neurons.inputs import Inputs
    from topshap.games.neurons.layers import Layer
    from topshap.games.neurons.recording import Trace


@dataclass(frozen=True)
class Setting:
    """A module, its inputs, and the units that are ablated; see `NeuronGame` for the options."""

    module: Any
    inputs: Inputs
    rows: Players
    """The positions of the inputs that are scored."""
    names: tuple[str, ...]
    units: tuple[str, ...]
    ablation: str
    n_heads: int | None
    seed: int
    batch_bytes: int
    cache_bytes: int


class AblatedNetwork:
    """The outputs of a network with some of its units.

    Attributes
    ----------
    layers : list of Layer
        The layers, in the order of the setting.
    output_shape : tuple of int
        The shape of the output for all scored inputs.
    coalitions_at_once : int
        The number of coalitions in one forward pass.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._runner = Runner(setting.module, setting.inputs, setting.names, setting.units)
        first_row = int(setting.rows[0])
        with evaluation_mode(setting.module):
            traces = self._trace([first_row]), self._trace([first_row, first_row])
            self.layers = self._layers(traces)
            self.output_shape = self._output_shape()
            sizes = traces[0].sizes
            rows_at_once = self._fitting(sizes.values())
            self._replacements = make_replacements(setting, self._runner, self.layers, rows_at_once)
            first = min(setting.names, key=traces[0].names.index)
            limits = {"size": rows_at_once, "at_most": setting.cache_bytes}
            self._replay = make_replay(self._runner, setting.rows, traces, first, **limits)
        self._rows_at_once = self._fitting(size for name, size in sizes.items() if self._replay.runs(name))
        self.coalitions_at_once = max(1, self._rows_at_once // len(setting.rows))

    @property
    def skipped(self) -> list[str]:
        """The names of the submodules that are not run again, since their outputs are replayed."""
        return list(self._replay.samples)

    def outputs(self, present: Coalitions) -> Any:
        """Return the outputs for each row of present units, a tensor of shape (coalitions, scored inputs, ...)."""
        torch, n_rows = import_torch(), len(self._setting.rows)
        masks = torch.as_tensor(present, device=self._setting.inputs.device)
        size = min(n_rows, self._rows_at_once)
        with evaluation_mode(self._setting.module):
            blocks = [self._pass(masks, slice(i, min(i + size, n_rows))) for i in range(0, n_rows, size)]
        return torch.cat(blocks, dim=1)

    def _pass(self, masks: Any, rows: slice) -> Any:
        """Return the outputs of one forward pass, in which every input is repeated for every coalition."""
        copies = len(masks)
        output = self._runner.run(
            self._setting.rows[rows],
            copies=copies,
            on_output=self._ablations(masks, rows),
            forwards=self._replay.forwards(rows, copies),
        )
        return output.unflatten(0, (copies, rows.stop - rows.start))

    def _ablations(self, masks: Any, rows: slice) -> dict[str, Callable[[Any], Any]]:
        """Return the functions that replace the absent units in the outputs of the layers."""
        ends = np.cumsum([layer.n_units for layer in self.layers])
        return {
            layer.name: self._ablate(layer, masks[:, end - layer.n_units : end], rows)
            for layer, end in zip(self.layers, ends, strict=True)
        }

    def _ablate(self, layer: Layer, present: Any, rows: slice) -> Callable[[Any], Any]:
        mask, replacement = layer.mask(present), self._replacements[layer.name](rows)

        def ablate(output: Any) -> Any:
            unfolded = layer.unfold(tensor_of(output), len(present), rows.stop - rows.start)
            ablated = import_torch().where(mask, unfolded, replacement)
            return with_tensor(output, ablated.flatten(layer.batch_axis, layer.batch_axis + 1))

        return ablate

    def _output_shape(self) -> tuple[int, ...]:
        """Return the shape of the output for all scored inputs, given that for one."""
        rows = self._setting.rows
        output = self._runner.run(rows[:1])
        if not isinstance(output, import_torch().Tensor) or output.ndim == 0 or len(output) != 1:
            got = f"shape {tuple(output.shape)} for one input" if hasattr(output, "shape") else repr(type(output))
            refuse("module", got=got, must_be="a module that returns a tensor with one row per input")
        return (len(rows), *output.shape[1:])

    def _fitting(self, sizes: Iterable[int]) -> int:
        """Return the number of rows whose largest output has the allowed size."""
        return max(1, self._setting.batch_bytes // max(sizes))

    def _trace(self, rows: list[int]) -> Trace:
        try:
            return trace(self._runner, rows)
        except Exception as error:  # noqa: BLE001 - any error of a module is reported
            got = f"{type(error).__name__}: {error}"
            refuse("inputs", got=got, must_be="tensors that the module accepts, with one row per input")

    def _layers(self, traces: tuple[Trace, Trace]) -> list[Layer]:
        setting, layers = self._setting, []
        for name, unit in zip(setting.names, setting.units, strict=True):
            calls = traces[0].names.count(name)
            if calls != 1:
                must_be = f"layers that one forward pass calls once; {name!r} is called {calls} times"
                refuse("layers", name, must_be=must_be)
            if name not in traces[0].outputs:
                refuse("layers", name, must_be="layers whose output is a tensor, or a tuple that starts with one")
            one, two = (tuple(tensor_of(each.outputs[name]).shape) for each in traces)
            layers.append(make_layer(name, self._runner.modules[name], unit, (one, two), setting.n_heads))
        return layers
