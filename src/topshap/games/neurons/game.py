"""Neuron Shapley values: the channels, units or attention heads of a torch network are the players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.errors import GameError
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import check_choice, check_int, front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, in_blocks
from topshap.games.neurons.inputs import Inputs, check_subset, check_targets, import_torch
from topshap.games.neurons.layers import check_units, find_layers
from topshap.games.neurons.network import AblatedNetwork, Setting
from topshap.games.neurons.replacements import ABLATIONS
from topshap.games.neurons.running import evaluation_mode
from topshap.games.neurons.scores import check_score, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from topshap.core.typing import Coalitions, Values


@front_door
class NeuronGame(GroupedGame):
    """Units of a torch network as players: v(S) is the network's score with all units outside S ablated.

    Needs the extra ``topshap[torch]``. The network runs in evaluation mode and without gradients; its mode and its
    hooks are restored after every call. Coalitions and inputs are evaluated together in one batch, as far as memory
    allows. The outputs of submodules before the first of the layers are computed once, when the game is created.

    Parameters
    ----------
    module
        A trained ``torch.nn.Module``. It must not be changed while the game is used.
    layers
        The layers whose units are players: the name of a submodule, a submodule, or a list of these. One forward pass
        must call each of them once.
    inputs
        The inputs to score on, and the reference for ``"mean"`` and ``"resample"``: a tensor or an array with one row
        per input, a tuple of several arguments, or a dict of keyword arguments.
    targets
        One target per input.
    unit
        ``"channel"``: axis 1 of a layer's output, as of a convolution. ``"neuron"``: the last axis, as of a linear
        layer. ``"head"``: the heads of ``torch.nn.MultiheadAttention``, or equal blocks of the last axis of any other
        layer, whose number is `n_heads`. A list has one kind for each layer.
    ablation
        The activations of an absent unit: ``"zero"``; ``"mean"``, its mean over all inputs and positions; or
        ``"resample"``, those for another random input, which is the same for all units and coalitions.
    score
        ``"accuracy"``; ``"log-prob"``, the mean log-probability of the targets, the negative cross-entropy;
        ``"neg-mse"``, the negative mean squared error; or a function of the outputs for all scored inputs and their
        targets, two tensors, that returns one number or a vector of several scores.
    subset
        The inputs to score on, as a bool array or positions, for example those of one class; by default all.
    n_heads
        The number of heads of layers that are not ``torch.nn.MultiheadAttention``.
    groups
        A dict from a player's name to its units, such as ``["conv2[3]", "conv2[17]"]``. Each unit that is not in a
        group is a separate player.
    always
        Units or groups that are never ablated and are therefore not players.
    random_state
        The seed of ``ablation="resample"``.
    batch_bytes
        The approximate size of the largest activation in one forward pass, in bytes.
    cache_bytes
        The allowed size of the outputs that are computed once, in bytes. If they need more, every forward pass runs
        the whole network.
    fingerprint
        A name for the module and a score function in stores, if they cannot be fingerprinted. Inputs, targets, options
        and players are always part of the fingerprint.

    References
    ----------
    Ghorbani, A. and Zou, J. (2020). Neuron Shapley: Discovering the Responsible Neurons. NeurIPS 33.

    Examples
    --------
    >>> import topshap
    >>> import torch
    >>> network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    >>> with torch.no_grad():
    ...     for parameter in network.parameters():
    ...         _ = parameter.fill_(1.0)
    ...     _ = network[0].bias.copy_(torch.tensor([1.0, 5.0, 2.0]))
    >>> game = NeuronGame(network, "0", torch.zeros(4, 2), torch.full((4,), 9.0), unit="neuron", score="neg-mse")
    >>> topshap.identify(game, k=1).names
    ('0[1]',)
    """

    _functions = ("module", "score")

    def __init__(
        self,
        module: Any,
        layers: Any,
        inputs: Any,
        targets: Any,
        *,
        unit: str | Sequence[str] = "channel",
        ablation: str = "zero",
        score: str | Callable[[Any, Any], Any] = "accuracy",
        subset: Any = None,
        n_heads: int | None = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        random_state: int = 0,
        batch_bytes: int = 2**23,
        cache_bytes: int = 2**30,
        fingerprint: str | None = None,
    ) -> None:
        torch = import_torch()
        if not isinstance(module, torch.nn.Module):
            refuse("module", got=repr(type(module)), must_be="a torch.nn.Module")
        names = find_layers(module, layers)
        check_choice("ablation", ablation, ABLATIONS)
        arguments = Inputs(inputs, module)
        self._setting = Setting(
            module=module,
            inputs=arguments,
            rows=check_subset(subset, arguments.size),
            names=tuple(names),
            units=tuple(check_units(unit, len(names))),
            ablation=ablation,
            n_heads=None if n_heads is None else check_int("n_heads", n_heads, low=1),
            seed=check_int("random_state", random_state, low=0),
            batch_bytes=check_int("batch_bytes", batch_bytes, low=1),
            cache_bytes=check_int("cache_bytes", cache_bytes, low=0),
        )
        self._targets = check_targets(targets, arguments.size, arguments.device)[self._setting.rows]
        self._network: AblatedNetwork | None = AblatedNetwork(self._setting)
        labels = [f"{layer.name}[{i}]" for layer in self._network.layers for i in range(layer.n_units)]
        super().__init__(PlayerGroups(labels, groups, always, element="unit"), fingerprint)
        self._weights = _versions(module)
        self._score = check_score(score, self._network.output_shape, self._targets)

    def _values(self, present: Coalitions) -> Values:
        if _versions(self._setting.module) != self._weights:
            raise GameError(
                "The weights of the module have changed since the NeuronGame was created. Create a new one."
            )
        if self._network is None:  # after unpickling
            self._network = AblatedNetwork(self._setting)
        return in_blocks(self._block, present, self._network.coalitions_at_once)

    def _block(self, present: Coalitions) -> Values:
        assert self._network is not None  # noqa: S101 - for the type checker
        return values_of(self._score, self._network.outputs(present), self._targets)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_network": None, "_weights": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._weights = _versions(self._setting.module)

    def _parts(self) -> dict[str, Any]:
        setting = self._setting
        with evaluation_mode(setting.module):  # the mode must not make a difference
            module = fingerprint_of("module", module=setting.module)
        return {
            "module": setting.module if module is None else module,
            "score": self._score,
            "inputs": setting.inputs.tensors,
            "input names": setting.inputs.names,
            "targets": self._targets,
            "rows": setting.rows,
            "layers": setting.names,
            "units": setting.units,
            "ablation": setting.ablation,
            "n_heads": setting.n_heads,
            "seed": setting.seed if setting.ablation == "resample" else None,
        }

    def _options(self) -> dict[str, Any]:
        return {"score": self._score if isinstance(self._score, str) else None}


def _versions(module: Any) -> list[tuple[int, int]]:
    """Return numbers that change when a parameter or buffer is changed in place or replaced."""
    tensors = [*module.parameters(), *module.buffers()]
    return [(tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version) for tensor in tensors]  # noqa: SLF001
