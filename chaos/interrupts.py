"""Attacks with SIGINT: a run ends with a result or a KeyboardInterrupt, and no value that was paid for is lost."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from chaos.children import STARTED, Child
from chaos.games import Log, Setup, check_store, summary

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np


def interrupts(rng: np.random.Generator, folder: Path) -> None:
    """Interrupt a run once or twice, then resume it."""
    setup, log = Setup.draw(rng), Log(folder / "log")
    presses = int(rng.integers(1, 3))
    on_interrupt = str(rng.choice(["return", "raise"]))
    arguments: dict[str, Any] = {"setup": vars(setup), "on_interrupt": on_interrupt}
    with Child("chaos.interrupts:run_child", folder, **arguments) as child:
        child.wait_for_start()
        for _ in range(presses):
            time.sleep(rng.exponential(0.3))
            with suppress(ProcessLookupError):
                child.process.send_signal(signal.SIGINT)
        code = child.wait()
        interrupted = "KeyboardInterrupt" in child.out + child.err
        finished = setup.expected() in child.out or " interrupted " in child.out
        # Python ends by the signal if it arrives while the interpreter shuts down, after the run.
        ended = code == 0 or (code == -signal.SIGINT and finished)
        assert ended or interrupted, f"exit code {code} of {setup}:\n{child.out}{child.err[-3000:]}"
        assert finished or interrupted, f"neither a result nor an interrupt of {setup}:\n{child.out}"
    paid = set(log.read("end"))
    if not paid:
        return
    stored = check_store(folder / "run.db") if (folder / "run.db").exists() else set()
    lost = len(paid - stored)
    # The interrupt may hit between the last line of the game and its return.
    assert lost <= presses * setup.in_flight, f"{lost} of {len(paid)} values lost after Ctrl-C by {setup}"
    assert summary(setup.run(folder)) == setup.expected(), f"another result of {setup} after Ctrl-C"


def run_child(folder: Path, setup: dict[str, Any], on_interrupt: str) -> None:
    """Run a setup in a child process and print the result or the interrupt."""
    made = Setup(**setup)
    options = {} if made.asynchronous else {"on_interrupt": on_interrupt}
    try:
        print(STARTED, flush=True)
        print(summary(made.run(folder, **options)), flush=True)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", flush=True)
