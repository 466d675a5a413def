"""Child processes: a function of a module of this package, with limits of time and memory, in a group of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import topshap

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

ROOT = Path(__file__).parents[1]
STARTED = "started"
"""The line that a child prints when it is about to begin its work."""
PATIENCE = 60.0
"""The time in seconds after which a child is said to hang. A child takes a few seconds on an idle machine."""
GIBIBYTE = 2**30


class Child:
    """A child process that calls a function with a folder and with arguments that JSON can hold.

    The function is named as in ``chaos.games:run_child``.

    Its output goes to files, since workers that outlive it would keep pipes open. At the end of the block, the process
    and all processes that it has started are killed.
    """

    def __init__(self, function: str, folder: Path, *, memory: int | None = None, **arguments: Any) -> None:
        number = len(list(folder.glob("child-*.out")))
        self._out, self._err = (folder / f"child-{number}.{kind}" for kind in ("out", "err"))
        paths = [str(ROOT), str(Path(topshap.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [
            sys.executable,
            "-m",
            "chaos.children",
            function,
            str(folder),
            json.dumps(arguments),
            str(memory or 0),
        ]
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(group=True)

    @property
    def out(self) -> str:
        """The standard output so far."""
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        """The standard error so far."""
        return self._err.read_text(errors="replace")

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds or the process has ended."""
        end = time.monotonic() + PATIENCE
        while not condition() and self.process.poll() is None:
            assert time.monotonic() < end, f"no progress in {PATIENCE:g} s:\n{self.err[-2000:]}"
            time.sleep(0.005)

    def wait_for_start(self) -> None:
        """Wait until the child has begun its work."""
        self.wait_until(lambda: STARTED in self.out)

    def kill(self, *, group: bool) -> None:
        """Kill the process with SIGKILL, alone or with the processes that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL) if group else self.process.kill()
        self.process.wait()

    def wait(self) -> int:
        """Return the exit code; a process that does not end is a finding."""
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"a hang: no end in {PATIENCE:g} s.\n{self.out[-500:]}{self.err[-2000:]}") from None

    def check(self) -> str:
        """Return the output of a process that has to succeed."""
        code = self.wait()
        assert code == 0, f"exit code {code}:\n{self.err[-3000:]}"
        return self.out


def run(function: str, folder: Path, *, memory: int | None = None, **arguments: Any) -> str:
    """Call a function in a child process and return what it prints; its failure or a hang is a finding."""
    with Child(function, folder, memory=memory, **arguments) as child:
        return child.check()


def _main() -> None:
    function, folder, arguments, memory = sys.argv[1:]
    if int(memory):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    module, _, name = function.partition(":")
    getattr(import_module(module), name)(Path(folder), **json.loads(arguments))


if __name__ == "__main__":
    _main()
