"""Start the server of `topshap_bench.prompts.server` as its own process."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Served(NamedTuple):
    """A running server."""

    base_url: str
    """The address of the API, up to ``/v1``."""

    def stats(self) -> dict[str, Any]:
        """Return the counts of requests, answers, tokens and faults so far."""
        statement: dict[str, Any] = self._ask("/stats")
        return statement

    def start_anew(self, **trouble: object) -> Served:
        """Replace the faults, the fields of `topshap_bench.prompts.faults.Trouble`, and start counting anew."""
        self._ask("/trouble", trouble)
        return self

    def _ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        address = self.base_url.removesuffix("/v1") + path
        with urllib.request.urlopen(address, data, timeout=30.0) as response:  # noqa: S310 - an address of this machine
            return json.loads(response.read())


@contextmanager
def served(**options: object) -> Iterator[Served]:
    """Start a server, yield its address, and end it.

    Parameters
    ----------
    options
        The fields of `topshap_bench.prompts.faults.Trouble`, and ``lifetime`` in seconds.

    Examples
    --------
    >>> with served(lifetime=60) as server:
    ...     server.stats()["requests"]
    0
    """
    arguments = []
    for name, value in options.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        arguments += [f"--{name.replace('_', '-')}", *map(str, values)]
    command = [sys.executable, "-m", "topshap_bench.prompts.server", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("The server has no pipes.")
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"The server did not start: {' '.join(command)}")
        try:
            yield Served(json.loads(line)["base_url"])
        finally:
            process.stdin.close()
            process.wait(10.0)
