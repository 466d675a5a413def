"""Rankings of units without coalitions: by the norm of their activations, and by gradient times activation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.games.neurons.running import Runner, tensor_of
from topshap_bench.neurons.networks import KINDS, Trained, import_torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Values


def activation_scores(name: str, trained: Trained) -> dict[str, Values]:
    """Return the scores of all units, by the name of the ranking.

    ``"norm"`` is the mean Euclidean norm of a unit's activations for an input. ``"gradient"`` is the mean of the sum of
    activations times the gradient of the target's log-probability, which approximates the loss of log-probability
    without the unit; ``"|gradient|"`` is the mean of its absolute value.
    """
    torch = import_torch()
    kind, setting, targets = KINDS[name], trained.game._setting, trained.game._targets  # noqa: SLF001
    runner = Runner(trained.module, setting.inputs, kind.layers, kind.units)
    found: dict[str, Any] = {}

    def keeper(layer: str) -> Callable[[Any], None]:
        def keep(output: Any) -> None:
            found[layer] = tensor_of(output)
            found[layer].retain_grad()

        return keep

    outputs = runner.run(setting.rows, on_output={layer: keeper(layer) for layer in kind.layers})
    torch.log_softmax(outputs, dim=-1)[torch.arange(len(targets)), targets].sum().backward()
    trained.module.zero_grad()
    parts = [_of_layer(layer, found[layer.name]) for layer in trained.game._network.layers]  # type: ignore[union-attr] # noqa: SLF001
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _of_layer(layer: Any, output: Any) -> dict[str, Values]:
    """Return the scores of the units of one layer."""

    def per_unit(tensor: Any) -> Any:  # (inputs, units, entries of a unit)
        moved = tensor.detach().movedim((layer.batch_axis, layer.unit_axis), (0, 1))
        return moved.unflatten(1, (layer.n_units, layer.width)).flatten(2)

    taylor = per_unit(output * output.grad).sum(dim=2)
    return {
        "norm": per_unit(output).norm(dim=2).mean(dim=0).numpy(),
        "gradient": taylor.mean(dim=0).numpy(),
        "|gradient|": taylor.abs().mean(dim=0).numpy(),
    }
