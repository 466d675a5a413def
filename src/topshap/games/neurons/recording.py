"""Forward passes without ablation: the submodules that they call, and the outputs of some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topshap.games.neurons.running import tensor_of, with_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from topshap.games.neurons.running import Runner


@dataclass(frozen=True)
class Trace:
    """What one forward pass called.

    Attributes
    ----------
    names
        The names of the submodules, in the order in which their calls ended.
    outputs
        The output of the last call of each submodule.
    sizes
        The number of bytes of the largest output of each submodule.
    """

    names: list[str]
    outputs: dict[str, Any]
    sizes: dict[str, int]


def trace(runner: Runner, rows: Sequence[int]) -> Trace:
    """Run a module on some rows, and record the submodules that are called."""
    names: list[str] = []
    outputs: dict[str, Any] = {}
    sizes: dict[str, int] = {}

    def recorder(name: str) -> Callable[[Any], None]:
        def record(output: Any) -> None:
            names.append(name)
            tensor = tensor_of(output)
            if tensor is not None:  # a copy, since later operations may be in place
                outputs[name] = with_tensor(output, tensor.clone())
                sizes[name] = max(sizes.get(name, 1), tensor.nbytes)

        return record

    runner.run(list(rows), on_output={name: recorder(name) for name in runner.modules})
    return Trace(names, outputs, sizes)


def clean_outputs(runner: Runner, names: Iterable[str], rows: Any, size: int) -> Iterator[dict[str, Any]]:
    """Yield the outputs of some submodules for at most `size` rows at a time, by name."""

    def recorder(name: str, found: dict[str, Any]) -> Callable[[Any], None]:
        return lambda output: found.update({name: tensor_of(output).clone()})

    for start in range(0, len(rows), size):
        found: dict[str, Any] = {}
        runner.run(rows[start : start + size], on_output={name: recorder(name, found) for name in names})
        yield found
