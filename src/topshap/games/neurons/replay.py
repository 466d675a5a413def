"""Outputs of submodules that do not depend on the coalition: they are computed once and replayed.

Everything that a network computes before the first ablated layer, and the output of this layer before ablation, is the
same for all coalitions. The outermost submodules that have finished by then are not run again. Most of their outputs
are used only by the next of them. To find those that are used later, such as the input of a residual connection, the
network is run with NaN in place of each output; only the outputs that matter are kept. If the replayed output of the
network differs from its output, nothing is replayed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from topshap.games.neurons.inputs import import_torch
from topshap.games.neurons.recording import clean_outputs
from topshap.games.neurons.running import tensor_of, with_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Players
    from topshap.games.neurons.recording import Trace
    from topshap.games.neurons.running import Runner


class Replay:
    """The submodules that are not run again, and their outputs.

    Parameters
    ----------
    samples
        The output of each submodule for one input, by name; empty if nothing is replayed.
    first
        The name of the first ablated layer. It returns its output once, not once for every coalition.

    Attributes
    ----------
    kept : dict
        The outputs that matter, for all scored inputs, by name.
    """

    def __init__(self, samples: dict[str, Any], first: str) -> None:
        self.samples, self._first = samples, first
        self.kept: dict[str, Any] = {}

    def runs(self, name: str) -> bool:
        """Return whether a submodule is run, or is the first ablated layer, whose output has a copy per coalition."""
        return name == self._first or not any(f"{name}.".startswith(f"{outer}.") for outer in self.samples)

    def forwards(self, rows: slice, copies: int) -> dict[str, Callable[..., Any]]:
        """Return forward functions that replay the outputs for some of the scored inputs, in several copies."""
        return {name: self._forward(name, rows, copies) for name in self.samples}

    def _forward(self, name: str, rows: slice, copies: int) -> Callable[..., Any]:
        sample = self.samples[name]
        tensor = tensor_of(sample)
        if name not in self.kept:
            output = tensor.new_full(tensor.shape, float("nan"))  # one row, since only the shape of a row matters
        elif name == self._first:
            output = self.kept[name][rows]
        else:
            output = self.kept[name][rows].repeat(copies, *(1,) * (tensor.ndim - 1))
        answer = with_tensor(sample, output)
        return lambda *_, **__: answer


def make_replay(
    runner: Runner, rows: Players, traces: tuple[Trace, Trace], first: str, *, size: int, at_most: int
) -> Replay:
    """Return what is replayed for the scored rows.

    Parameters
    ----------
    runner, rows
        The module, and the positions of the scored inputs.
    traces
        Forward passes of one and of two inputs.
    first
        The first ablated layer.
    size
        The number of rows in one forward pass.
    at_most
        The allowed number of bytes of the kept outputs. If they need more, nothing is replayed.
    """
    one = traces[0]
    fixed = [name for name in finished_before(one.names, first) if _has_one_row_per_input(name, *traces)]
    replay = Replay({name: one.outputs[name] for name in _outermost(fixed)}, first)
    pair = rows[[0, -1]]
    expected = runner.run(pair)
    outputs = _joined(runner, list(replay.samples), pair, size)
    needed = []
    for name in replay.samples:
        replay.kept = {other: output for other, output in outputs.items() if other != name}
        if not _replays(replay, runner, pair, expected):
            needed.append(name)
    replay.kept = {name: outputs[name] for name in needed}
    bytes_per_row = sum(output.nbytes for output in replay.kept.values()) // len(pair)
    if bytes_per_row * len(rows) > at_most or not _replays(replay, runner, pair, expected):
        return Replay({}, first)
    replay.kept = _joined(runner, needed, rows, size)
    return replay


def finished_before(names: Sequence[str], first: str) -> list[str]:
    """Return the submodules whose only call ended before that of another one, or with it.

    Examples
    --------
    >>> finished_before(["stem.conv", "stem.relu", "stem", "body.conv", "body"], "body.conv")
    ['stem.conv', 'stem.relu', 'stem', 'body.conv']
    """
    counts = Counter(names)
    return [name for name in names[: names.index(first) + 1] if counts[name] == 1]


def _outermost(names: Sequence[str]) -> list[str]:
    """Return the names that are not inside another one.

    Examples
    --------
    >>> _outermost(["stem.conv", "stem", "body.conv"])
    ['stem', 'body.conv']
    """
    return [name for name in names if not any(name.startswith(f"{outer}.") for outer in names)]


def _has_one_row_per_input(name: str, one: Trace, two: Trace) -> bool:
    """Return whether a submodule returns a tensor of real numbers with one row per input, or a tuple of it and None."""
    if name not in one.outputs or name not in two.outputs:
        return False
    sample, pair = one.outputs[name], two.outputs[name]
    alone = not isinstance(sample, tuple) or all(each is None for each in sample[1:])
    shapes = tuple(tensor_of(sample).shape), tuple(tensor_of(pair).shape)
    real = tensor_of(sample).is_floating_point()
    return alone and real and len(shapes[0]) > 0 and shapes[0][0] == 1 and shapes[1] == (2, *shapes[0][1:])


def _joined(runner: Runner, names: Sequence[str], rows: Players, size: int) -> dict[str, Any]:
    """Return the outputs of some submodules for all rows."""
    blocks = list(clean_outputs(runner, names, rows, size))
    return {name: import_torch().cat([block[name] for block in blocks]) for name in names}


def _replays(replay: Replay, runner: Runner, rows: Players, expected: Any) -> bool:
    """Return whether a network with replayed outputs has the expected output."""
    try:
        found = runner.run(rows, forwards=replay.forwards(slice(0, len(rows)), 1))
    except RuntimeError:  # such as an operation in place on an output that is not kept
        return False
    return found.shape == expected.shape and bool(import_torch().allclose(found, expected, rtol=1e-3, atol=1e-5))
